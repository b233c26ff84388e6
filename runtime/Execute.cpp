// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of a bound call, one after the other, each as a grid of blocks that threads take.
#include "runtime/Blocks.h"
#include "runtime/Call.h"
#include "runtime/DeviceCode.h"
#include "runtime/Error.h"
#include "runtime/Memory.h"
#include "runtime/ThreadPool.h"
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace taylor::runtime {
namespace {

/// The floating-point mode of a kernel: round to nearest, no traps, and subnormal numbers taken and given as
/// 0. A caller's own mode would change results from thread to thread, and subnormal operands cost a hundred
/// times more.
class KernelMode {
public:
#if defined(__x86_64__)
  KernelMode() : saved(_mm_getcsr()) { _mm_setcsr(0x9fc0); }
  ~KernelMode() { _mm_setcsr(saved); }

private:
  unsigned saved;
#endif
};

/// What the threads of one kernel share.
struct Grid {
  const TaylorFunction &function;
  const TaylorCall &call;
  int64_t kernel;
  Blocks blocks;
  std::atomic<bool> outOfMemory{false};

  void work(int64_t thread) {
    void *scratch = nullptr;
    try {
      scratch = threadScratch(size_t(function.scratch));
    } catch (const std::bad_alloc &) {
      outOfMemory = true;
      return;
    }
    KernelMode mode;
    for (int64_t begin, end; blocks.take(thread, begin, end);)
      function.run(&call, kernel, begin, end, scratch);
  }
};

int64_t hostWorkspaceSize(const TaylorFunction &function, const Dims &dims) {
  int64_t size = function.workspace(dims.data());
  if (size < 0)
    fail("unsupported sizes: the kernel's workspace would pass 2^63 bytes");
  return size;
}

/// Whether a call leaves out a tensor that its kernels read.
bool isLeftOut(const Slot &slot, const void *data) { return slot.optional && !slot.written && !data; }

bool leavesOut(const Manifest &manifest, int function, const BoundCall &call) {
  const FunctionInfo &info = manifest.functions[size_t(function)];
  for (size_t i = 0; i < info.slots.size(); ++i)
    if (isLeftOut(info.slots[i], call.data[i]))
      return true;
  return false;
}

/// Gives zeros to the optional tensors that a call reads and that its caller left out.
class ZeroFilled {
public:
  ZeroFilled(const Manifest &manifest, int function, const BoundCall &given, TaylorDevice device)
      : call(given) {
    const FunctionInfo &info = manifest.functions[size_t(function)];
    for (size_t i = 0; i < info.slots.size(); ++i) {
      const Slot &slot = info.slots[i];
      if (!isLeftOut(slot, call.data[i]))
        continue;
      const TensorInfo &tensor = manifest.tensor(slot);
      if (device == TAYLOR_CUDA)
        fail("requires data of '", slot.label, "' on a GPU, but got none; give zeros");
      int64_t elements = 1;
      for (size_t axis = tensor.axes.size(); axis-- > 0;) {
        call.strides[i * TAYLOR_MAX_RANK + axis] = elements;
        const TensorAxis &one = tensor.axes[axis];
        if (__builtin_mul_overflow(elements, one.isChannel() ? one.size : call.dims[size_t(one.dim)],
                                   &elements))
          fail("unsupported sizes: '", slot.label, "' would pass 2^63 elements");
      }
      zeros.emplace_back(size_t(elements * dtypeSize(tensor.dtype)));
      std::memset(zeros.back().data(), 0, size_t(elements * dtypeSize(tensor.dtype)));
      call.data[i] = zeros.back().data();
    }
  }
  BoundCall call;

private:
  std::vector<Workspace> zeros;
};

} // namespace

void runOnHost(const TaylorFunction &function, const BoundCall &bound, const Executor &executor) {
  int64_t size = hostWorkspaceSize(function, bound.dims);
  Workspace own;
  void *workspace = chooseWorkspace(size, executor, [&] {
    own = Workspace(size_t(size));
    return own.data();
  });
  TaylorCall call{bound.dims.data(), bound.data.data(), bound.strides.data(), workspace};
  for (int64_t kernel = 0; kernel < function.kernels; ++kernel) {
    int64_t count = function.blocks(bound.dims.data(), kernel);
    if (count <= 0)
      continue;
    int64_t tasks = std::clamp<int64_t>(executor.threads, 1, count);
    Grid grid{function, call, kernel, Blocks(count, tasks)};
    if (tasks == 1) {
      grid.work(0);
    } else {
      auto task = [](void *context, int64_t i) { static_cast<Grid *>(context)->work(i); };
      if (executor.parallelFor)
        executor.parallelFor(executor.context, tasks, task, &grid);
      else
        ThreadPool::shared().run(tasks, task, &grid);
    }
    if (grid.outOfMemory)
      fail("could not allocate ", function.scratch, " bytes of scratch for each thread");
    if (int64_t left = grid.blocks.left())
      fail("expected parallel_for to run ", tasks, " tasks, but it left ", left, " of ", count,
           " blocks undone");
  }
}

int64_t workspaceSize(const Artifact &artifact, int function, const Dims &dims, const Executor &executor) {
  return executor.device == TAYLOR_CPU
             ? hostWorkspaceSize(*artifact.function(function, dims, executor.form).entry, dims)
             : artifact.device().workspaceSize(function, dims, executor.form);
}

const std::string &formOf(const Artifact &artifact, int function, const BoundCall &call,
                          const Executor &executor) {
  return executor.device == TAYLOR_CPU ? artifact.function(function, call.dims, executor.form).code->name
                                       : artifact.device().formOf(function, call, executor);
}

void checkWorkspace(int64_t size, const Executor &executor) {
  if (executor.workspaceSize < size)
    fail("expected a workspace of at least ", size, " bytes, but got ", executor.workspaceSize);
  if (reinterpret_cast<uintptr_t>(executor.workspace) % 64 != 0)
    fail("expected a workspace aligned to 64 bytes, but got address ", executor.workspace);
}

static void runBound(const Artifact &artifact, int function, const BoundCall &call,
                     const Executor &executor) {
  switch (executor.device) {
  case TAYLOR_CPU:
    return runOnHost(*artifact.function(function, call.dims, executor.form).entry, call, executor);
  case TAYLOR_CUDA:
    return artifact.device().launch(function, call, executor);
  case TAYLOR_PTX:
    return artifact.device().interpret(function, call, executor);
  }
}

void run(const Artifact &artifact, int function, const BoundCall &call, const Executor &executor) {
  if (!leavesOut(artifact.manifest(), function, call))
    return runBound(artifact, function, call, executor);
  ZeroFilled filled(artifact.manifest(), function, call, executor.device);
  runBound(artifact, function, filled.call, executor);
}

PtxSettings PtxSettings::fromEnvironment() {
  auto number = [](const char *name, uint64_t fallback, uint64_t most) {
    const char *text = std::getenv(name);
    if (!text || !*text)
      return fallback;
    uint64_t value = 0;
    const char *last = text + std::strlen(text);
    auto [end, error] = std::from_chars(text, last, value);
    if (error != std::errc() || end != last || value > most)
      fail("expected a number", most == 1 ? ", 0 or 1," : "", " in ", name, ", but got '", text, "'");
    return value;
  };
  PtxSettings settings;
  settings.seed = number("TAYLOR_PTX_SEED", 0, UINT64_MAX);
  settings.checks = number("TAYLOR_PTX_CHECKS", 1, 1) != 0;
  return settings;
}

} // namespace taylor::runtime
