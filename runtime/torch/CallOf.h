// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a call of the operators does with its tensors, for any interface of torch: which kernel serves them,
// what is converted or copied, how results lie, what messages say. `Aten` (Aten.h) is libtorch's C++, for
// programs and the operators of libtaylor_torch.so; `Stable` (stable/Stable.h) is its stable ABI, for the
// wheel. Each has
//
//   Tensor, Device (comparable), Guard (of a device; built from it)
//   defined, dtype, device, rank, size(tensor, axis)       also of tensors without data
//   describe(tensor)                                       the tensor as the C interface takes it
//   isFloating(dtype), name(dtype)
//   isCpu, isCuda, isMeta, index, name of a device
//   convert(tensor, dtype), contiguous, copy (contiguous, always), assign(from, to), isSame(a, b)
//   narrow(tensor, axis, start, length)                    a view
//   empty(sizes, strides, dtype, device), workspace(bytes, device)
//   stream(device), threads(), parallelFor
#ifndef TAYLOR_RUNTIME_TORCH_CALLOF_H
#define TAYLOR_RUNTIME_TORCH_CALLOF_H
#include "runtime/Call.h"
#include "runtime/Error.h"
#include "runtime/torch/Dtype.h"
#include "runtime/torch/Layout.h"
#include "runtime/torch/ProblemOf.h"
#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

