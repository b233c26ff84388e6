// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/torch/Results.h"
#include "runtime/Memory.h"
#include "runtime/torch/Aten.h"
#include "runtime/torch/Dtype.h"
#include "runtime/torch/Layout.h"
#include "runtime/torch/Required.h"
#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <new>

namespace taylor {
namespace {

/// torch's view of it: storages that are resized come back to it, and profilers see it.
class ResultAllocator final : public c10::Allocator {
public:
  c10::DataPtr allocate(size_t bytes) override {
    void *memory = nullptr;
    try {
      memory = runtime::allocateResult(bytes);
    } catch (const std::bad_alloc &) {
      // In the words of torch's own allocator, by which programs know it.
      TORCH_CHECK(false, "can't allocate memory: you tried to allocate ", bytes, " bytes for a result");
    }
    c10::profiledCPUMemoryReporter().New(memory, bytes);
    return {memory, memory, &release, at::Device(at::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void *to, const void *from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

private:
  static void release(void *memory) {
    c10::profiledCPUMemoryReporter().Delete(memory);
    runtime::freeResult(memory);
  }
};

} // namespace

at::Tensor emptyResult(at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions &options) {
  at::ScalarType dtype = c10::typeMetaToScalarType(options.dtype());
  if (!options.device().is_cpu() ||
      at::detail::computeStorageNbytes(sizes, strides, c10::elementSize(dtype)) < runtime::kLeastKeptResult)
    return at::empty_strided(sizes, strides, options);
  static auto *allocator = new ResultAllocator; // tensors may live until the process ends
  return at::detail::empty_strided_generic(sizes, strides, allocator,
                                           c10::DispatchKeySet(c10::DispatchKey::CPU), dtype);
}

/// Laid out as strides of the same rank are, else dense.
static at::Tensor empty(const runtime::TensorInfo &info, const Extents<c10::SymInt> &sizes,
                        c10::SymIntArrayRef like, c10::Device device) {
  Extents<c10::SymInt> strides = denseStrides(sizes, like);
  return at::empty_strided_symint(c10::SymIntArrayRef(sizes.data(), sizes.size()),
                                  c10::SymIntArrayRef(strides.data(), strides.size()),
                                  at::TensorOptions().dtype(scalarType(info.dtype)).device(device));
}

at::Tensor describeResult(const runtime::Manifest &manifest, const runtime::TensorInfo &info,
                          at::TensorList inputs, const at::Tensor *like) {
  Extents<c10::SymInt> sizes;
  for (const runtime::TensorAxis &axis : info.axes) {
    c10::SymInt size = axis.isChannel() ? axis.size : 1;
    bool found = axis.isChannel();
    for (size_t i = 0; i < inputs.size() && !found; ++i) {
      const auto &axes = manifest.inputs[i].axes;
      Required<Aten>::rank(inputs[i], manifest.inputs[i], manifest.inputs[i].name);
      for (size_t j = 0; j < axes.size() && !found; ++j)
        if (axes[j].dim == axis.dim) {
          size = inputs[i].sym_size(int64_t(j));
          found = true;
        }
    }
    sizes.push_back(size);
  }
  return empty(info, sizes, like ? like->sym_strides() : c10::SymIntArrayRef(), inputs[0].device());
}

at::Tensor describeState(const runtime::TensorInfo &info, const at::Tensor &before) {
  Required<Aten>::rank(before, info, info.name, "the state before ");
  Extents<c10::SymInt> sizes;
  for (const c10::SymInt &size : before.sym_sizes())
    sizes.push_back(size);
  return empty(info, sizes, {}, before.device());
}

void appendAbsent(const runtime::Manifest &manifest, std::vector<at::Tensor> &inputs) {
  size_t given = inputs.size();
  for (size_t i = given; i < manifest.inputs.size(); ++i)
    inputs.push_back(
        describeResult(manifest, manifest.inputs[i], at::TensorList(inputs).slice(0, given), nullptr)
            .zero_());
}

} // namespace taylor
