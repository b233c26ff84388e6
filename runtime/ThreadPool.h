// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The threads used by callers that bring none.
#ifndef TAYLOR_RUNTIME_THREADPOOL_H
#define TAYLOR_RUNTIME_THREADPOOL_H
#include <cstdint>
#include <memory>

namespace taylor::runtime {

class ThreadPool {
public:
  /// The process's pool; it grows to the most threads ever asked for, and starts none before.
  static ThreadPool &shared();

  /// Runs task(context, i) for i in [0, tasks), one of them in the calling thread; returns when all have
  /// returned. Several threads may call it at once; a task must not.
  void run(int64_t tasks, void (*task)(void *, int64_t), void *context);

private:
  ThreadPool();
  struct State;
  State *state; // never destroyed: workers may outlive static destructors
};

} // namespace taylor::runtime

#endif
