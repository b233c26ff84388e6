// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that a call makes: as its manifest describes them, also for tensors without data and for traced
// sizes; and the memory of what kernels write.
#ifndef TAYLOR_RUNTIME_TORCH_RESULTS_H
#define TAYLOR_RUNTIME_TORCH_RESULTS_H
#include "runtime/Manifest.h"
#include <ATen/core/Tensor.h>
#include <vector>

namespace taylor {

/// A new tensor without a value. On the processor, memory of large ones comes from the runtime, which keeps
/// it when the tensor is gone: mapped anew for each call, its pages would cost an order of 1 in chunks an
/// eighth of its time (65536 tokens of 2 heads of 64).
at::Tensor emptyResult(at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions &options);

/// A tensor of a manifest's description, its elements not set, laid out like `like` where that is not null.
/// Run-time sizes are those of the first of the `inputs` that has the axis. Throws c10::Error where an input
/// has another rank than described.
at::Tensor describeResult(const runtime::Manifest &manifest, const runtime::TensorInfo &info,
                          at::TensorList inputs, const at::Tensor *like);

/// The same of a state after a call or a state's gradient: sized as the state before the call, whose size is
/// that of the target it is for.
at::Tensor describeState(const runtime::TensorInfo &info, const at::Tensor &before);

/// Puts zeros after the inputs of a call, for those of the manifest that it leaves out at the end: a
/// sequence without states of earlier calls begins here.
void appendAbsent(const runtime::Manifest &manifest, std::vector<at::Tensor> &inputs);

} // namespace taylor

#endif
