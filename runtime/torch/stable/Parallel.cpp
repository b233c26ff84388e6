// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Torch's own threads by the stable ABI, so that kernels and torch's operators never compete for cores.
#include "runtime/torch/LateThreads.h"
#include "runtime/torch/stable/Stable.h"
#include <dlfcn.h>
#include <sched.h>

namespace taylor {
namespace {

LateThreads lateThreads;
ThreadWarning threadWarning;

/// A function of OpenMP by its public name, or null: torch's own library is where torch has put it, if
/// anywhere.
template <typename Function> Function *openmp(const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_DEFAULT, name));
}

/// That the process may use. With OMP_PROC_BIND this thread may use one, and OpenMP counted them before.
int processors() {
  if (auto *count = openmp<int()>("omp_get_num_procs"))
    return count();
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : CPU_SETSIZE;
}

struct Region {
  int64_t tasks;
  void (*task)(void *, int64_t);
  void *context;
  std::atomic<int64_t> begun{0}; ///< Tasks whose threads have come.
  bool isLate = false;           ///< One had not when the calling thread had no more to do.
  int64_t finished = 0;          ///< When that was.
};

/// The calling thread has the first task.
void runSome(int64_t begin, int64_t end, void *data) {
  Region &region = *static_cast<Region *>(data);
  region.begun.fetch_add(end - begin, std::memory_order_relaxed);
  for (int64_t i = begin; i < end; ++i)
    region.task(region.context, i);
  if (begin == 0) {
    region.isLate = region.begun.load(std::memory_order_relaxed) < region.tasks;
    region.finished = nanoseconds();
  }
}

} // namespace

int64_t Stable::threads() {
  static auto *isInParallel = openmp<int()>("omp_in_parallel");
  if (isInParallel && isInParallel())
    return 1;
  static const int available = processors();
  uint32_t threads = 1;
  checkTorch(torch_get_num_threads(&threads), "tell its number of threads");
  threadWarning.check(threads, available);
  return threads > 1 && lateThreads.areShunned() ? 1 : threads;
}

void Stable::parallelFor(void *, int64_t tasks, void (*task)(void *, int64_t), void *taskContext) {
  Region region{tasks, task, taskContext};
  int64_t begin = nanoseconds();
  checkTorch(torch_parallel_for(0, tasks, 1, runSome, &region), "run on its threads");
  lateThreads.count(tasks, begin, region.finished, region.isLate);
}

} // namespace taylor
