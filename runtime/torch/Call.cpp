// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/torch/Call.h"
#include "runtime/Call.h"
#include "runtime/Error.h"
#include "runtime/torch/Cuda.h"
#include "runtime/torch/Layout.h"
#include "runtime/torch/Parallel.h"
#include "runtime/torch/Results.h"
#include <ATen/ops/empty.h>
#include <c10/core/Device.h>
#include <c10/core/DeviceGuard.h>
#include <cstring>

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

/// Whether code for a GPU can read it 16 bytes at a time (Slot::aligned16).
bool isAligned16(const at::Tensor &tensor, const TensorInfo &info) {
  if (reinterpret_cast<uintptr_t>(tensor.data_ptr()) % 16 != 0)
    return false;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    bool contiguous = i + 1 == tensor.dim() && info.axes.back().isChannel();
    if (!contiguous && tensor.size(i) > 1 && tensor.stride(i) * tensor.element_size() % 16 != 0)
      return false;
  }
  return true;
}

void requireDevice(const at::Tensor &tensor, const TensorInfo &info, c10::Device device) {
  if (tensor.device() != device)
    fail("expected device ", device.str(), " of '", info.name, "', but got ", tensor.device().str());
}

/// The tensor as the kernel takes it: itself, unless its last axis is a channel with a stride other than 1,
/// it is a learned parameter in another floating dtype, or the kernel wants it `aligned` and it is not.
/// (Sparse tensors do not come here: torch has no kernel of ours for them.)
at::Tensor prepare(const at::Tensor &tensor, const TensorInfo &info, c10::Device device, bool parameter,
                   bool aligned) {
  if (!tensor.defined())
    fail("requires a tensor for '", info.name, "', but got none");
  requireDevice(tensor, info, device);
  at::Tensor ready = tensor;
  at::ScalarType wanted = scalarType(info.dtype);
  if (parameter && ready.scalar_type() != wanted && ready.is_floating_point())
    ready = ready.to(wanted);
  int64_t rank = ready.dim();
  bool described = rank > 0 && rank == int64_t(info.axes.size());
  if (described && info.axes.back().isChannel() && ready.size(rank - 1) > 1 && ready.stride(rank - 1) != 1)
    ready = ready.contiguous();
  if (described && aligned && !isAligned16(ready, info))
    ready = ready.clone(at::MemoryFormat::Contiguous);
  if (ready.scalar_type() != wanted)
    fail("expected dtype ", c10::toString(wanted), " of '", info.name, "', but got ",
         c10::toString(ready.scalar_type()), wanted == at::kInt ? "; convert it by .int()" : "");
  return ready;
}

/// A new tensor of a manifest's description, laid out like `like` where the axes are as many.
at::Tensor allocate(const TensorInfo &info, const Dims &dims, c10::Device device, const at::Tensor *like) {
  Extents<int64_t> sizes;
  for (const runtime::Axis &axis : info.axes)
    sizes.push_back(axis.isChannel() ? axis.size : dims[axis.dim]);
  at::TensorOptions options = at::TensorOptions().dtype(scalarType(info.dtype)).device(device);
  Extents<int64_t> strides = denseStrides(sizes, like ? like->strides() : at::IntArrayRef());
  return emptyResult(at::IntArrayRef(sizes.data(), sizes.size()),
                     at::IntArrayRef(strides.data(), strides.size()), options);
}

/// The input that tells what a call is.
const at::Tensor &tellingInput(const Program &program, at::TensorList inputs) {
  return inputs[std::max(program.dtypeInput, 0)];
}

/// The device that all inputs must be on.
c10::Device deviceOf(const Program &program, at::TensorList inputs) {
  c10::Device device = tellingInput(program, inputs).device();
  if (!device.is_cpu() && !device.is_cuda())
    fail("expected tensors of the processor or a GPU, but got ", device.str());
  if (program.interpreted && !device.is_cpu())
    fail("expected tensors of the processor with --device=ptx, but got ", device.str());
  return device;
}

Place placeOf(const Program &program, c10::Device device) {
  if (device.is_cuda())
    return {TAYLOR_CUDA, &targetOfGpu(device.index())};
  return {program.interpreted ? TAYLOR_PTX : TAYLOR_CPU, nullptr};
}