namespace taylor {

template <typename Torch> class CallOf {
  using Problem = ProblemOf<Torch>;
  using Require = Required<Torch>;
  using Manifest = runtime::Manifest;
  using TensorInfo = runtime::TensorInfo;
  using Role = runtime::Role;
  using Slot = runtime::Slot;

public:
  using Tensor = typename Torch::Tensor;
  using Device = typename Torch::Device;
  using List = std::span<const Tensor>;
  using Tensors = std::vector<Tensor>;
  using Offset = std::optional<int64_t>;

  /// Outputs, then saved tensors where `save` is set. Inputs are on the processor or on one GPU, whose
  /// current stream the work is put on; learned parameters of another floating dtype are converted, and what
  /// code for a GPU cannot read as it lies is copied.
  static Tensors forward(Program &program, List inputs, Offset offset, bool save) {
    Kernel kernel(program, inputs);
    const Manifest &manifest = kernel.artifact.manifest();
    typename Torch::Guard guard(kernel.device);
    int function = kernel.function("forward");
    Inputs ready(kernel, function, inputs, pointer(offset));
    Tensors results;
    results.reserve(manifest.outputs.size() + (save ? manifest.saved.size() : 0));
    // Laid out as the input whose dtype the call has; states are contiguous.
    for (const TensorInfo &info : manifest.outputs)
      results.push_back(
          allocate(info, ready.dims, kernel.device,
                   program.dtypeInput < 0 || info.isState() ? nullptr : &inputs[program.dtypeInput]));
    for (const TensorInfo &info : manifest.saved)
      if (save)
        results.push_back(allocate(info, ready.dims, kernel.device, nullptr));

    Slots slots;
    for (const Slot &slot : manifest.functions[function].slots) {
      if (slot.role == Role::Input)
        slots.add(ready.views[slot.index]);
      else if (slot.role == Role::Output)
        slots.add(Torch::describe(results[slot.index]));
      else
        slots.add(save ? Torch::describe(results[manifest.outputs.size() + slot.index]) : TaylorTensor{});
    }
    kernel.run(function, slots, ready.dims);
    return results;
  }

  /// Gradients of the inputs whose indices stand in `wanted`, in that order. `outputs` and `saved` may be
  /// empty where backwardReads() says that no one reads them.
  static Tensors backward(Program &program, List inputs, List outputs, List saved, List cotangents,
                          Offset offset, std::span<const int64_t> wanted) {
    Kernel kernel(program, inputs);
    const Manifest &manifest = kernel.artifact.manifest();
    typename Torch::Guard guard(kernel.device);
    Require::backwardLists(manifest, outputs, saved, cotangents);
    int function = kernel.function("backward");
    Inputs ready(kernel, function, inputs, pointer(offset));

    std::vector<std::optional<Tensor>> gradients(inputs.size());
    for (int64_t i : wanted) {
      Require::gradient(manifest, i);
      gradients[i] = allocate(manifest.inputs[i], ready.dims, kernel.device,
                              manifest.inputs[i].isState() ? nullptr : &inputs[i]);
    }

    Tensors kept; // prepared cotangents live until the call is over
    Slots slots;
    for (const Slot &slot : manifest.functions[function].slots) {
      if (slot.role == Role::Input) {
        slots.add(ready.views[slot.index]);
      } else if (slot.role == Role::Gradient) {
        slots.add(gradients[slot.index] ? Torch::describe(*gradients[slot.index]) : TaylorTensor{});
      } else {
        List list = slot.role == Role::Output ? outputs : slot.role == Role::Saved ? saved : cotangents;
        TaylorTensor view;
        kept.push_back(prepare(list[slot.index], manifest.tensor(slot), kernel.device, /*parameter=*/false,
                               kernel.aligned(slot), view));
        slots.add(view);
      }
    }
    kernel.run(function, slots, ready.dims);

    Tensors results;
    results.reserve(wanted.size());
    for (int64_t i : wanted) { // a parameter that was converted gets its gradient in its own dtype
      auto type = Torch::dtype(inputs[i]);
      results.push_back(type == Torch::dtype(*gradients[i]) ? *gradients[i]
                                                            : Torch::convert(*gradients[i], type));
    }
    return results;
  }

  /// Outputs but final states, of the function `step`. `inputs` are those of the manifest that are no initial
  /// states; `states` are these, which become the final ones in their memory.
  static Tensors step(Program &program, List inputs, List states, Offset offset) {
    Tensors all(inputs.begin(), inputs.end());
    all.insert(all.end(), states.begin(), states.end());
    Kernel kernel(program, all);
    const Manifest &manifest = kernel.artifact.manifest();
    typename Torch::Guard guard(kernel.device);
    int function = kernel.function("step");
    const runtime::FunctionInfo &info = manifest.functions[function];
    if (!manifest.cache.empty())
      runtime::fail(
          "unsupported step over inputs: this kernel's function 'step' reads keys that 'append' has prepared "
          "('cache:",
          manifest.cache.front().name, "'); call decode, or take a Decoder");
    for (auto [before, after] : info.carried)
      Require::inPlace(all[info.slots[before].index], manifest.inputs[info.slots[before].index],
                       kernel.aligned(info.slots[before]));
    Inputs ready(kernel, function, all, pointer(offset));
    // By its name, the place of each result: an initial state's own memory, or a new tensor.
    Tensors outputs;
    for (const TensorInfo &output : manifest.outputs) {
      const Tensor *carried = nullptr;
      for (auto [before, after] : info.carried)
        if (&manifest.outputs[info.slots[after].index] == &output)
          carried = &ready.tensors[info.slots[before].index];
      outputs.push_back(carried ? *carried : allocate(output, ready.dims, kernel.device, nullptr));
    }
    Slots slots;
    for (const Slot &slot : info.slots)
      slots.add(slot.role == Role::Input ? ready.views[slot.index] : Torch::describe(outputs[slot.index]));
    kernel.run(function, slots, ready.dims);
    // The position, which other kernels of the call read, comes after all of them.
    return finish(manifest, all, outputs);
  }

  /// Outputs but final states, of new tokens after `tokens` others whose keys are kept: the function
  /// `append`, then `step` or `extend`. `inputs` are those of the manifest that are no initial states, for
  /// the new tokens alone; `states` are these, which become the final ones in their memory. `cache` is as in
  /// the manifest, its arrays over u with room for the new tokens, which are added to them.
  static Tensors decode(Program &program, List inputs, List cache, List states, int64_t tokens) {
    Tensors all(inputs.begin(), inputs.end());
    all.insert(all.end(), states.begin(), states.end());
    Kernel kernel(program, all);
    const Manifest &manifest = kernel.artifact.manifest();
    typename Torch::Guard guard(kernel.device);
    int append = kernel.function("append");
    Inputs keys(kernel, append, all, nullptr);
    int64_t added = keys.dims[TAYLOR_DIM_U];
    int read = kernel.function(added <= runtime::kMostSteps ? "step" : "extend");
    Require::cache(manifest, cache, kernel.device, tokens, tokens + added);
    Tensors appended = appendKeys(kernel, append, keys, cache, tokens);
    Tensors outputs = readKeys(kernel, read, all, cache, tokens + added);
    for (size_t i = 0; i < cache.size(); ++i)
      if (manifest.cache[i].keyAxis() < 0)
        copyState(appended[i], cache[i]);
    return finish(manifest, all, outputs);
  }

private:
  struct Slots;
  struct Kernel;
  struct Inputs;

  /// Runs `append`, which writes what is kept of new tokens after `tokens` others of the cache. What has no
  /// token axis is read to the end of a call, so its new value is a tensor of its own. The result has a
  /// tensor for each of the cache: the new value, or the new tokens' part.
  static Tensors appendKeys(const Kernel &kernel, int append, const Inputs &keys, List cache,
                            int64_t tokens) {
    const Manifest &manifest = kernel.artifact.manifest();
    int64_t added = keys.dims[TAYLOR_DIM_U];
    Tensors appended;
    std::vector<bool> isCopied(cache.size());
    for (size_t i = 0; i < cache.size(); ++i) {
      int axis = manifest.cache[i].keyAxis();
      appended.push_back(axis < 0 ? allocate(manifest.cache[i], keys.dims, kernel.device, nullptr)
                                  : Torch::narrow(cache[i], axis, tokens, added));
    }
    Slots slots;
    for (const Slot &slot : manifest.functions[append].slots) {
      size_t i = size_t(slot.index);
      if (slot.role != Role::Append) {
        slots.add(slot.role == Role::Input ? keys.views[i] : Torch::describe(cache[i]));
        continue;
      }
      const TensorInfo &info = manifest.cache[i];
      if (info.keyAxis() >= 0 && kernel.aligned(slot) &&
          !runtime::isReadable(info, Torch::describe(appended[i]), /*aligned16=*/true)) {
        appended[i] = allocate(info, keys.dims, kernel.device, nullptr);
        isCopied[i] = true;
      }
      slots.add(Torch::describe(appended[i]));
    }
    kernel.run(append, slots, keys.dims);
    for (size_t i = 0; i < cache.size(); ++i)
      if (isCopied[i])
        Torch::assign(appended[i], Torch::narrow(cache[i], manifest.cache[i].keyAxis(), tokens, added));
    return appended;
  }

  /// Outputs of `step` or `extend`, which reads `size` tokens of the cache.
  static Tensors readKeys(const Kernel &kernel, int read, List all, List cache, int64_t size) {
    const Manifest &manifest = kernel.artifact.manifest();
    Inputs queries(kernel, read, all, nullptr);
    Tensors outputs, kept;
    for (const TensorInfo &output : manifest.outputs)
      outputs.push_back(allocate(output, queries.dims, kernel.device, nullptr));
    for (size_t i = 0; i < cache.size(); ++i) {
      int axis = manifest.cache[i].keyAxis();
      kept.push_back(axis < 0 ? cache[i] : Torch::narrow(cache[i], axis, 0, size));
    }
    Slots slots;
    for (const Slot &slot : manifest.functions[read].slots) {
      if (slot.role == Role::Input) {
        slots.add(queries.views[slot.index]);
      } else if (slot.role == Role::Output) {
        slots.add(Torch::describe(outputs[slot.index]));
      } else {
        TaylorTensor view;
        kept[slot.index] = prepare(kept[slot.index], manifest.cache[slot.index], kernel.device,
                                   /*parameter=*/false, kernel.aligned(slot), view);
        slots.add(view);
      }
    }
    const int64_t *offset = nullptr; // of sizes with the cache's keys, which no input has
    kernel.run(read, slots, offset);
    return outputs;
  }

  /// Copies final states to the initial ones of `all`, and gives the other outputs.
  static Tensors finish(const Manifest &manifest, const Tensors &all, const Tensors &outputs) {
    Tensors results;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!manifest.outputs[i].isState())
        results.push_back(outputs[i]);
    for (size_t j = 0; j < all.size(); ++j) {
      int final = manifest.finalOf(int(j));
      if (final >= 0 && !Torch::isSame(outputs[size_t(final)], all[j]))
        copyState(outputs[size_t(final)], all[j]);
    }
    return results;
  }

