// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What torch's side judges of tensors before `bind` judges the call: each condition and its message once, for
// any interface of torch (CallOf.h says what such an interface has).
#ifndef TAYLOR_RUNTIME_TORCH_REQUIRED_H
#define TAYLOR_RUNTIME_TORCH_REQUIRED_H
#include "runtime/Error.h"
#include "runtime/Manifest.h"
#include "runtime/torch/Dtype.h"
#include <string>
#include <string_view>
#include <vector>

namespace taylor {

/// Throws runtime::Error: a call has `given` tensors, and not `required` of these inputs at least.
[[noreturn]] inline void failCount(const std::vector<runtime::TensorInfo> &inputs, size_t required,
                                   size_t given) {
  std::vector<std::string> names;
  for (const runtime::TensorInfo &info : inputs)
    names.push_back(info.name);
  std::string count = std::to_string(names.size());
  if (required < names.size())
    count = std::to_string(required) + " to " + count;
  runtime::fail("expected ", count, " inputs (", runtime::join(names, ", "), "), but got ", given);
}

/// Each throws runtime::Error where a tensor is not what is required; `name` is the tensor's in the manifest.
template <typename Torch> struct Required {
  using Tensor = typename Torch::Tensor;
  using Device = typename Torch::Device;
  using ScalarType = torch::headeronly::ScalarType;

  /// A tensor, and not none.
  static void given(const Tensor &tensor, std::string_view name) {
    if (!Torch::defined(tensor))
      runtime::fail("requires a tensor for '", name, "', but got none");
  }
  /// As many axes as the manifest says; `before` stands before the name.
  static void rank(const Tensor &tensor, const runtime::TensorInfo &info, std::string_view name,
                   std::string_view before = "") {
    if (Torch::rank(tensor) != int64_t(info.axes.size()))
      runtime::fail("expected rank ", info.axes.size(), " of ", before, "'", name, "', but got rank ",
                    Torch::rank(tensor));
  }
  static void device(const Tensor &tensor, std::string_view name, const Device &device) {
    if (Torch::device(tensor) != device)
      runtime::fail("expected device ", Torch::name(device), " of '", name, "', but got ",
                    Torch::name(Torch::device(tensor)));
  }
  /// `since` says in words since when it has to be that one.
  static void dtype(const Tensor &tensor, const std::string &name, ScalarType wanted,
                    std::string_view since = "") {
    if (ScalarType given = Torch::dtype(tensor); given != wanted)
      runtime::fail("expected dtype ", Torch::name(wanted), " of '", name, "'", since, ", but got ",
                    Torch::name(given), Torch::conversion(name, wanted));
  }
  /// One of the types in which inputs are stored.
  static TaylorDtype storageType(const Tensor &tensor, const std::string &name) {
    ScalarType given = Torch::dtype(tensor), single = scalarType(TAYLOR_F32);
    int32_t found = dtypeOf(given);
    if (found < 0 || found == TAYLOR_I32)
      runtime::fail("expected dtype ", Torch::name(single), ", ", Torch::name(scalarType(TAYLOR_BF16)), ", ",
                    Torch::name(scalarType(TAYLOR_F16)), " or ", Torch::name(scalarType(TAYLOR_F64)), " of '",
                    name, "', but got ", Torch::name(given), Torch::conversion(name, single));
    return TaylorDtype(found);
  }
};

} // namespace taylor

#endif
