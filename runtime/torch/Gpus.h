// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GPUs of this machine by torch's numbers, as the driver tells them. No header of torch.
#ifndef TAYLOR_RUNTIME_TORCH_GPUS_H
#define TAYLOR_RUNTIME_TORCH_GPUS_H
#include <string>

namespace taylor {

/// The target of taylorc for a GPU by its number: "sm_80". Lives as long as the process. Throws
/// runtime::Error.
const std::string &targetOfGpu(int index);

/// Its name as the driver tells it: "NVIDIA H200". Throws runtime::Error.
const std::string &nameOfGpu(int index);

} // namespace taylor

#endif
