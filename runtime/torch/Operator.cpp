// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The torch operators. taylor::attention is what one calls; taylor::forward and taylor::backward are the
// kernels that autograd and torch.compile see. README.md says why each registration is there.
#include "runtime/Error.h"
#include "runtime/torch/Attention.h"
#include "runtime/torch/Call.h"
#include "runtime/torch/Results.h"
#include <ATen/FuncTorchTLS.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/library.h>

namespace taylor {

bool isInBackward() { return torch::autograd::get_current_graph_task_id() != -1; }

namespace {

using runtime::Manifest;
using runtime::Role;
using runtime::TensorInfo;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Offset = std::optional<int64_t>;
using Text = std::string_view;

using Forward = Tensors(at::TensorList, Text, Text, Offset);
using Step = Tensors(at::TensorList, at::TensorList, Text, Text, Offset);
using Backward = Tensors(at::TensorList, at::TensorList, at::TensorList, at::TensorList, Text, Text, Offset,
                         at::IntArrayRef);

template <typename Signature> auto findOperator(const char *name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}
const auto &attentionOperator() {
  static auto op = findOperator<Forward>("taylor::attention");
  return op;
}
const auto &forwardOperator() {
  static auto op = findOperator<Forward>("taylor::forward");
  return op;
}
const auto &stepOperator() {
  static auto op = findOperator<Step>("taylor::step");
  return op;
}
const auto &backwardOperator() {
  static auto op = findOperator<Backward>("taylor::backward");
  return op;
}

/// The inputs, and in `all`, where it is empty until then, zeros after them in place of optional ones that
/// the call leaves out at the end: a sequence without states of earlier calls begins here.
at::TensorList complete(Program &program, at::TensorList inputs, Tensors &all) {
  if (!program.takesOptional)
    return inputs;
  const Manifest &manifest = manifestFor(program, inputs);
  if (inputs.size() == manifest.inputs.size())
    return inputs;
  all.assign(inputs.begin(), inputs.end());
  appendAbsent(manifest, all);
  return all;
}

// ---- Processor, interpreter and GPU: where the tensors are, and --device=ptx, say which ----

Tensors attentionRun(at::TensorList inputs, Text spec, Text options, Offset offset) {
  return checked([&] {
    auto program = Program::find(spec, options);
    Tensors all;
    return runForward(*program, complete(*program, inputs, all), offset, /*save=*/false);
  });
}

Tensors stepRun(at::TensorList inputs, at::TensorList states, Text spec, Text options, Offset offset) {
  return checked([&] { return runStep(*Program::find(spec, options), inputs, states, offset); });
}

Tensors forwardRun(at::TensorList inputs, Text spec, Text options, Offset offset) {
  return checked([&] { return runForward(*Program::find(spec, options), inputs, offset, /*save=*/true); });
}

Tensors backwardRun(at::TensorList inputs, at::TensorList outputs, at::TensorList saved,
                    at::TensorList cotangents, Text spec, Text options, Offset offset,
                    at::IntArrayRef wanted) {
  return checked([&] {
    return runBackward(*Program::find(spec, options), inputs, outputs, saved, cotangents, offset, wanted);
  });
}

// ---- Meta: shapes, strides and dtypes of the results, for tensors without data and for traced sizes ----

Tensors describeForward(at::TensorList inputs, Text spec, Text options, bool save) {
  return checked([&] {
    auto program = Program::find(spec, options);
    const Manifest &manifest = manifestFor(*program, inputs);
    Tensors results;
    for (const TensorInfo &info : manifest.outputs)
      results.push_back(describeResult(manifest, info, inputs,
                                       program->dtypeInput < 0 ? nullptr : &inputs[program->dtypeInput]));
    for (size_t i = 0; program->hasStates && i < inputs.size(); ++i)
      if (int behind = manifest.finalOf(int(i)); behind >= 0)
        results[size_t(behind)] = describeState(manifest.outputs[size_t(behind)], inputs[i]);
    for (const TensorInfo &info : manifest.saved)
      if (save)
        results.push_back(describeResult(manifest, info, inputs, nullptr));
    return results;
  });
}

Tensors attentionMeta(at::TensorList inputs, Text spec, Text options, Offset) {
  return describeForward(inputs, spec, options, /*save=*/false);
}

Tensors stepMeta(at::TensorList inputs, at::TensorList states, Text spec, Text options, Offset offset) {
  Tensors all(inputs.begin(), inputs.end());
  all.insert(all.end(), states.begin(), states.end());
  Tensors results = attentionMeta(all, spec, options, offset);
  results.resize(results.size() - std::min(states.size(), results.size())); // final states come last
  return results;
}

Tensors forwardMeta(at::TensorList inputs, Text spec, Text options, Offset) {
  return describeForward(inputs, spec, options, /*save=*/true);
}

Tensors backwardMeta(at::TensorList inputs, at::TensorList, at::TensorList, at::TensorList, Text spec,
                     Text options, Offset, at::IntArrayRef wanted) {
  return checked([&] {
    const Manifest &manifest = manifestFor(*Program::find(spec, options), inputs);
    Tensors results;
    for (int64_t i : wanted) {
      const TensorInfo &info = manifest.inputs[i];
      at::Tensor result = info.isState() ? describeState(info, inputs[i])
                                         : describeResult(manifest, info, inputs, &inputs[i]);
      results.push_back(result.to(inputs[i].scalar_type()));
    }
    return results;
  });
}

// ---- Autograd ----

bool needsGradient(at::TensorList tensors) {
  if (!at::GradMode::is_enabled())
    return false;
  for (const at::Tensor &tensor : tensors)
    if (tensor.requires_grad())
      return true;
  return false;
}

/// Kernels have no forward-mode derivative: without a word, a tangent would be 0.
void refuseTangents(at::TensorList tensors) {
  for (const at::Tensor &tensor : tensors)
    TORCH_CHECK(
        !tensor.defined() || !tensor._fw_grad(0).defined(),
        "taylor: unsupported forward-mode derivative (torch.func.jvp, dual numbers); take the reverse "
        "mode (backward(), torch.autograd.grad)");
}

/// libtorch's own message is about C++ functions of autograd, which the caller has not written.
void refuseTransforms() {
  const auto &transforms = at::functorch::functorchTLSAccessor();
  if (!transforms)
    return;
  try {
    transforms->checkSupportsCppAutogradFunction();
  } catch (const c10::Error &) {
    TORCH_CHECK(false,
                "taylor: unsupported gradient inside torch.func (grad, vjp, jacrev); take backward() or "
                "torch.autograd.grad");
  }
}

class AttentionAutograd : public torch::autograd::Function<AttentionAutograd> {
public:
  /// `program` is that of `spec`, its identity, and `options`.
  static variable_list forward(AutogradContext *context, at::TensorList inputs, Program *program, Text spec,
                               Text options, Offset offset) {
    at::AutoDispatchBelowADInplaceOrView guard;
    auto [outputCount, readsOutputs] = checked([&] {
      const Manifest &manifest = manifestFor(*program, inputs);
      if (manifest.function("backward") < 0)
        runtime::fail("unsupported gradient of a kernel without a backward, as --forward-only and "
                      "--form=recurrent make it; call it under torch.no_grad(), or leave that option out");
      return std::make_pair(manifest.outputs.size(), backwardReads(manifest, Role::Output));
    });
    Tensors results = forwardOperator().call(inputs, spec, options, offset);
    variable_list outputs(results.begin(), results.begin() + outputCount);
    variable_list kept(inputs.begin(), inputs.end());
    if (readsOutputs)
      kept.insert(kept.end(), outputs.begin(), outputs.end());
    kept.insert(kept.end(), results.begin() + outputCount, results.end());
    context->save_for_backward(std::move(kept));
    context->saved_data["inputs"] = int64_t(inputs.size());
    context->saved_data["outputs"] = readsOutputs ? int64_t(outputCount) : int64_t(0);
    context->saved_data["spec"] = std::string(spec);
    context->saved_data["options"] = std::string(options);
    context->saved_data["offset"] = offset;
    return outputs;
  }

