// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The forms of one specification beside each other, and what the compiler chooses.
#include "runtime/Forms.h"
#include "runtime/Cpu.h"
#include "runtime/Error.h"
#include "runtime/bench/Commands.h"
#include "runtime/bench/Rows.h"
#include <ATen/Parallel.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace taylor::bench {
namespace {

using Json = nlohmann::json;

/// The form that a function takes on a processor for these sizes.
std::string chosenForm(const Manifest &manifest, const char *function, const Shape &shape) {
  runtime::Dims dims = {shape.b, shape.h, shape.g, shape.t, shape.u, shape.u - shape.t};
  auto index = size_t(manifest.function(function));
  const runtime::TargetInfo &target = manifest.targets.front();
  const runtime::TargetFunction &code = target.functions[index];
  return code.forms[size_t(runtime::chooseForm(code, manifest, dims, "", function, target.name))].name;
}

/// All forms of one order, or of the specification as it is.
Json benchOrder(const FormsOptions &options, const Request &request, const Json &order) {
  std::vector<Attention> attentions;
  for (const std::string &form : options.forms) {
    Request compiled = request;
    compiled.form = form;
    attentions.emplace_back(compiled.attention());
  }
  const Manifest &manifest = attentions.front().manifest();
  std::vector<at::Tensor> inputs = makeInputs(manifest, request);
  std::vector<Contender> contenders;
  for (size_t i = 0; i < attentions.size(); ++i)
    contenders.push_back(
        {options.forms[i], [attention = attentions[i]](const std::vector<at::Tensor> &tensors) {
           return attention.call(tensors);
         }});
  for (const std::string &name : options.opponents)
    contenders.push_back(makeOpponent(name, manifest, request));
  std::vector<Runner> runners;
  for (const Contender &contender : contenders)
    runners.emplace_back(contender, inputs, request.clock == "cpu");

  Json rows = Json::array();
  for (const std::string &direction : options.directions) {
    Rounds rounds = measure(request, direction, runners);
    for (size_t i = 0; i < attentions.size(); ++i) {
      Json row = describeRow(request, direction, manifest.mask, rounds, contenders, i);
      row["form"] = options.forms[i];
      row["order"] = order;
      if (options.forms[i] == "auto")
        row["chosen"] = {{"forward", chosenForm(attentions[i].manifest(), "forward", request.shape)},
                         {"backward", chosenForm(attentions[i].manifest(), "backward", request.shape)}};
      printRow(row);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// Tokens of one head from which the second form of a function should cost less than the first; nothing where
/// that is above `most`.
std::optional<int64_t> findCrossover(const Manifest &manifest, int function, int64_t most) {
  const runtime::TargetInfo &target = manifest.targets.front();
  const runtime::TargetFunction &code = target.functions[size_t(function)];
  if (code.forms.size() < 2)
    return std::nullopt;
  for (int64_t tokens = 64; tokens <= most; tokens += 32)
    if (runtime::chooseForm(code, manifest, {1, 1, 1, tokens, tokens, 0}, "", "", target.name) > 0)
      return tokens;
  return std::nullopt;
}

/// The factor of the chunked form's cost that makes the costs of both forms as far apart as their times.
Json calibrate(const Request &request, const Attention &automatic, const std::string &direction,
               int64_t tokens) {
  Request sized = request;
  sized.shape.t = sized.shape.u = tokens;
  std::vector<at::Tensor> inputs = makeInputs(automatic.manifest(), sized);
  std::vector<Contender> contenders;
  for (const char *form : {"parallel", "chunked"}) {
    sized.form = form;
    contenders.push_back(
        {form, [attention = Attention(sized.attention())](const std::vector<at::Tensor> &tensors) {
           return attention.call(tensors);
         }});
  }
  std::vector<Runner> runners;
  for (const Contender &contender : contenders)
    runners.emplace_back(contender, inputs, /*cpuClock=*/false);
  Rounds rounds = measure(sized, direction, runners);
  auto least = [&](size_t i) { return *std::ranges::min_element(rounds.ms[i]); };

  const Manifest &manifest = automatic.manifest();
  const runtime::TargetFunction &code =
      manifest.targets.front().functions[size_t(manifest.function(direction))];
  const Shape &s = sized.shape;
  runtime::Dims dims = {s.b, s.h, s.g, s.t, s.u, 0};
  double expected =
      runtime::costOf(code.forms[1], manifest, dims) / runtime::costOf(code.forms[0], manifest, dims);
  double measured = least(1) / least(0);
  printf("%-8s order %s d %ld T %ld: chunked over parallel %.3f, expected %.3f\n", direction.c_str(),
         request.settings.back().c_str() + 6, long(s.d), long(tokens), measured, expected);
  fflush(stdout);
  return {{"function", direction},
          {"features", code.forms[1].features},
          {"channels", code.forms[1].channels},
          {"factor", round3(measured / expected)}};
}

} // namespace

Json calibrateForms(const Request &request) {
  constexpr int64_t mostTokens = 8192;
  if (request.threads > 0)
    at::set_num_threads(int(request.threads));
  Json samples = Json::array();
  for (int64_t order : {1, 2, 3})
    for (int64_t channels : {16, 64}) {
      Request one = request;
      one.form = "auto";
      one.settings.push_back("order=" + std::to_string(order));
      one.shape.d = one.shape.e = channels;
      Attention automatic(one.attention());
      for (const char *direction : {"forward", "backward"})
        if (std::optional<int64_t> tokens =
                findCrossover(automatic.manifest(), automatic.manifest().function(direction), mostTokens))
          samples.push_back(calibrate(one, automatic, direction, *tokens));
    }
  if (samples.empty())
    runtime::fail(
        "expected a specification with a chunked form for orders 1 to 3 of its parameter `order`, but '",
        request.spec, "' has none");
  return {{"cpu", runtime::cpuName()}, {"dtype", request.dtype}, {"samples", samples}};
}

Json benchForms(const FormsOptions &options, const Request &request) {
  if (request.threads > 0)
    at::set_num_threads(int(request.threads));
  if (options.orders.empty())
    return benchOrder(options, request, nullptr);
  Json rows = Json::array();
  for (int64_t order : options.orders) {
    Request one = request;
    one.settings.push_back("order=" + std::to_string(order));
    for (Json &row : benchOrder(options, one, order))
      rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace taylor::bench
