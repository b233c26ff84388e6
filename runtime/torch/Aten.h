// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libtorch's C++ interface, as CallOf takes it.
#ifndef TAYLOR_RUNTIME_TORCH_ATEN_H
#define TAYLOR_RUNTIME_TORCH_ATEN_H
#include "runtime/torch/Cuda.h"
#include "runtime/torch/Dtype.h"
#include "runtime/torch/Layout.h"
#include "runtime/torch/Parallel.h"
#include "runtime/torch/Results.h"
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>

namespace taylor {

struct Aten {
  using Tensor = at::Tensor;
  using Device = c10::Device;
  using Guard = c10::OptionalDeviceGuard;

  static bool defined(const Tensor &tensor) { return tensor.defined(); }
  static at::ScalarType dtype(const Tensor &tensor) { return tensor.scalar_type(); }
  static Device device(const Tensor &tensor) { return tensor.device(); }
  static int64_t rank(const Tensor &tensor) { return tensor.dim(); }
  static int64_t size(const Tensor &tensor, int64_t axis) {
    return tensor.sym_size(axis).guard_int(__FILE__, __LINE__);
  }
  /// Holds as long as the tensor does; the dtype is -1 where the interface has none for it.
  static TaylorTensor describe(const Tensor &tensor) {
    return {tensor.data_ptr(), dtypeOf(tensor.scalar_type()), tensor.is_cpu() ? TAYLOR_CPU : TAYLOR_CUDA,
            tensor.dim(),      tensor.sizes().data(),         tensor.strides().data()};
  }

  static bool isFloating(at::ScalarType dtype) { return c10::isFloatingType(dtype); }
  static const char *name(at::ScalarType dtype) { return c10::toString(dtype); }
  static const char *conversion(const std::string &, at::ScalarType dtype) {
    return dtype == at::kInt ? "; convert it by .int()" : "";
  }
  static bool isCpu(const Device &device) { return device.is_cpu(); }
  static bool isCuda(const Device &device) { return device.is_cuda(); }
  static bool isMeta(const Device &device) { return device.is_meta(); }
  static int index(const Device &device) { return device.index(); }
  static std::string name(const Device &device) { return device.str(); }

  static Tensor convert(const Tensor &tensor, at::ScalarType dtype) { return tensor.to(dtype); }
  static Tensor contiguous(const Tensor &tensor) { return tensor.contiguous(); }
  static Tensor copy(const Tensor &tensor) { return tensor.clone(at::MemoryFormat::Contiguous); }
  static void assign(const Tensor &from, const Tensor &to) { to.copy_(from); }
  static Tensor narrow(const Tensor &tensor, int64_t axis, int64_t start, int64_t length) {
    return tensor.narrow(axis, start, length);
  }
  static bool isSame(const Tensor &a, const Tensor &b) { return a.is_same(b); }
  static Tensor empty(const Extents<int64_t> &sizes, const Extents<int64_t> &strides, at::ScalarType dtype,
                      const Device &device) {
    return emptyResult(at::IntArrayRef(sizes.data(), sizes.size()),
                       at::IntArrayRef(strides.data(), strides.size()),
                       at::TensorOptions().dtype(dtype).device(device));
  }
  static Tensor workspace(int64_t bytes, const Device &device) {
    return at::empty({bytes}, at::TensorOptions().dtype(at::kByte).device(device));
  }

  static void *stream(const Device &device) { return currentStream(device); }
  static int64_t threads() { return parallelThreads(); }
  static void parallelFor(void *context, int64_t tasks, void (*task)(void *, int64_t), void *taskContext) {
    taylor::parallelFor(context, tasks, task, taskContext);
  }
};

} // namespace taylor

#endif
