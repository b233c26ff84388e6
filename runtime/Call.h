// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call of an artifact's function: arguments checked against the manifest, then run on threads.
#pragma once
#include "runtime/Artifact.h"
#include <array>
#include <optional>

namespace taylor::runtime {

/// Run-time sizes in the order of TaylorDim.
using Dims = std::array<int64_t, TAYLOR_DIM_COUNT>;

/// At most this many tensors in one function; more are refused on load.
constexpr int maxTensors = 64;

/// A call whose arguments have been checked: what the artifact's entry points take.
struct BoundCall {
  Dims dims;
  std::array<void *, maxTensors> data;
  std::array<int64_t, maxTensors * TAYLOR_MAX_RANK> strides;
};

/// Checks `count` tensors against the slots of a function and fills `call`. Throws Error that names the
/// argument, what was expected and what came. With `shapesOnly`, data pointers are not looked at.
void bind(const Manifest &manifest, int function, const TaylorTensor *tensors, int64_t count,
          const int64_t *offset, BoundCall &call, bool shapesOnly = false);

/// The run-time sizes that some tensors (null: not given) of `infos` imply, with U - T for a missing offset.
/// The same checks of rank and size as bind(). For callers that allocate results.
Dims inferDims(const std::vector<TensorInfo> &infos, const TaylorTensor *tensors, int64_t count,
               const int64_t *offset, bool aligned);

/// How to run a bound call (TaylorRunOptions with defaults filled in).
struct Executor {
  int64_t threads = 1;
  TaylorParallelFor parallelFor = nullptr; ///< null: the runtime's own threads.
  void *context = nullptr;
  void *workspace = nullptr; ///< null: the runtime's own.
  int64_t workspaceSize = 0;
};

/// Bytes of workspace for these sizes.
int64_t workspaceSize(const TaylorFunction &function, const Dims &dims);

/// Runs all kernels of a function in order.
void run(const TaylorFunction &function, const BoundCall &call, const Executor &executor);

} // namespace taylor::runtime
