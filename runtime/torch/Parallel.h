// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Torch's own threads, so that kernels and torch's operators never compete for cores.
#ifndef TAYLOR_RUNTIME_TORCH_PARALLEL_H
#define TAYLOR_RUNTIME_TORCH_PARALLEL_H
#include <cstdint>

namespace taylor {

/// Threads that torch would use here (at::get_num_threads; 1 inside a parallel region), or 1 where others
/// have come late. Says once on stderr where they are more than the processors.
int64_t parallelThreads();

/// The program has said itself that there are more threads than processors: nothing more is to be said.
void silenceThreadWarning();

/// A TaylorParallelFor on torch's intra-op threads.
void parallelFor(void *context, int64_t tasks, void (*task)(void *, int64_t), void *taskContext);

} // namespace taylor

#endif
