// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/torch/Call.h"
#include "runtime/Call.h"
#include "runtime/Error.h"
#include "runtime/torch/Layout.h"
#include "runtime/torch/Parallel.h"
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/Device.h>

namespace taylor {
namespace {

using runtime::Artifact;
using runtime::Dims;
using runtime::fail;
using runtime::FunctionInfo;
using runtime::Manifest;
using runtime::Role;
using runtime::Slot;
using runtime::TensorInfo;

int32_t dtypeOf(const at::Tensor &tensor) {
  switch (tensor.scalar_type()) {
  case at::kFloat:
    return TAYLOR_F32;
  case at::kBFloat16:
    return TAYLOR_BF16;
  case at::kHalf:
    return TAYLOR_F16;
  case at::kDouble:
    return TAYLOR_F64;
  case at::kInt:
    return TAYLOR_I32;
  default:
    return -1;
  }
}

TaylorTensor describe(const at::Tensor &tensor) {
  return {tensor.data_ptr(), dtypeOf(tensor),       tensor.is_cpu() ? TAYLOR_CPU : TAYLOR_CUDA,
          tensor.dim(),      tensor.sizes().data(), tensor.strides().data()};
}

/// The tensor as the kernel takes it: itself, unless its last axis is a channel with a stride other than 1,
/// or it is a learned parameter in another floating dtype. (Sparse tensors do not come here: torch has no
/// kernel of ours for them.)
at::Tensor prepare(const at::Tensor &tensor, const TensorInfo &info, bool parameter) {
  if (!tensor.defined())
    fail("requires a tensor for '", info.name, "', but got none");
  if (!tensor.is_cpu())
    fail("expected device cpu of '", info.name, "', but got ", tensor.device().str());
  at::Tensor ready = tensor;
  at::ScalarType wanted = scalarType(info.dtype);
  if (parameter && ready.scalar_type() != wanted && ready.is_floating_point())
    ready = ready.to(wanted);
  int64_t rank = ready.dim();
  if (rank > 0 && rank == int64_t(info.axes.size()) && info.axes.back().isChannel() &&
      ready.size(rank - 1) > 1 && ready.stride(rank - 1) != 1)
    ready = ready.contiguous();
  if (ready.scalar_type() != wanted)
    fail("expected dtype ", c10::toString(wanted), " of '", info.name, "', but got ",
         c10::toString(ready.scalar_type()));
  return ready;
}

/// A new tensor of a manifest's description, laid out like `like` where the axes are as many.
at::Tensor allocate(const TensorInfo &info, const Dims &dims, const at::Tensor *like) {
  Extents<int64_t> sizes;
  for (const runtime::Axis &axis : info.axes)
    sizes.push_back(axis.isChannel() ? axis.size : dims[axis.dim]);
  at::TensorOptions options = at::TensorOptions().dtype(scalarType(info.dtype));
  if (!like)
    return at::empty(at::IntArrayRef(sizes.data(), sizes.size()), options);
  Extents<int64_t> strides = denseStrides(sizes, like->strides());
  return at::empty_strided(at::IntArrayRef(sizes.data(), sizes.size()),
                           at::IntArrayRef(strides.data(), strides.size()), options);
}

runtime::Executor executor() {
  int64_t threads = parallelThreads();
  return {.threads = threads, .parallelFor = threads > 1 ? &parallelFor : nullptr};
}

void run(const Artifact &artifact, int function, const TaylorTensor *tensors, int64_t count,
         const int64_t *offset) {
  runtime::BoundCall call;
  runtime::bind(artifact.manifest(), function, tensors, count, offset, TAYLOR_CPU, call);
  runtime::run(artifact, function, call, executor());
}

const int64_t *pointer(const std::optional<int64_t> &offset) { return offset ? &*offset : nullptr; }

int functionOf(const Artifact &artifact, const char *name) {
  int function = artifact.manifest().function(name);
  if (function < 0)
    fail("requires function '", name, "', which '", artifact.path(), "' lacks");
  return function;
}

/// Inputs as the kernel takes them, and the sizes that they imply.
struct Inputs {
  c10::SmallVector<at::Tensor, 8> tensors;
  Dims dims;