  static const int64_t *pointer(const Offset &offset) { return offset ? &*offset : nullptr; }

  /// A function's tensors, in the order of its slots: no more than an artifact may have.
  struct Slots {
    TaylorTensor tensors[runtime::kMaxTensors];
    int64_t count = 0;
    void add(const TaylorTensor &tensor) { tensors[count++] = tensor; }
  };

  /// A kernel, and where it runs.
  struct Kernel {
    Device device;
    TaylorDevice runner;
    const runtime::Artifact &artifact;

    Kernel(Program &program, List inputs) : Kernel(program, inputs, Problem(program, inputs)) {}

    int function(const char *name) const {
      int function = artifact.manifest().function(name);
      if (function < 0)
        runtime::fail("requires function '", name, "', which '", artifact.path(), "' lacks");
      return function;
    }

    /// `sizes`: what inferDims() has found, or (`const int64_t *`) an offset.
    template <typename Sizes> void run(int function, const Slots &slots, const Sizes &sizes) const {
      runtime::BoundCall call;
      runtime::bind(artifact.manifest(), function, slots.tensors, slots.count, sizes, runner, call);
      int64_t threads = Torch::threads();
      runtime::Executor executor{
          .device = runner, .threads = threads, .parallelFor = threads > 1 ? &Torch::parallelFor : nullptr};
      if (runner == TAYLOR_PTX)
        executor.ptx = runtime::PtxSettings::fromEnvironment();
      if (runner != TAYLOR_CUDA)
        return runtime::run(artifact, function, call, executor);
      // Of torch's allocator, which knows what streams and CUDA graphs still use.
      int64_t bytes = runtime::workspaceSize(artifact, function, call.dims, executor);
      Tensor workspace = Torch::workspace(bytes, device);
      if (bytes > 0)
        executor.workspace = Torch::describe(workspace).data;
      executor.workspaceSize = bytes;
      executor.stream = Torch::stream(device);
      runtime::run(artifact, function, call, executor);
    }

