// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ThreadPool.h"
#include "runtime/Fork.h"
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace taylor::runtime {
namespace {

/// One call of run(): tasks are taken in order; it lives on the stack of run() until all have finished.
struct Job {
  void (*task)(void *, int64_t);
  void *context;
  int64_t tasks;
  int64_t next = 0;
  int64_t finished = 0;
};

} // namespace

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable work, done;
  std::deque<Job *> jobs; // with tasks left to take
  int64_t workers = 0;
  const unsigned generation = forkGeneration();

  /// Takes and runs one task of `job`; the lock is held before and after.
  void step(Job *job, std::unique_lock<std::mutex> &lock) {
    int64_t i = job->next++;
    if (job->next == job->tasks)
      for (auto it = jobs.begin(); it != jobs.end(); ++it)
        if (*it == job) {
          jobs.erase(it);
          break;
        }
    lock.unlock();
    job->task(job->context, i);
    lock.lock();
    if (++job->finished == job->tasks)
      done.notify_all();
  }

  void worker() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      work.wait(lock, [&] { return !jobs.empty(); });
      step(jobs.front(), lock);
    }
  }
};

ThreadPool::ThreadPool() : state(new State) {}

ThreadPool &ThreadPool::shared() {
  // A forked child has none of its parent's threads, and must not touch the lock that one of them may hold.
  static constinit std::atomic<ThreadPool *> current{nullptr};
  ThreadPool *pool = current.load(std::memory_order_acquire);
  while (!pool || pool->state->generation != forkGeneration()) {
    auto *mine = new ThreadPool;
    if (current.compare_exchange_strong(pool, mine, std::memory_order_acq_rel)) {
      pool = mine;
    } else { // another thread was faster
      delete mine->state;
      delete mine;
    }
  }
  return *pool;
}

void ThreadPool::run(int64_t tasks, void (*task)(void *, int64_t), void *context) {
  if (tasks <= 0)
    return;
  Job job{task, context, tasks};
  std::unique_lock<std::mutex> lock(state->mutex);
  for (; state->workers < tasks - 1; ++state->workers)
    try {
      std::thread([s = state] { s->worker(); }).detach();
    } catch (const std::system_error &) {
      break; // no more threads to be had: fewer do the work
    }
  state->jobs.push_back(&job);
  state->work.notify_all();
  while (job.next < job.tasks)
    state->step(&job, lock);
  state->done.wait(lock, [&] { return job.finished == job.tasks; });
}

} // namespace taylor::runtime
