// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// at::parallel_for is a header of `#pragma omp parallel`: without OpenMP in the compiler it is a plain loop,
// and with clang's it would start a second set of threads beside torch's, which come from GCC's libgomp in
// the torch wheel. GOMP_parallel is what GCC makes of the pragma (a stable interface since GCC 4.9), so
// calling it is what at::parallel_for does in torch itself.
#include "runtime/torch/Parallel.h"
#include <ATen/Parallel.h>
#include <algorithm>
#include <atomic>
#include <c10/util/ParallelGuard.h>
#include <cstdio>
#include <ctime>

extern "C" {
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_in_parallel(void);
int omp_get_num_procs(void);
}

namespace taylor {
namespace {

int64_t nanoseconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

/// Whether it is better not to call other threads at present. libgomp waits at the end of a region until each
/// of its threads has been there. One that spins for work has used up its share of a core that another
/// program wants, so it comes late, or is interrupted, for some milliseconds, while the blocks of others are
/// done. Where so much of the time goes into such waits that the calling thread alone would be faster (half
/// of it with two threads), it works alone for a while, and then tries again.
class LateThreads {
public:
  bool areShunned() const {
    int64_t until = shunnedUntil.load(std::memory_order_relaxed);
    return until != 0 && nanoseconds() < until;
  }

  /// A region of so many threads took `spent`, of which the calling thread spent `late` on waiting for one
  /// that came late.
  void count(int64_t threads, int64_t spent, int64_t late) {
    int64_t all = spentInTotal.fetch_add(spent, std::memory_order_relaxed) + spent;
    int64_t lost = lateInTotal.fetch_add(late, std::memory_order_relaxed) + late;
    if (all < window)
      return;
    spentInTotal.store(0, std::memory_order_relaxed);
    lateInTotal.store(0, std::memory_order_relaxed);
    int64_t last = pause.load(std::memory_order_relaxed), next = 0;
    if (threads * lost > (threads - 1) * all) {
      next = last == 0 ? shortest : std::min(2 * last, longest);
      shunnedUntil.store(nanoseconds() + next, std::memory_order_relaxed);
    }
    pause.store(next, std::memory_order_relaxed);
  }

private:
  static constexpr int64_t window = 10000000; // 10 ms: a late thread is seen once or twice
  static constexpr int64_t shortest = 50000000, longest = 1000000000; // of working alone
  std::atomic<int64_t> spentInTotal{0}, lateInTotal{0}, pause{0}, shunnedUntil{0};
};

LateThreads lateThreads;

constexpr int64_t timeSlice = 1000000; // 1 ms: the scheduler takes a core away for longer

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

std::atomic<bool> isThreadWarningGiven{false};

/// Threads beyond the processors wait for each other, at 10 to 150 times the time: not without a word.
void warnOfThreads(int64_t threads) {
  // With OMP_PROC_BIND this thread may use one processor, the process more: OpenMP counted them before.
  static const int processors = omp_get_num_procs();
  if (threads > processors && !isThreadWarningGiven.exchange(true))
    fprintf(
        stderr,
        "taylor: warning: expected at most %d thread%s, as this process may use %d processor%s, but got %ld: "
        "they wait for each other; set OMP_NUM_THREADS, torch.set_num_threads() or run.threads to %d\n",
        processors, processors == 1 ? "" : "s", processors, processors == 1 ? "" : "s", long(threads),
        processors);
}

} // namespace

void silenceThreadWarning() { isThreadWarningGiven = true; }

int64_t parallelThreads() {
  if (omp_in_parallel() || c10::ParallelGuard::is_enabled())
    return 1;
  int64_t threads = at::get_num_threads();
  warnOfThreads(threads);
  return threads > 1 && lateThreads.areShunned() ? 1 : threads;
}

void parallelFor(void *, int64_t tasks, void (*task)(void *, int64_t), void *taskContext) {
  at::internal::lazy_init_num_threads();
  Region region{tasks, task, taskContext};
  int64_t begin = nanoseconds();
  // 0: as omp_set_num_threads says. Other values make GCC's pool forget its threads (pytorch#32008).
  GOMP_parallel(member, &region, 0, 0);
  int64_t end = nanoseconds(), wait = end - region.finished, work = region.finished - begin;
  // Threads share blocks until none is left, so who waits much longer than it worked waits for no work.
  bool isLate = region.isLate || wait > std::max(timeSlice, 3 * work);
  lateThreads.count(region.threads, end - begin, isLate ? wait : 0);
}

} // namespace taylor
