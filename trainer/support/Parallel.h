// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_SUPPORT_PARALLEL_H
#define TAYLOR_TRAINER_SUPPORT_PARALLEL_H
#include "trainer/support/Error.h"
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace taylor::trainer {

/// Calls work(i) for i in [0, count) on some threads; the first exception is thrown again here.
template <typename Work> void parallelFor(int64_t count, int64_t threads, Work work) {
  std::atomic<int64_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  auto run = [&] {
    try {
      for (int64_t i; (i = next++) < count;)
        work(i);
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!failure)
        failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> pool;
  for (int64_t i = 1; i < std::min(threads, count); ++i)
    pool.emplace_back(run);
  run();
  for (std::thread &thread : pool)
    thread.join();
  if (failure)
    std::rethrow_exception(failure);
}

/// What is to be said of so many threads: more than there are cores take turns and wait for each other. Empty
/// where there is nothing to say.
inline std::string warnOfThreads(const char *setting, int64_t threads) {
  int64_t cores = std::thread::hardware_concurrency();
  return cores == 0 || threads <= cores
             ? std::string()
             : text("warning: ", setting, " = ", threads, " on ", cores, cores == 1 ? " core" : " cores",
                    ": more threads than cores take turns, which is slower than fewer");
}

} // namespace taylor::trainer
#endif
