// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The forms of one specification next to each other, and what the compiler chooses.
#include "runtime/Forms.h"
#include "runtime/Cpu.h"
#include "runtime/Error.h"
#include "runtime/lab/bench/Commands.h"
#include "runtime/lab/bench/Rows.h"
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace taylor::bench {
namespace {

using Json = nlohmann::json;

/// A function's forms on the processor.
const runtime::TargetFunction &codeOf(const Manifest &manifest, const std::string &function) {
  return manifest.targets.front().functions[size_t(manifest.function(function))];
}

/// The request's specification in a form.
Attention compileForm(Request request, const std::string &form) {
  request.form = form;
  return Attention(request.attention());
}

Contender makeContender(const std::string &form, const Attention &attention) {
  return {form, [attention](const std::vector<at::Tensor> &tensors) { return attention.call(tensors); }};
}

/// All forms of one order, or of the specification as it is.
Json benchOrder(const FormsOptions &options, const Request &request, const Json &order) {
  Request automatic = request;
  automatic.form = "auto";
  const Attention attention(automatic.attention());
  const Manifest &manifest = attention.manifest();
  std::vector<at::Tensor> inputs = makeInputs(manifest, request);
  std::vector<Attention> forms;
  std::vector<Contender> contenders;
  for (const std::string &form : options.forms) {
    forms.push_back(compileForm(request, form));
    contenders.push_back(makeContender(form, forms.back()));
  }
  for (const std::string &name : options.opponents)
    contenders.push_back(makeOpponent(name, manifest, request));
  std::vector<Runner> runners = makeRunners(contenders, inputs, request.clock == "cpu");

  Json rows = Json::array();
  for (const std::string &direction : options.directions) {
    Rounds rounds = measure(request, direction, runners);
    for (size_t i = 0; i < options.forms.size(); ++i) {
      Json row = describeRow(request, direction, forms[i].manifest(), rounds, contenders, i);
      row["form"] = options.forms[i];
      row["order"] = order;
      if (options.forms[i] == "auto")
        row["chosen"] = {{"forward", chosenForm(manifest, "forward", request.shape).name},
                         {"backward", chosenForm(manifest, "backward", request.shape).name}};
      printRow(row);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// Tokens of one head from which a function's second form should cost less than the first; nothing where that
/// is above `most`.
std::optional<int64_t> findCrossover(const Manifest &manifest, const std::string &function, int64_t most) {
  const runtime::FormCode &first = codeOf(manifest, function).forms.front();
  for (Shape shape{.t = 64, .u = 64}; shape.t <= most; shape.t += 32, shape.u += 32)
    if (&chosenForm(manifest, function, shape) != &first)
      return shape.t;
  return std::nullopt;
}

/// The factor of the chunked form's cost that makes the costs of both forms as far apart as their times.
Json calibrate(const Request &request, const Manifest &manifest, const std::string &direction,
               int64_t tokens) {
  Request sized = request;
  sized.shape.t = sized.shape.u = tokens;
  std::vector<at::Tensor> inputs = makeInputs(manifest, sized);
  std::vector<Contender> contenders;
  for (const char *form : {"parallel", "chunked"})
    contenders.push_back(makeContender(form, compileForm(sized, form)));
  std::vector<Runner> runners = makeRunners(contenders, inputs, /*cpuClock=*/false);
  Rounds rounds = measure(sized, direction, runners);
  auto least = [&](size_t i) { return *std::ranges::min_element(rounds.ms[i]); };

  const runtime::TargetFunction &code = codeOf(manifest, direction);
  auto cost = [&](size_t i) { return runtime::costOf(code.forms[i], manifest, sized.shape.dims()); };
  double expected = cost(1) / cost(0), measured = least(1) / least(0);
  printf("%-8s %s d %ld T %ld: chunked over parallel %.3f, expected %.3f\n", direction.c_str(),
         request.settings.back().c_str(), long(sized.shape.d), long(tokens), measured, expected);
  fflush(stdout);
  return {{"function", direction},
          {"features", code.forms[1].state.features},
          {"channels", code.forms[1].state.channels},
          {"factor", round3(measured / expected)}};
}

} // namespace

Json calibrateForms(const Request &request) {
  constexpr int64_t mostTokens = 8192;
  useThreads(request);
  Json samples = Json::array();
  for (int64_t order : {1, 2, 3})
    for (int64_t channels : {16, 64}) {
      Request one = request;
      one.form = "auto";
      one.settings.push_back("order=" + std::to_string(order));
      one.shape.d = one.shape.e = channels;
      const Attention automatic(one.attention());
      for (const char *direction : {"forward", "backward"})
        if (std::optional<int64_t> tokens = findCrossover(automatic.manifest(), direction, mostTokens))
          samples.push_back(calibrate(one, automatic.manifest(), direction, *tokens));
    }
  if (samples.empty())
    runtime::fail(
        "expected a specification with a chunked form for orders 1 to 3 of its parameter `order`, but '",
        request.spec, "' has none");
  return {{"cpu", runtime::cpuName()}, {"dtype", request.dtype}, {"samples", samples}};
}

Json benchForms(const FormsOptions &options, const Request &request) {
  useThreads(request);
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
