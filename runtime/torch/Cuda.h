// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the operator asks of libtorch's CUDA part, which is there or not at run time: nothing of it is linked.
#pragma once
#include <c10/core/Device.h>
#include <string>

namespace taylor {

/// Loads libtorch's CUDA part, so that this process can make tensors on a GPU. Throws runtime::Error where
/// there is no driver, no GPU, or a libtorch without CUDA: the message says which and what to do.
void requireCuda();

/// The target of taylorc for a GPU by its number: "sm_80". Throws runtime::Error.
const std::string &targetOfGpu(c10::DeviceIndex index);

/// Its name as the driver tells it: "NVIDIA H200". Throws runtime::Error.
const std::string &nameOfGpu(c10::DeviceIndex index);

/// libtorch's current stream on a GPU, as the driver takes it. Throws runtime::Error.
void *currentStream(c10::Device device);

} // namespace taylor
