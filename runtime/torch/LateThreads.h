// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When a pool of torch's threads is better left alone, whatever interface calls it. No header of torch.
#ifndef TAYLOR_RUNTIME_TORCH_LATETHREADS_H
#define TAYLOR_RUNTIME_TORCH_LATETHREADS_H
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace taylor {

inline int64_t nanoseconds() {
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

  /// A region of so many threads began at `begin`, and is over. The calling thread had no more to do at
  /// `finished`; `isLate`: one had not come by then.
  void count(int64_t threads, int64_t begin, int64_t finished, bool isLate) {
    int64_t end = nanoseconds(), wait = end - finished, work = finished - begin;
    // Threads share blocks until none is left, so who waits much longer than it worked waits for no work.
    isLate |= wait > std::max(kTimeSlice, 3 * work);
    add(threads, end - begin, isLate ? wait : 0);
  }

private:
  /// A region of so many threads took `spent`, of which the calling thread spent `late` on waiting for one
  /// that came late.
  void add(int64_t threads, int64_t spent, int64_t late) {
    int64_t all = spentInTotal.fetch_add(spent, std::memory_order_relaxed) + spent;
    int64_t lost = lateInTotal.fetch_add(late, std::memory_order_relaxed) + late;
    if (all < kWindow)
      return;
    spentInTotal.store(0, std::memory_order_relaxed);
    lateInTotal.store(0, std::memory_order_relaxed);
    int64_t last = pause.load(std::memory_order_relaxed), next = 0;
    if (threads * lost > (threads - 1) * all) {
      next = last == 0 ? kShortest : std::min(2 * last, kLongest);
      shunnedUntil.store(nanoseconds() + next, std::memory_order_relaxed);
    }
    pause.store(next, std::memory_order_relaxed);
  }

  static constexpr int64_t kTimeSlice = 1000000; // 1 ms: the scheduler takes a core away for longer
  static constexpr int64_t kWindow = 10000000;   // 10 ms: a late thread is seen once or twice
  static constexpr int64_t kShortest = 50000000, kLongest = 1000000000; // of working alone
  std::atomic<int64_t> spentInTotal{0}, lateInTotal{0}, pause{0}, shunnedUntil{0};
};

/// Says once that there are more threads than processors: they wait for each other, at 10 to 150 times the
/// time.
class ThreadWarning {
public:
  void silence() { isGiven = true; }
  void check(int64_t threads, int processors) {
    if (threads <= processors || isGiven.exchange(true))
      return;
    fprintf(
        stderr,
        "taylor: warning: expected at most %d thread%s, as this process may use %d processor%s, but got %ld: "
        "they wait for each other; set OMP_NUM_THREADS, torch.set_num_threads() or run.threads to %d\n",
        processors, processors == 1 ? "" : "s", processors, processors == 1 ? "" : "s", long(threads),
        processors);
  }

private:
  std::atomic<bool> isGiven{false};
};

} // namespace taylor

#endif
