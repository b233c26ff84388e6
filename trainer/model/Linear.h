// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_MODEL_LINEAR_H
#define TAYLOR_TRAINER_MODEL_LINEAR_H
#include <ATen/core/Tensor.h>
#include <string>

namespace taylor::trainer {

/// x W^T + b as at::linear, of `x` [.., inputs], `weight` [outputs, inputs] and `bias` [outputs] or
/// undefined. In fp32 on a processor where libtorch's own choice, MKL, is slow, oneDNN's products are taken,
/// in both directions.
at::Tensor linear(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias);

/// The same by oneDNN wherever it is. fp32, on the processor. Throws Error where libtorch has none.
at::Tensor linearByOneDnn(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias);

bool hasOneDnn();

/// Whether MKL leaves half of this processor unused: it has AVX-512 and another maker than Intel, for which
/// MKL stays with AVX2. `vendor` and `flags` as in /proc/cpuinfo.
bool isSlowForMkl(const std::string &vendor, const std::string &flags);

} // namespace taylor::trainer
#endif
