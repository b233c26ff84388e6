// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Forms.h"
#include "runtime/Error.h"
#include <algorithm>

namespace taylor::runtime {

double visiblePairs(const Dims &dims, bool causal) {
  // In doubles, where no size or offset overflows.
  double queries = double(dims[TAYLOR_DIM_T]), keys = double(dims[TAYLOR_DIM_U]),
         offset = double(dims[TAYLOR_DIM_OFFSET]);
  if (!causal)
    return queries * keys;
  // Queries below `first` see nothing, those from `full` on see all keys, query t between them offset + t
  // + 1.
  double first = std::clamp(-offset - 1, 0.0, queries);
  double full = std::clamp(keys - offset - 1, first, queries);
  return (full - first) * ((offset + first + 1) + (offset + full)) / 2 + (queries - full) * keys;
}

/// What is done for each pair, query and key, of a call.
static double sumOf(double pair, double query, double key, const Manifest &manifest, const Dims &dims) {
  double batch = double(dims[TAYLOR_DIM_B]), heads = batch * double(dims[TAYLOR_DIM_H]);
  return pair * heads * visiblePairs(dims, manifest.mask != "bidirectional") +
         query * heads * double(dims[TAYLOR_DIM_T]) +
         key * batch * double(dims[TAYLOR_DIM_G]) * double(dims[TAYLOR_DIM_U]);
}

double costOf(const FormCode &code, const Manifest &manifest, const Dims &dims) {
  const CallCost &cost = code.cost;
  return cost.call + sumOf(cost.pair, cost.query, cost.key, manifest, dims);
}

double operationsOf(const FormCode &code, const Manifest &manifest, const Dims &dims) {
  const FormOperations &operations = code.operations;
  return sumOf(operations.pair, operations.query, operations.key, manifest, dims);
}

int chooseForm(const TargetFunction &code, const Manifest &manifest, const Dims &dims, std::string_view form,
               const std::string &function, const std::string &target) {
  int best = 0;
  if (!form.empty()) {
    std::vector<std::string> names;
    for (const FormCode &one : code.forms)
      names.push_back(one.name);
    auto named = std::ranges::find(code.forms, form, &FormCode::name);
    if (named == code.forms.end())
      fail("expected a form of '", function, "' for target '", target, "' (", join(names, ", "),
           "), but got '", std::string(form), "': compile with --form=", std::string(form));
    return int(named - code.forms.begin());
  }
  if (code.forms.size() == 1)
    return 0;
  for (size_t i = 1; i < code.forms.size(); ++i)
    if (costOf(code.forms[i], manifest, dims) < costOf(code.forms[size_t(best)], manifest, dims))
      best = int(i);
  return best;
}

} // namespace taylor::runtime
