// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// at::parallel_for is a header of `#pragma omp parallel`: without OpenMP in the compiler it is a plain loop,
// and with clang's it would start a second set of threads beside torch's, which come from GCC's libgomp in
// the torch wheel. GOMP_parallel is what GCC makes of the pragma (a stable interface since GCC 4.9), so
// calling it is what at::parallel_for does in torch itself.
#include "runtime/torch/Parallel.h"
#include <ATen/Parallel.h>
#include <c10/util/ParallelGuard.h>

extern "C" {
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_in_parallel(void);
}

namespace taylor {
namespace {

struct Region {
  int64_t tasks;
  void (*task)(void *, int64_t);
  void *context;
};

void member(void *data) {
  const Region &region = *static_cast<Region *>(data);
  int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
  if (thread >= region.tasks)
    return;
  c10::ParallelGuard guard(true);
  for (int64_t i = thread; i < region.tasks; i += threads)
    region.task(region.context, i);
}

} // namespace

int64_t parallelThreads() {
  return omp_in_parallel() || c10::ParallelGuard::is_enabled() ? 1 : at::get_num_threads();
}

void parallelFor(void *, int64_t tasks, void (*task)(void *, int64_t), void *taskContext) {
  at::internal::lazy_init_num_threads();
  Region region{tasks, task, taskContext};
  // 0: as omp_set_num_threads says. Other values make GCC's pool forget its threads (pytorch#32008).
  GOMP_parallel(member, &region, 0, 0);
}

} // namespace taylor
