// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call of an artifact's function: arguments checked against the manifest, then run on a device.
#ifndef TAYLOR_RUNTIME_CALL_H
#define TAYLOR_RUNTIME_CALL_H
#include "runtime/ArtifactFile.h"
#include <array>
#include <cstddef>
#include <functional>
#include <span>

namespace taylor::runtime {

namespace ptx {
class Module;
struct InterpreterOptions;
struct MemoryRange;
struct Profile;
struct RunReport;
} // namespace ptx

/// At most this many tensors in one function; more are refused on load.
constexpr int kMaxTensors = TAYLOR_MAX_TENSORS;

/// Decoders take up to this many new tokens in steps; more are one call of a function for many.
constexpr int64_t kMostSteps = 8;

/// A call whose arguments have been checked: what the artifact's entry points take.
struct BoundCall {
  Dims dims;
  std::array<void *, kMaxTensors> data;
  std::array<int64_t, kMaxTensors * TAYLOR_MAX_RANK> strides;
};

/// Checks `count` tensors against the slots of a function and fills `call`. Throws Error that names the
/// argument, what was expected and what came. With `shapesOnly`, data pointers are not looked at.
void bind(const Manifest &manifest, int function, const TaylorTensor *tensors, int64_t count,
          const int64_t *offset, TaylorDevice device, BoundCall &call, bool shapesOnly = false);
/// The same for a call whose sizes and offset inferDims() has found, of all the manifest's inputs: each
/// tensor's sizes are compared with them.
void bind(const Manifest &manifest, int function, const TaylorTensor *tensors, int64_t count,
          const Dims &inferred, TaylorDevice device, BoundCall &call);

/// Whether bind() takes a tensor's strides and address: the elements of a last channel are neighbours, and
/// with `aligned16` (Slot) code for a GPU can copy it 16 bytes at a time. For callers that copy what does not
/// lie so. A tensor of another rank is bind()'s to refuse.
bool isReadable(const TensorInfo &info, const TaylorTensor &tensor, bool aligned16);

/// The run-time sizes that some tensors (null: not given) of `infos` imply, with U - T for a missing offset.
/// The same checks of rank and size as bind(). For callers that allocate results.
Dims inferDims(const std::vector<TensorInfo> &infos, const TaylorTensor *tensors, int64_t count,
               const int64_t *offset, bool aligned);

/// How the interpreter of PTX runs.
struct PtxSettings {
  uint64_t seed = 0;  ///< Of the order of warps.
  bool checks = true; ///< Uninitialised values, races, reads of what is still being copied.
  /// Called after each kernel with what it executed; empty: nothing is counted.
  using Profiler = std::function<void(const std::string &function, const KernelInfo &kernel, unsigned blocks,
                                      const ptx::Profile &profile)>;
  Profiler profile;
  /// Runs one kernel of a module in place of ptx::launch: a test keeps what it was given, or runs another
  /// text. Empty: ptx::launch.
  using Launcher = std::function<ptx::RunReport(const ptx::Module &module, const KernelInfo &kernel,
                                                unsigned blocks, std::span<const std::byte> parameters,
                                                std::span<const ptx::MemoryRange> memory,
                                                const ptx::InterpreterOptions &options)>;
  Launcher launch = {};
  /// Hands each profile to `given.profile`, in the form of the C interface. `given` outlives it.
  static Profiler profilerOf(const TaylorPtxOptions &given);
  /// Seed and checks from TAYLOR_PTX_SEED and TAYLOR_PTX_CHECKS (0 or 1). Throws Error where one is neither.
  static PtxSettings fromEnvironment();
};

/// How to run a bound call (TaylorRunOptions with defaults filled in).
struct Executor {
  TaylorDevice device = TAYLOR_CPU;
  int64_t threads = 1;                     ///< Of the processor and the interpreter.
  TaylorParallelFor parallelFor = nullptr; ///< null: the runtime's own threads.
  void *context = nullptr;
  void *workspace = nullptr; ///< null: the runtime's own.
  int64_t workspaceSize = 0;
  void *stream = nullptr;     ///< CUstream
  std::string_view form = {}; ///< Of the function's code; empty: the cheapest by its cost.
  PtxSettings ptx = {};
};

/// Bytes of workspace for these sizes on the executor's device, in its form.
int64_t workspaceSize(const Artifact &artifact, int function, const Dims &dims, const Executor &executor);
/// Name of the form that run() takes for these sizes; " on TARGET" follows where the first target for the GPU
/// cannot run a call of these strides.
const std::string &formOf(const Artifact &artifact, int function, const BoundCall &call,
                          const Executor &executor);

/// Runs all kernels of a function in order, on the executor's device. On a GPU it returns when they are on
/// the stream.
void run(const Artifact &artifact, int function, const BoundCall &call, const Executor &executor);
/// The same for functions of this processor.
void runOnHost(const TaylorFunction &function, const BoundCall &call, const Executor &executor);

/// Throws Error unless the workspace that a caller brought is as large and aligned as a call needs it.
void checkWorkspace(int64_t size, const Executor &executor);

/// The executor's workspace where it has one, else what `allocate` gives, which is not asked for nothing.
template <typename Allocate>
void *chooseWorkspace(int64_t size, const Executor &executor, Allocate allocate) {
  if (!executor.workspace)
    return size > 0 ? allocate() : nullptr;
  checkWorkspace(size, executor);
  return executor.workspace;
}

} // namespace taylor::runtime

#endif
