// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the operator asks of libtorch's CUDA part, which is there or not at run time: nothing of it is linked.
#ifndef TAYLOR_RUNTIME_TORCH_CUDA_H
#define TAYLOR_RUNTIME_TORCH_CUDA_H
#include "runtime/torch/Gpus.h"
#include <c10/core/Device.h>

namespace taylor {

/// Loads libtorch's CUDA part, so that this process can make tensors on a GPU. Throws runtime::Error where
/// there is no driver, no GPU, or a libtorch without CUDA: the message says which and what to do.
void requireCuda();

/// libtorch's current stream on a GPU, as the driver takes it. Throws runtime::Error.
void *currentStream(c10::Device device);

} // namespace taylor

#endif
