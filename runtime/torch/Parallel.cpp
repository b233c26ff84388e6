// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// at::parallel_for is a header of `#pragma omp parallel`: without OpenMP in the compiler it is a plain loop,
// and with clang's it would start a second set of threads next to torch's, which come from GCC's libgomp in
// the torch wheel. GOMP_parallel is what GCC makes of the pragma (a stable interface since GCC 4.9), so
// calling it is what at::parallel_for does in torch itself.
#include "runtime/torch/Parallel.h"
#include "runtime/torch/LateThreads.h"
#include <ATen/Parallel.h>
#include <c10/util/ParallelGuard.h>

extern "C" {
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_in_parallel(void);
int omp_get_num_procs(void);
}

namespace taylor {
namespace {

LateThreads lateThreads;
ThreadWarning threadWarning;

struct Region {
  int64_t tasks;
  void (*task)(void *, int64_t);
  void *context;
  std::atomic<int64_t> begun{0}; ///< Threads that have come.
  int64_t threads = 1;
  bool isLate = false;  ///< One had not come when the calling thread had no more to do.
  int64_t finished = 0; ///< When that was.
};

void member(void *data) {
  Region &region = *static_cast<Region *>(data);
  int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
  region.begun.fetch_add(1, std::memory_order_relaxed);
  if (thread < region.tasks) {
    c10::ParallelGuard guard(true);
    for (int64_t i = thread; i < region.tasks; i += threads)
      region.task(region.context, i);
  }
  if (thread == 0) {
    region.threads = threads;
    region.isLate = region.begun.load(std::memory_order_relaxed) < threads;
    region.finished = nanoseconds();
  }
}

} // namespace

void silenceThreadWarning() { threadWarning.silence(); }

int64_t parallelThreads() {
  if (omp_in_parallel() || c10::ParallelGuard::is_enabled())
    return 1;
  // With OMP_PROC_BIND this thread may use one processor, the process more: OpenMP counted them before.
  static const int processors = omp_get_num_procs();
  int64_t threads = at::get_num_threads();
  threadWarning.check(threads, processors);
  return threads > 1 && lateThreads.areShunned() ? 1 : threads;
}

void parallelFor(void *, int64_t tasks, void (*task)(void *, int64_t), void *taskContext) {
  at::internal::lazy_init_num_threads();
  Region region{tasks, task, taskContext};
  int64_t begin = nanoseconds();
  // 0: as omp_set_num_threads says. Other values make GCC's pool forget its threads (pytorch#32008).
  GOMP_parallel(member, &region, 0, 0);
  lateThreads.count(region.threads, begin, region.finished, region.isLate);
}

} // namespace taylor
