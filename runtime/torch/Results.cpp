// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/torch/Results.h"
#include "runtime/Memory.h"
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

} // namespace taylor