    /// Whether the function's kernels want the tensor in a slot aligned.
    bool aligned(const Slot &slot) const { return runner != TAYLOR_CPU && slot.aligned16; }

  private:
    Kernel(Program &program, List inputs, const Problem &problem)
        : Kernel(program, inputs, problem, checkedDevice(program, inputs)) {}
    Kernel(Program &program, List inputs, const Problem &problem, const Device &device)
        : Kernel(program, inputs, problem, device, Problem::placeOf(program, device)) {}
    Kernel(Program &program, List inputs, const Problem &problem, const Device &device,
           const KernelPlace &place)
        : device(device), runner(place.device),
          artifact(program.kernel(problem.dtype, problem.d, problem.e, place)) {
      Require::count(artifact.manifest(), inputs, /*complete=*/true);
    }

    /// The device that all inputs must be on.
    static Device checkedDevice(const Program &program, List inputs) {
      Device device = Problem::tellingDevice(program, inputs);
      Require::runner(device, program.interpreted);
      return device;
    }
  };

  /// Inputs as a function takes them, and the sizes that they imply.
  struct Inputs {
    Tensors tensors;
    std::vector<TaylorTensor> views;
    runtime::Dims dims;

    Inputs(const Kernel &kernel, int function, List given, const int64_t *offset) : views(given.size()) {
      const Manifest &manifest = kernel.artifact.manifest();
      tensors.reserve(given.size());
      auto isAligned = [&](size_t i) {
        for (const Slot &slot : manifest.functions[function].slots)
          if (slot.role == Role::Input && slot.index == int(i) && kernel.aligned(slot))
            return true;
        return false;
      };
      for (size_t i = 0; i < given.size(); ++i) {
        const TensorInfo &info = manifest.inputs[i];
        tensors.push_back(prepare(given[i], info, kernel.device,
                                  info.source.kind == runtime::Source::Kind::Parameter,
                                  kernel.runner != TAYLOR_CPU && isAligned(i), views[i]));
      }
      dims =
          runtime::inferDims(manifest.inputs, views.data(), int64_t(views.size()), offset, manifest.aligned);
    }
  };

