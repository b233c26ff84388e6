// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors for what kernels write.
#ifndef TAYLOR_RUNTIME_TORCH_RESULTS_H
#define TAYLOR_RUNTIME_TORCH_RESULTS_H
#include <ATen/core/Tensor.h>

namespace taylor {

/// A new tensor without a value. On the processor, memory of large ones comes from the runtime, which keeps
/// it when the tensor is gone: mapped anew for each call, its pages would cost an order of 1 in chunks an
/// eighth of its time (65536 tokens of 2 heads of 64).
at::Tensor emptyResult(at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions &options);

} // namespace taylor

#endif
