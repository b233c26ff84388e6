// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a program on torch tensors (CallOf, for libtorch's C++). Everything that autograd, tracing and
// autocast need on top stands in Operator.cpp.
#ifndef TAYLOR_RUNTIME_TORCH_CALL_H
#define TAYLOR_RUNTIME_TORCH_CALL_H
#include "runtime/Error.h"
#include "runtime/torch/Attention.h"
#include "runtime/torch/CallOf.h"
#include "runtime/torch/Registry.h"
#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <optional>

namespace taylor {

using Tensors = std::vector<at::Tensor>;

/// Runs `body`; the runtime's errors become torch's.
template <typename Body> auto checked(Body body) {
  try {
    return body();
  } catch (const runtime::Error &error) {
    TORCH_CHECK(false, "taylor: ", error.what());
  }
}

/// The tensor as the C interface takes it, which holds as long as the tensor does; the dtype is -1 where the
/// interface has none for it.
TaylorTensor describe(const at::Tensor &tensor);

/// The manifest of the kernel that serves these inputs: dtype, head sizes and device are read from them.
/// Works on tensors without data. Compiles what Program::manifest does.
const runtime::Manifest &manifestFor(Program &program, at::TensorList inputs);

/// Outputs, then saved tensors where `save` is set. Inputs are on the processor or on one GPU, whose current
/// stream the work is put on; learned parameters of another floating dtype are converted, and what code for a
/// GPU cannot read as it lies is copied.
Tensors runForward(Program &program, at::TensorList inputs, std::optional<int64_t> offset, bool save);

/// Gradients of the inputs whose indices stand in `wanted`, in that order. `outputs` and `saved` may be empty
/// where backwardReads() says that nothing reads them.
Tensors runBackward(Program &program, at::TensorList inputs, at::TensorList outputs, at::TensorList saved,
                    at::TensorList cotangents, std::optional<int64_t> offset, c10::IntArrayRef wanted);

/// Outputs but final states, of the function `step`. `inputs` are those of the manifest that are no initial
/// states; `states` are these, which become the final ones in their memory.
Tensors runStep(Program &program, at::TensorList inputs, at::TensorList states,
                std::optional<int64_t> offset);

/// Outputs but final states, of new tokens after `tokens` others: `append`, then `step` or `extend`.
/// `inputs` are as above, of the new tokens; `cache` is what the manifest calls so, with room for them, and
/// grows in place.
Tensors runDecode(Program &program, at::TensorList inputs, at::TensorList cache, at::TensorList states,
                  int64_t tokens);

} // namespace taylor

#endif