/// A kernel, and where it runs.
struct Kernel {
  const Artifact &artifact;
  c10::Device device;
  TaylorDevice runner;

  void run(int function, const TaylorTensor *tensors, int64_t count, const int64_t *offset) const {
    runtime::BoundCall call;
    runtime::bind(artifact.manifest(), function, tensors, count, offset, runner, call);
    int64_t threads = parallelThreads();
    runtime::Executor executor{
        .device = runner, .threads = threads, .parallelFor = threads > 1 ? &parallelFor : nullptr};
    if (runner == TAYLOR_PTX)
      executor.ptx = runtime::PtxSettings::fromEnvironment();
    if (runner != TAYLOR_CUDA)
      return runtime::run(artifact, function, call, executor);
    // Of torch's allocator, which knows what streams and CUDA graphs still use.
    int64_t bytes = runtime::workspaceSize(artifact, function, call.dims, executor);
    at::Tensor workspace = at::empty({bytes}, at::TensorOptions().dtype(at::kByte).device(device));
    if (bytes > 0)
      executor.workspace = workspace.data_ptr();
    executor.workspaceSize = bytes;
    executor.stream = currentStream(device);
    runtime::run(artifact, function, call, executor);
  }

  /// Whether the function's kernels want the tensor in a slot aligned.
  bool aligned(const Slot &slot) const { return runner != TAYLOR_CPU && slot.aligned16; }
};

const int64_t *pointer(const std::optional<int64_t> &offset) { return offset ? &*offset : nullptr; }

int functionOf(const Artifact &artifact, const char *name) {
  int function = artifact.manifest().function(name);
  if (function < 0)
    fail("requires function '", name, "', which '", artifact.path(), "' lacks");
  return function;
}

/// Inputs as a function takes them, and the sizes that they imply.
struct Inputs {
  c10::SmallVector<at::Tensor, 8> tensors;
  Dims dims;

