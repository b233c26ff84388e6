// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TRAINING_BATCHLOADER_H
#define TAYLOR_TRAINER_TRAINING_BATCHLOADER_H
#include "trainer/optimization/Batch.h"
#include "trainer/text/Sampler.h"
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace taylor::trainer {

/// Makes the batches of coming steps in a thread of its own, so that a step finds its tokens in memory: text
/// that is mapped from a disk is read while the step before computes.
class BatchLoader {
public:
  /// Steps count from `first` to `end` (not included). `count` sequences from `begin` on of each step's
  /// batch. `documents`: whether batches have them.
  BatchLoader(const Sampler &sampler, bool documents, int64_t begin, int64_t count, int64_t first,
              int64_t end);
  ~BatchLoader();
  BatchLoader(const BatchLoader &) = delete;
  BatchLoader &operator=(const BatchLoader &) = delete;

  /// The next step's batch. Adds to `waited` the seconds until it was there. Throws what reading threw.
  Batch next(double &waited);

private:
  void work(int64_t first, int64_t end);
  Batch make(int64_t step) const;

  static constexpr size_t kAhead = 2; // batches that are ready
  const Sampler &sampler;
  bool documents;
  int64_t begin, count;
  std::deque<Batch> ready;
  std::exception_ptr failure;
  bool stopped = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;
};

} // namespace taylor::trainer
#endif
