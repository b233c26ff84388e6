// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libtorch's stable ABI, as CallOf takes it: C functions that every torch from 2.10 on has, and no class of
// C++ across the border. Where torch.h's wrappers call several functions for one fact, this calls the one.
#ifndef TAYLOR_RUNTIME_TORCH_STABLE_STABLE_H
#define TAYLOR_RUNTIME_TORCH_STABLE_STABLE_H
#include "runtime/torch/Dtype.h"
#include "runtime/torch/Layout.h"
#include "runtime/torch/stable/Names.h"
#include <optional>
#include <string>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

namespace taylor {

/// Throws runtime::Error unless `code` is success; `what` completes "libtorch could not ..".
void checkTorch(AOTITorchError code, const char *what);

struct Stable {
  using Tensor = torch::stable::Tensor;
  using ScalarType = torch::headeronly::ScalarType;

  /// Types as this libtorch numbers them.
  struct Device {
    int32_t type, index;
    bool operator==(const Device &) const = default;
  };

  /// Of a GPU, while it lives; of the processor nothing.
  class Guard {
  public:
    explicit Guard(const Device &device) {
      if (isCuda(device))
        guard.emplace(device.index);
    }

  private:
    std::optional<torch::stable::accelerator::DeviceGuard> guard;
  };

  static bool defined(const Tensor &tensor) { return tensor.defined(); }
  static ScalarType dtype(const Tensor &tensor);
  static Device device(const Tensor &tensor);
  static int64_t rank(const Tensor &tensor) { return tensor.dim(); }
  static int64_t size(const Tensor &tensor, int64_t axis) { return tensor.size(axis); }
  /// Holds as long as the tensor does; the dtype is -1 where the interface has none for it.
  static TaylorTensor describe(const Tensor &tensor);

  static bool isFloating(ScalarType dtype);
  static std::string name(ScalarType dtype) { return pythonName(dtype); }
  static std::string conversion(const std::string &name, ScalarType dtype) {
    return pythonConversion(name, dtype);
  }
  static bool isCpu(const Device &device);
  static bool isCuda(const Device &device);
  static int index(const Device &device) { return device.index; }
  static std::string name(const Device &device);

  static Tensor convert(const Tensor &tensor, ScalarType dtype) { return torch::stable::to(tensor, dtype); }
  static Tensor contiguous(const Tensor &tensor) { return torch::stable::contiguous(tensor); }
  static Tensor copy(const Tensor &tensor);
  static void assign(const Tensor &from, const Tensor &to);
  static Tensor narrow(Tensor tensor, int64_t axis, int64_t start, int64_t length) {
    return torch::stable::narrow(tensor, axis, start, length);
  }
  static bool isSame(const Tensor &a, const Tensor &b) { return a.get() == b.get(); }
  static Tensor empty(const Extents<int64_t> &sizes, const Extents<int64_t> &strides, ScalarType dtype,
                      const Device &device);
  static Tensor workspace(int64_t bytes, const Device &device);

  static void *stream(const Device &device);
  static int64_t threads();
  static void parallelFor(void *context, int64_t tasks, void (*task)(void *, int64_t), void *taskContext);
};

} // namespace taylor

#endif