  Inputs(const Kernel &kernel, int function, at::TensorList given, const int64_t *offset) {
    const Manifest &manifest = kernel.artifact.manifest();
    c10::SmallVector<bool, 8> aligned(given.size(), false);
    for (const Slot &slot : manifest.functions[function].slots)
      if (slot.role == Role::Input)
        aligned[slot.index] = kernel.aligned(slot);
    c10::SmallVector<TaylorTensor, 8> views;
    for (size_t i = 0; i < given.size(); ++i) {
      const TensorInfo &info = manifest.inputs[i];
      tensors.push_back(prepare(given[i], info, kernel.device,
                                info.source.kind == runtime::Source::Kind::Parameter, aligned[i]));
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

namespace {

/// What of the inputs chooses a kernel.
struct Problem {
  TaylorDtype dtype;
  int64_t d, e; ///< 0 where no input has the axis.
};

/// Optional inputs at the end may be left out unless the list is to be `complete`.
void checkCount(const Manifest &manifest, at::TensorList inputs, bool complete) {
  size_t required = manifest.inputs.size();
  while (!complete && required > 0 && manifest.inputs[required - 1].optional)
    --required;
  if (inputs.size() < required || inputs.size() > manifest.inputs.size())
    failCount(manifest.inputs, required, inputs.size());
}

/// Of inputs as many as tell it, none of which is optional: behind the check there are so many.
Problem problemOf(const Program &program, at::TensorList inputs) {
  const Manifest &signature = program.signature();
  if (int64_t(inputs.size()) <= std::max({program.dInput, program.eInput, program.dtypeInput, 0}))
    checkCount(signature, inputs, /*complete=*/false);
  for (int i : {std::max(program.dtypeInput, 0), program.dInput, program.eInput})
    if (i >= 0 && i < int(inputs.size()) && !inputs[i].defined())
      fail("requires a tensor for '", signature.inputs[i].name, "', but got none");
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
  // The axis may stand anywhere; sizes may be traced symbols, which a kernel fixes. 0 is no size of one.
  auto sizeOf = [&](int i, const char *axis) -> int64_t {
    if (i < 0)
      return 0;
    const auto &axes = signature.inputs[i].axes;
    for (size_t j = 0; j < axes.size(); ++j)
      if (axes[j].name == axis) {
        int64_t size = inputs[i].sym_size(int64_t(j)).guard_int(__FILE__, __LINE__);
        if (size == 0)
          fail("expected a size of at least 1 of axis ", axis, " of '", signature.inputs[i].name,
               "', but got 0");
        return size;
      }
    return 0;
  };
  return {dtype, sizeOf(program.dInput, "d"), sizeOf(program.eInput, "e")};
}

Kernel kernelFor(Program &program, at::TensorList inputs) {
  auto [dtype, d, e] = problemOf(program, inputs);
  c10::Device device = deviceOf(program, inputs);
  Place place = placeOf(program, device);
  Kernel kernel{program.kernel(dtype, d, e, place), device, place.device};
  checkCount(kernel.artifact.manifest(), inputs, /*complete=*/true);
  return kernel;
}

} // namespace

void failCount(const std::vector<TensorInfo> &inputs, size_t required, size_t given) {
  std::vector<std::string> names;
  for (const TensorInfo &info : inputs)
    names.push_back(info.name);
  std::string count = std::to_string(names.size());
  if (required < names.size())
    count = std::to_string(required) + " to " + count;
  fail("expected ", count, " inputs (", runtime::join(names, ", "), "), but got ", given);
}

TaylorTensor describe(const at::Tensor &tensor) {
  return {tensor.data_ptr(), dtypeOf(tensor),       tensor.is_cpu() ? TAYLOR_CPU : TAYLOR_CUDA,
          tensor.dim(),      tensor.sizes().data(), tensor.strides().data()};
}

const Manifest &manifestFor(Program &program, at::TensorList inputs) {
  auto [dtype, d, e] = problemOf(program, inputs);
  // Tensors without data may stand for those of a GPU that is not there.
  Place place;
  c10::Device device = tellingInput(program, inputs).device();
  if (program.hasStates && !device.is_meta())
    place = placeOf(program, device);
  const Manifest &manifest = program.manifest(dtype, d, e, place);
  checkCount(manifest, inputs, /*complete=*/false);
  // One tensor without data makes a call one without data, whose results nobody computes.
  for (size_t i = 0; i < inputs.size(); ++i)
    if (at::Tensor input = inputs[i]; input.defined())
      requireDevice(input, manifest.inputs[i], device);
  return manifest;
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
  Kernel kernel = kernelFor(program, inputs);
  const Manifest &manifest = kernel.artifact.manifest();
  c10::OptionalDeviceGuard guard(kernel.device);
  int function = functionOf(kernel.artifact, "forward");
  Inputs ready(kernel, function, inputs, pointer(offset));
  Tensors results;
  results.reserve(manifest.outputs.size() + (save ? manifest.saved.size() : 0));
  for (const TensorInfo &info : manifest.outputs)
    results.push_back(allocate(info, ready.dims, kernel.device,
                               program.dtypeInput < 0 ? nullptr : &inputs[program.dtypeInput]));
  for (const TensorInfo &info : manifest.saved)
    if (save)
      results.push_back(allocate(info, ready.dims, kernel.device, nullptr));

  c10::SmallVector<TaylorTensor, 16> tensors;
  for (const Slot &slot : manifest.functions[function].slots) {
    if (slot.role == Role::Input)
      tensors.push_back(describe(ready.tensors[slot.index]));
    else if (slot.role == Role::Output)
      tensors.push_back(describe(results[slot.index]));
    else
      tensors.push_back(save ? describe(results[manifest.outputs.size() + slot.index]) : TaylorTensor{});
  }
  kernel.run(function, tensors.data(), int64_t(tensors.size()), pointer(offset));
  return results;
}

Tensors runBackward(Program &program, at::TensorList inputs, at::TensorList outputs, at::TensorList saved,
                    at::TensorList cotangents, std::optional<int64_t> offset, c10::IntArrayRef wanted) {
  Kernel kernel = kernelFor(program, inputs);
  const Manifest &manifest = kernel.artifact.manifest();
  c10::OptionalDeviceGuard guard(kernel.device);
  if (cotangents.size() != manifest.outputs.size())
    fail("expected ", manifest.outputs.size(), " cotangents, but got ", cotangents.size());
  if ((backwardReads(manifest, Role::Output) && outputs.size() != manifest.outputs.size()) ||
      (backwardReads(manifest, Role::Saved) && saved.size() != manifest.saved.size()))
    fail("expected ", manifest.outputs.size(), " outputs and ", manifest.saved.size(),
         " saved tensors, but got ", outputs.size(), " and ", saved.size());
  int function = functionOf(kernel.artifact, "backward");
  Inputs ready(kernel, function, inputs, pointer(offset));

  c10::SmallVector<at::Tensor, 8> gradients(inputs.size());
  for (int64_t i : wanted) {
    if (i < 0 || i >= int64_t(inputs.size()) || !manifest.inputs[i].gradient)
      fail("unsupported gradient of ",
           i < 0 || i >= int64_t(inputs.size()) ? "input " + std::to_string(i)
                                                : "'" + manifest.inputs[i].name + "'",
           ": the specification gives none");
    gradients[i] = allocate(manifest.inputs[i], ready.dims, kernel.device, &inputs[i]);
  }

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
      kept.push_back(
          prepare(list[slot.index], info, kernel.device, /*parameter=*/false, kernel.aligned(slot)));
      tensors.push_back(describe(kept.back()));
    }
  }
  kernel.run(function, tensors.data(), int64_t(tensors.size()), pointer(offset));

  Tensors results;
  for (int64_t i : wanted) // a parameter that was converted gets its gradient in its own dtype
    results.push_back(gradients[i].scalar_type() == inputs[i].scalar_type()
                          ? gradients[i]
                          : gradients[i].to(inputs[i].scalar_type()));
  return results;
}

/// By hand on a processor: after large states, torch's way to copy a few numbers is in no cache.
static void copyState(const at::Tensor &from, const at::Tensor &to) {
  if (to.device().is_cpu() && to.is_contiguous() && from.is_contiguous() && to.dtype() == from.dtype() &&
      to.nbytes() == from.nbytes())
    std::memcpy(to.data_ptr(), from.data_ptr(), to.nbytes());
  else
    to.copy_(from);
}

Tensors runStep(Program &program, at::TensorList inputs, at::TensorList states,
                std::optional<int64_t> offset) {
  Tensors all(inputs.begin(), inputs.end());
  all.insert(all.end(), states.begin(), states.end());
  Kernel kernel = kernelFor(program, all);
  const Manifest &manifest = kernel.artifact.manifest();
  c10::OptionalDeviceGuard guard(kernel.device);
  int function = functionOf(kernel.artifact, "step");
  const FunctionInfo &info = manifest.functions[function];
  // States are worked on where they are, whatever their strides.
  for (auto [before, behind] : info.carried) {
    const Slot &slot = info.slots[before];
    const TensorInfo &state = manifest.inputs[slot.index];
    const at::Tensor &tensor = all[slot.index];
    bool strided = tensor.numel() > 0 && tensor.dim() > 0 && state.axes.back().isChannel() &&
                   tensor.size(-1) > 1 && tensor.stride(-1) != 1;
    if (strided || (kernel.aligned(slot) && !isAligned16(tensor, state)))
      fail("requires states that the kernel can work on where they are, but '", state.name,
           "' has other strides or another alignment; give it contiguous");
  }
  Inputs ready(kernel, function, all, pointer(offset));
  // By its name, the place of each result: an initial state's own memory, or a new tensor.
  std::vector<at::Tensor> outputs;
  for (const TensorInfo &output : manifest.outputs) {
    at::Tensor result;
    for (auto [before, behind] : info.carried)
      if (&manifest.outputs[info.slots[behind].index] == &output)
        result = ready.tensors[info.slots[before].index];
    outputs.push_back(result.defined() ? result : allocate(output, ready.dims, kernel.device, nullptr));
  }
  c10::SmallVector<TaylorTensor, 16> tensors;
  for (const Slot &slot : info.slots)
    tensors.push_back(describe(slot.role == Role::Input ? ready.tensors[slot.index] : outputs[slot.index]));
  kernel.run(function, tensors.data(), int64_t(tensors.size()), pointer(offset));
  // The position, which other kernels of the call read, is behind all of them.
  Tensors results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!manifest.outputs[i].isState())
      results.push_back(outputs[i]);
  }
  for (size_t j = 0; j < all.size(); ++j) {
    int final = manifest.finalOf(int(j));
    if (final >= 0 && !outputs[size_t(final)].is_same(all[j]))
      copyState(outputs[size_t(final)], all[j]);
  }
  return results;
}

} // namespace taylor
