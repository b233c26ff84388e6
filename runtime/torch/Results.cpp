// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/torch/Results.h"
#include "runtime/Memory.h"
#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>
#include <new>

namespace taylor {
namespace {

using runtime::ResultMemory;

/// torch's view of ResultMemory: storages that are resized come back to it.
class ResultAllocator final : public c10::Allocator {
public:
  c10::DataPtr allocate(size_t bytes) override {
    try {
      auto *memory = new ResultMemory(bytes);
      return {memory->data(), memory, [](void *context) { delete static_cast<ResultMemory *>(context); },
              at::Device(at::kCPU)};
    } catch (const std::bad_alloc &) {
      TORCH_CHECK(false, "can't allocate memory: a result has ", bytes, " bytes");
    }
  }
  void copy_data(void *to, const void *from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

} // namespace

at::Tensor emptyResult(at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions &options) {
  at::ScalarType dtype = c10::typeMetaToScalarType(options.dtype());
  if (!options.device().is_cpu() ||
      at::detail::computeStorageNbytes(sizes, strides, c10::elementSize(dtype)) < ResultMemory::kLeastKept)
    return at::empty_strided(sizes, strides, options);
  static auto *allocator = new ResultAllocator; // tensors may live until the process ends
  return at::detail::empty_strided_generic(sizes, strides, allocator,
                                           c10::DispatchKeySet(c10::DispatchKey::CPU), dtype);
}

} // namespace taylor
