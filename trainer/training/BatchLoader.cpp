// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/training/BatchLoader.h"
#include "trainer/support/Clock.h"
#include <ATen/ATen.h>

namespace taylor::trainer {

BatchLoader::BatchLoader(const Sampler &sampler, bool documents, int64_t begin, int64_t count, int64_t first,
                         int64_t end)
    : sampler(sampler), documents(documents), begin(begin), count(count),
      thread([this, first, end] { work(first, end); }) {}

BatchLoader::~BatchLoader() {
  {
    std::lock_guard lock(mutex);
    stopped = true;
  }
  changed.notify_all();
  thread.join();
}

Batch BatchLoader::make(int64_t step) const {
  int64_t length = sampler.length();
  Batch batch;
  batch.inputs = at::empty({count, length}, at::kLong);
  batch.targets = at::empty({count, length}, at::kLong);
  batch.weights = at::empty({count}, at::kFloat);
  if (documents)
    batch.documents = at::empty({count, length}, at::kInt);
  for (int64_t i = 0; i < count; ++i) {
    sampler.sample(step, begin + i, batch.inputs.mutable_data_ptr<int64_t>() + i * length,
                   batch.targets.mutable_data_ptr<int64_t>() + i * length);
    if (documents)
      sampler.documents(step, begin + i, batch.documents.mutable_data_ptr<int32_t>() + i * length);
    batch.weights.mutable_data_ptr<float>()[i] = sampler.weight(step, begin + i);
  }
  batch.counted = sampler.counted(step);
  return batch;
}

void BatchLoader::work(int64_t first, int64_t end) {
  for (int64_t step = first; step < end; ++step) {
    Batch batch;
    std::exception_ptr caught;
    try {
      batch = make(step);
    } catch (...) {
      caught = std::current_exception();
    }
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stopped || ready.size() < kAhead; });
    if (stopped)
      return;
    failure = caught;
    if (!caught)
      ready.push_back(std::move(batch));
    changed.notify_all();
    if (caught)
      return;
  }
}

Batch BatchLoader::next(double &waited) {
  Clock::time_point start = Clock::now();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return !ready.empty() || failure; });
  waited += secondsSince(start);
  if (ready.empty())
    std::rethrow_exception(failure);
  Batch batch = std::move(ready.front());
  ready.pop_front();
  changed.notify_all();
  return batch;
}

} // namespace taylor::trainer