  Inputs(const Manifest &manifest, at::TensorList given, const int64_t *offset) {
    c10::SmallVector<TaylorTensor, 8> views;
    for (size_t i = 0; i < given.size(); ++i) {
      const TensorInfo &info = manifest.inputs[i];
      tensors.push_back(prepare(given[i], info, info.source.kind == runtime::Source::Kind::Parameter));
      views.push_back(describe(tensors.back()));
    }
    dims = runtime::inferDims(manifest.inputs, views.data(), int64_t(views.size()), offset, manifest.aligned);
  }
};

} // namespace

at::ScalarType scalarType(TaylorDtype dtype) {
  switch (dtype) {
  case TAYLOR_BF16:
    return at::kBFloat16;
  case TAYLOR_F16:
    return at::kHalf;
  case TAYLOR_F64:
    return at::kDouble;
  case TAYLOR_I32:
    return at::kInt;
  default:
    return at::kFloat;
  }
}

const Artifact &kernelFor(Program &program, at::TensorList inputs) {
  const Manifest &signature = program.signature();
  if (inputs.size() != signature.inputs.size()) {
    std::vector<std::string> names;
    for (const TensorInfo &info : signature.inputs)
      names.push_back(info.name);
    fail("expected ", names.size(), " inputs (", runtime::join(names, ", "), "), but got ", inputs.size());
  }
  for (int i : {program.dInput, program.eInput})
    if (i >= 0 && inputs[i].dim() != int64_t(signature.inputs[i].axes.size()))
      fail("expected rank ", signature.inputs[i].axes.size(), " of '", signature.inputs[i].name,
           "', but got rank ", inputs[i].dim());
  TaylorDtype dtype = signature.dtype;
  if (program.dtypeInput >= 0) {
    const at::Tensor &input = inputs[program.dtypeInput];
    int32_t found = dtypeOf(input);
    if (found < 0 || found == TAYLOR_I32)
      fail("expected dtype Float, BFloat16, Half or Double of '", signature.inputs[program.dtypeInput].name,
           "', but got ", c10::toString(input.scalar_type()));
    dtype = TaylorDtype(found);
  }
  // The axis may stand anywhere; sizes may be traced symbols, which a kernel fixes.
  auto sizeOf = [&](int i, const char *axis) -> int64_t {
    if (i < 0)
      return 0;
    const auto &axes = signature.inputs[i].axes;
    for (size_t j = 0; j < axes.size(); ++j)
      if (axes[j].name == axis)
        return inputs[i].sym_size(int64_t(j)).guard_int(__FILE__, __LINE__);
    return 0;
  };
  return program.kernel(dtype, sizeOf(program.dInput, "d"), sizeOf(program.eInput, "e"));
}

bool backwardReads(const Manifest &manifest, Role role) {
  int function = manifest.function("backward");
  if (function >= 0)
    for (const Slot &slot : manifest.functions[function].slots)
      if (slot.role == role)
        return true;
  return false;
}

Tensors runForward(Program &program, at::TensorList inputs, std::optional<int64_t> offset, bool save) {
  const Artifact &artifact = kernelFor(program, inputs);
  const Manifest &manifest = artifact.manifest();
  Inputs ready(manifest, inputs, pointer(offset));
  Tensors results;
  results.reserve(manifest.outputs.size() + (save ? manifest.saved.size() : 0));
  for (const TensorInfo &info : manifest.outputs)
    results.push_back(
        allocate(info, ready.dims, program.dtypeInput < 0 ? nullptr : &inputs[program.dtypeInput]));
  for (const TensorInfo &info : manifest.saved)
    if (save)
      results.push_back(allocate(info, ready.dims, nullptr));

  int function = functionOf(artifact, "forward");
  c10::SmallVector<TaylorTensor, 16> tensors;
  for (const Slot &slot : manifest.functions[function].slots) {
    if (slot.role == Role::Input)
      tensors.push_back(describe(ready.tensors[slot.index]));
    else if (slot.role == Role::Output)
      tensors.push_back(describe(results[slot.index]));
    else
      tensors.push_back(save ? describe(results[manifest.outputs.size() + slot.index]) : TaylorTensor{});
  }
  run(artifact, function, tensors.data(), int64_t(tensors.size()), pointer(offset));
  return results;
}

Tensors runBackward(Program &program, at::TensorList inputs, at::TensorList outputs, at::TensorList saved,
                    at::TensorList cotangents, std::optional<int64_t> offset, c10::IntArrayRef wanted) {
  const Artifact &artifact = kernelFor(program, inputs);
  const Manifest &manifest = artifact.manifest();
  if (cotangents.size() != manifest.outputs.size())
    fail("expected ", manifest.outputs.size(), " cotangents, but got ", cotangents.size());
  if ((backwardReads(manifest, Role::Output) && outputs.size() != manifest.outputs.size()) ||
      (backwardReads(manifest, Role::Saved) && saved.size() != manifest.saved.size()))
    fail("expected ", manifest.outputs.size(), " outputs and ", manifest.saved.size(),
         " saved tensors, but got ", outputs.size(), " and ", saved.size());
  Inputs ready(manifest, inputs, pointer(offset));

  c10::SmallVector<at::Tensor, 8> gradients(inputs.size());
  for (int64_t i : wanted) {
    if (i < 0 || i >= int64_t(inputs.size()) || !manifest.inputs[i].gradient)
      fail("unsupported gradient of ",
           i < 0 || i >= int64_t(inputs.size()) ? "input " + std::to_string(i)
                                                : "'" + manifest.inputs[i].name + "'",
           ": the specification gives none");
    gradients[i] = allocate(manifest.inputs[i], ready.dims, &inputs[i]);
  }

  int function = functionOf(artifact, "backward");
  c10::SmallVector<at::Tensor, 8> kept; // prepared cotangents live until the call is over
  c10::SmallVector<TaylorTensor, 16> tensors;
  for (const Slot &slot : manifest.functions[function].slots) {
    const TensorInfo &info = manifest.tensor(slot);
    if (slot.role == Role::Input) {
      tensors.push_back(describe(ready.tensors[slot.index]));
    } else if (slot.role == Role::Gradient) {
      tensors.push_back(gradients[slot.index].defined() ? describe(gradients[slot.index]) : TaylorTensor{});
    } else {
      at::TensorList list = slot.role == Role::Output  ? outputs
                            : slot.role == Role::Saved ? saved
                                                       : cotangents;
      kept.push_back(prepare(list[slot.index], info, /*parameter=*/false));
      tensors.push_back(describe(kept.back()));
    }
  }
  run(artifact, function, tensors.data(), int64_t(tensors.size()), pointer(offset));

  Tensors results;
  for (int64_t i : wanted) // a parameter that was converted gets its gradient in its own dtype
    results.push_back(gradients[i].scalar_type() == inputs[i].scalar_type()
                          ? gradients[i]
                          : gradients[i].to(inputs[i].scalar_type()));
  return results;
}

} // namespace taylor
