// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/lab/bench/Opponents.h"
#include "dialect/AxisRole.h"
#include "runtime/Error.h"
#include "runtime/Process.h"
#include <ATen/ops/scaled_dot_product_attention.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/jit.h>

namespace taylor::bench {
namespace {

using runtime::fail;

/// Index of the first input with exactly these axes; throws.
size_t inputWithAxes(const Manifest &manifest, std::initializer_list<AxisRole> axes) {
  for (size_t i = 0; i < manifest.inputs.size(); ++i) {
    const auto &have = manifest.inputs[i].axes;
    if (std::equal(have.begin(), have.end(), axes.begin(), axes.end(),
                   [](const TensorAxis &a, AxisRole b) { return a.name == b; }))
      return i;
  }
  std::string text;
  for (AxisRole axis : axes)
    text += (text.empty() ? "" : ", ") + std::string(nameOf(axis));
  fail("unsupported opponent 'sdpa': the specification has no input [", text, "]");
}

Contender makeSdpa(const Manifest &manifest, const Request &request) {
  using enum AxisRole;
  size_t q = inputWithAxes(manifest, {Batch, Head, Query, Channel});
  size_t k = inputWithAxes(manifest, {Batch, KeyHead, Key, Channel});
  size_t v = inputWithAxes(manifest, {Batch, KeyHead, Key, ValueChannel});
  bool causal = manifest.mask != "bidirectional", grouped = request.shape.g != request.shape.h;
  // Torch aligns a causal mask with the first key, we with the last.
  if (causal && request.shape.t != request.shape.u)
    fail("unsupported opponent 'sdpa' with a causal mask and t = ", request.shape.t,
         ", u = ", request.shape.u, ": its mask is another one");
  return {"sdpa",
          [=](const std::vector<at::Tensor> &inputs) {
            return at::scaled_dot_product_attention(inputs[q], inputs[k], inputs[v], {}, 0.0, causal, {},
                                                    grouped);
          },
          /*isOurs=*/false};
}

Contender makeEager(const Request &request) {
  if (request.spec.ends_with(".so"))
    fail("unsupported opponent 'eager' for the artifact '", request.spec,
         "': give its specification instead");
  std::vector<std::string> arguments = compilerCommand(request);
  arguments.push_back("--emit=torch");
  runtime::ProcessResult result = runtime::runProcess(arguments, 60, [] {});
  if (result.exitCode != 0)
    fail("taylorc could not print '", request.spec, "' as PyTorch code\n", result.errors);
  std::shared_ptr<torch::jit::CompilationUnit> unit = torch::jit::compile(result.output);
  auto functions = unit->get_functions();
  if (functions.empty())
    fail("expected a function in the PyTorch code of '", request.spec, "', but got none");
  torch::jit::Function *function = functions.back(); // helpers come first
  return {"eager",
          [unit, function](const std::vector<at::Tensor> &inputs) {
            std::vector<c10::IValue> stack(inputs.begin(), inputs.end());
            c10::IValue value = (*function)(std::move(stack));
            return value.isTuple() ? value.toTupleRef().elements()[0].toTensor() : value.toTensor();
          },
          /*isOurs=*/false};
}

/// "q: f32 [b, h, t, d = 64]"
std::string describe(const runtime::TensorInfo &info) {
  std::vector<std::string> axes;
  for (const TensorAxis &axis : info.axes)
    axes.push_back(axis.name + (axis.isChannel() ? " = " + std::to_string(axis.size) : ""));
  return info.name + ": " + runtime::dtypeName(info.dtype) + " [" + runtime::join(axes, ", ") + "]";
}

/// Throws unless both artifacts take the same tensors in the same order.
void requireSameInputs(const Manifest &ours, const Manifest &theirs, const std::string &file) {
  for (size_t i = 0; i < std::max(ours.inputs.size(), theirs.inputs.size()); ++i) {
    std::string wanted = i < ours.inputs.size() ? "input " + describe(ours.inputs[i]) : "no more inputs";
    std::string given = i < theirs.inputs.size() ? "input " + describe(theirs.inputs[i]) : "no more inputs";
    if (wanted != given)
      fail("unsupported opponent '", file, "': expected ", wanted, ", but got ", given);
  }
}

} // namespace

Attention loadOpponent(const std::string &file, const Manifest &manifest, const Request &request) {
  AttentionOptions options = request.attention();
  options.spec = file;
  options.parameters.clear();
  options.mask.clear();
  options.form.clear();
  Attention attention(options);
  requireSameInputs(manifest, attention.manifest(), file);
  return attention;
}

Contender makeOpponent(const std::string &name, const Manifest &manifest, const Request &request) {
  if (name == "sdpa")
    return makeSdpa(manifest, request);
  if (name == "eager")
    return makeEager(request);
  if (name.ends_with(".so"))
    return {name, [attention = loadOpponent(name, manifest, request)](const std::vector<at::Tensor> &inputs) {
              return attention.call(inputs);
            }};
  fail("expected opponents sdpa, eager or FILE.so, but got '", name, "'");
}

} // namespace taylor::bench