  static variable_list backward(AutogradContext *context, variable_list cotangents) {
    variable_list kept = context->get_saved_variables();
    auto inputs = size_t(context->saved_data["inputs"].toInt());
    auto outputs = size_t(context->saved_data["outputs"].toInt());
    std::vector<int64_t> wanted;
    for (size_t i = 0; i < inputs; ++i)
      if (context->needs_input_grad(i))
        wanted.push_back(int64_t(i));
    at::TensorList all(kept);
    Tensors gradients = backwardOperator().call(
        all.slice(0, inputs), all.slice(inputs, outputs), all.slice(inputs + outputs), cotangents,
        context->saved_data["spec"].toStringView(), context->saved_data["options"].toStringView(),
        context->saved_data["offset"].toOptional<int64_t>(), wanted);
    variable_list results(inputs + 4); // program, spec, options and offset have none
    for (size_t i = 0; i < wanted.size(); ++i)
      results[size_t(wanted[i])] = gradients[i];
    return results;
  }
};

Tensors attentionAutograd(at::TensorList inputs, Text spec, Text options, Offset offset) {
  refuseTangents(inputs);
  if (needsGradient(inputs)) {
    refuseTransforms();
    auto program = checked([&] { return Program::find(spec, options); });
    Tensors all;
    at::TensorList completed = checked([&] { return complete(*program, inputs, all); });
    // By its text and not by its path: the file may change before the backward, traced or not.
    return AttentionAutograd::apply(completed, program.get(), Text(program->identity()), options, offset);
  }
  at::AutoDispatchBelowADInplaceOrView guard;
  return attentionOperator().call(inputs, spec, options, offset);
}

/// New tokens go on from what lies in memory, which has no derivative.
Tensors stepAutograd(at::TensorList inputs, at::TensorList states, Text spec, Text options, Offset offset) {
  refuseTangents(inputs);
  TORCH_CHECK(!needsGradient(inputs) && !needsGradient(states),
              "taylor: unsupported gradient of taylor::step; call it under torch.no_grad(), or "
              "taylor::attention with --states, which is differentiable");
  at::AutoDispatchBelowADInplaceOrView guard;
  return stepOperator().call(inputs, states, spec, options, offset);
}

/// The backward's own derivative: refused, but only when somebody asks for it.
class BackwardFunction : public torch::autograd::Function<BackwardFunction> {
public:
  static variable_list forward(AutogradContext *, at::TensorList differentiable,
                               const std::function<Tensors()> &run) {
    at::AutoDispatchBelowADInplaceOrView guard;
    return run();
  }
  static variable_list backward(AutogradContext *, variable_list) {
    TORCH_CHECK(
        false,
        "taylor: unsupported second derivative of taylor::attention; use eager code where one is needed "
        "(taylorc --emit=torch prints it)");
  }
};

Tensors backwardAutograd(at::TensorList inputs, at::TensorList outputs, at::TensorList saved,
                         at::TensorList cotangents, Text spec, Text options, Offset offset,
                         at::IntArrayRef wanted) {
  auto run = [&] {
    return backwardOperator().call(inputs, outputs, saved, cotangents, spec, options, offset, wanted);
  };
  Tensors differentiable(inputs.begin(), inputs.end());
  differentiable.insert(differentiable.end(), cotangents.begin(), cotangents.end());
  if (needsGradient(differentiable))
    return BackwardFunction::apply(at::TensorList(differentiable), std::function<Tensors()>(run));
  at::AutoDispatchBelowADInplaceOrView guard;
  return run();
}

// ---- Autocast: the kernel's dtype is autocast's, whatever the inputs came in ----

template <c10::DispatchKey key, c10::DeviceType device>
Tensors attentionAutocast(at::TensorList inputs, Text spec, Text options, Offset offset) {
  c10::impl::ExcludeDispatchKeyGuard guard(key);
  at::ScalarType dtype = at::autocast::get_autocast_dtype(device);
  auto program = checked([&] { return Program::find(spec, options); });
  const auto &infos = program->signature().inputs;
  Tensors cast(inputs.begin(), inputs.end());
  for (size_t i = 0; i < cast.size() && i < infos.size(); ++i)
    if (infos[i].source.kind != runtime::Source::Kind::Parameter && infos[i].dtype != TAYLOR_I32 &&
        !infos[i].isState())
      cast[i] = at::autocast::cached_cast(dtype, cast[i], device);
  return attentionOperator().call(cast, spec, options, offset);
}

// ---- torch.func.vmap ----

/// A specification has an axis for batches, which a mapped one can be joined with.
void refuseBatches(const c10::OperatorHandle &op, torch::jit::Stack *) {
  TORCH_CHECK(false, "taylor: unsupported torch.func.vmap (and is_grads_batched, jacrev) of ",
              op.schema().name(), "; join the mapped axis with the batch: x.flatten(0, 1)");
}

} // namespace

TORCH_LIBRARY(taylor, m) {
  m.def("attention(Tensor[] inputs, str spec, str options=\"\", int? offset=None) -> Tensor[]");
  m.def("step(Tensor[] inputs, Tensor(a!)[] states, str spec, str options, int? offset=None) -> Tensor[]");
  m.def("forward(Tensor[] inputs, str spec, str options, int? offset) -> Tensor[]");
  m.def("backward(Tensor[] inputs, Tensor[] outputs, Tensor[] saved, Tensor[] cotangents, str spec, str "
        "options, "
        "int? offset, int[] wanted) -> Tensor[]");
}

TORCH_LIBRARY_IMPL(taylor, CPU, m) {
  m.impl("step", stepRun);
  m.impl("attention", attentionRun);
  m.impl("forward", forwardRun);
  m.impl("backward", backwardRun);
}

TORCH_LIBRARY_IMPL(taylor, CUDA, m) {
  m.impl("step", stepRun);
  m.impl("attention", attentionRun);
  m.impl("forward", forwardRun);
  m.impl("backward", backwardRun);
}

TORCH_LIBRARY_IMPL(taylor, Meta, m) {
  m.impl("step", stepMeta);
  m.impl("attention", attentionMeta);
  m.impl("forward", forwardMeta);
  m.impl("backward", backwardMeta);
}

TORCH_LIBRARY_IMPL(taylor, Autograd, m) {
  m.impl("attention", attentionAutograd);
  m.impl("step", stepAutograd);
  m.impl("forward", torch::autograd::autogradNotImplementedFallback());
  m.impl("backward", backwardAutograd);
}

void refuseBatchesOfAll(torch::Library &m) {
  for (const char *name : {"attention", "step", "forward", "backward"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&refuseBatches>());
}

TORCH_LIBRARY_IMPL(taylor, FuncTorchBatched, m) { refuseBatchesOfAll(m); }

TORCH_LIBRARY_IMPL(taylor, Batched, m) { refuseBatchesOfAll(m); } // is_grads_batched

TORCH_LIBRARY_IMPL(taylor, AutocastCPU, m) {
  m.impl("attention", attentionAutocast<c10::DispatchKey::AutocastCPU, c10::DeviceType::CPU>);
}

TORCH_LIBRARY_IMPL(taylor, AutocastCUDA, m) {
  m.impl("attention", attentionAutocast<c10::DispatchKey::AutocastCUDA, c10::DeviceType::CUDA>);
}

// ---- C++ ----

Attention::Attention(const AttentionOptions &given) {
  TORCH_CHECK(given.headDim > 0, "taylor: expected a positive head size, but got ", given.headDim);
  TORCH_CHECK(given.valueDim >= 0, "taylor: expected a value size of at least 0, but got ", given.valueDim);
  // AttentionOptions names what a model sets; test/infra/options.py says which options have no field, and
  // why.
  auto add = [&](const std::string &words) { options += (options.empty() ? "" : " ") + words; };
  for (const auto &[name, value] : given.parameters)
    add("--set " + name + "=" + value);
  if (!given.form.empty())
    add("--form=" + given.form);
  if (!given.decode.empty())
    add("--decode=" + given.decode);
  if (given.forwardOnly)
    add("--forward-only");
  if (!given.mask.empty())
    add("--mask=" + given.mask);
  if (given.documents)
    add("--documents");
  if (given.device == TAYLOR_PTX)
    add("--device=ptx");
  checked([&] {
    spec = given.spec.ends_with(".so") ? given.spec : runtime::Specification::read(given.spec).text;
    TaylorDtype dtype = TAYLOR_F32;
    if (given.dtype == at::kBFloat16)
      dtype = TAYLOR_BF16;
    else if (given.dtype == at::kHalf)
      dtype = TAYLOR_F16;
    else if (given.dtype == at::kDouble)
      dtype = TAYLOR_F64;
    else if (given.dtype != at::kFloat)
      runtime::fail("expected dtype Float, BFloat16, Half or Double, but got ", c10::toString(given.dtype));
    std::string_view name = given.spec == spec ? std::string_view() : std::string_view(given.spec);
    auto found = Program::find(spec, options, name);
    int64_t valueDim = given.valueDim > 0 ? given.valueDim : given.headDim;
    KernelPlace place{given.device, given.device == TAYLOR_CUDA ? &targetOfGpu(0) : nullptr};
    const runtime::Artifact &artifact = found->kernel(dtype, found->dInput < 0 ? 0 : given.headDim,
                                                      found->eInput < 0 ? 0 : valueDim, place, name);
    description = std::make_shared<const Manifest>(artifact.manifest());
    spec = found->identity();
    program = std::move(found);
  });
}

std::vector<at::Tensor> Attention::callAll(const std::vector<at::Tensor> &inputs,
                                           std::optional<int64_t> offset) const {
  return attentionOperator().call(inputs, spec, options, offset);
}

std::vector<at::Tensor> Attention::step(const std::vector<at::Tensor> &inputs,
                                        const std::vector<at::Tensor> &states,
                                        std::optional<int64_t> offset) const {
  return stepRun(inputs, states, spec, options, offset);
}

std::vector<at::Tensor> Attention::decode(const std::vector<at::Tensor> &inputs,
                                          const std::vector<at::Tensor> &cache,
                                          const std::vector<at::Tensor> &states, int64_t tokens) const {
  return checked([&] { return runDecode(*Program::find(spec, options), inputs, cache, states, tokens); });
}

at::Tensor Attention::call(const std::vector<at::Tensor> &inputs, std::optional<int64_t> offset) const {
  return callAll(inputs, offset)[0];
}

} // namespace taylor