  /// The tensor as the kernel takes it, and in `view` its description: itself, unless its last axis is a
  /// channel with a stride other than 1, it is a learned parameter in another floating dtype, or the kernel
  /// wants it `aligned` and it is not. (Sparse tensors do not come here: torch has no kernel of ours for
  /// them.)
  static Tensor prepare(const Tensor &tensor, const TensorInfo &info, const Device &device, bool parameter,
                        bool aligned, TaylorTensor &view) {
    Require::given(tensor, info.name);
    Require::device(tensor, info.name, device);
    auto wanted = scalarType(info.dtype), given = Torch::dtype(tensor);
    Tensor ready = tensor;
    if (!parameter || !Torch::isFloating(given))
      Require::dtype(tensor, info.name, wanted);
    else if (given != wanted)
      ready = Torch::convert(ready, wanted);
    view = Torch::describe(ready);
    if (!runtime::isReadable(info, view, /*aligned16=*/false)) {
      ready = Torch::contiguous(ready);
      view = Torch::describe(ready);
    }
    if (aligned && !runtime::isReadable(info, view, aligned)) {
      ready = Torch::copy(ready);
      view = Torch::describe(ready);
    }
    return ready;
  }

  /// A new tensor of a manifest's description, laid out like `like` where the axes are as many.
  static Tensor allocate(const TensorInfo &info, const runtime::Dims &dims, const Device &device,
                         const Tensor *like) {
    Extents<int64_t> sizes;
    for (const runtime::TensorAxis &axis : info.axes)
      sizes.push_back(axis.isChannel() ? axis.size : dims[axis.dim]);
    std::span<const int64_t> order;
    if (like) {
      TaylorTensor view = Torch::describe(*like);
      order = {view.strides, size_t(view.rank)};
    }
    return Torch::empty(sizes, denseStrides(sizes, order), scalarType(info.dtype), device);
  }

  static int64_t elementsWhereDense(const TaylorTensor &view) {
    int64_t elements = 1;
    for (int64_t i = view.rank; i-- > 0; elements *= view.sizes[i])
      if (view.sizes[i] != 1 && view.strides[i] != elements)
        return -1;
    return elements;
  }

  /// By hand on a processor: after large states, torch's way to copy a few numbers is in no cache.
  static void copyState(const Tensor &from, const Tensor &to) {
    TaylorTensor source = Torch::describe(from), target = Torch::describe(to);
    int64_t elements = elementsWhereDense(source);
    if (target.device == TAYLOR_CPU && source.dtype >= 0 && source.dtype == target.dtype && elements >= 0 &&
        elements == elementsWhereDense(target))
      std::memcpy(target.data, source.data, size_t(elements * runtime::dtypeSize(source.dtype)));
    else
      Torch::assign(from, to);
  }
};

} // namespace taylor

#endif
