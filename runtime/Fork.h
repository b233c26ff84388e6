// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a forked child inherits from a parent with several threads. Of these the child has one: a lock that
// another held stays locked, and a descriptor that another was to close stays open.
#ifndef TAYLOR_RUNTIME_FORK_H
#define TAYLOR_RUNTIME_FORK_H
#include <mutex>

namespace taylor::runtime {

/// A mutex that fork() takes before it forks, so that no child finds it locked. It is held for moments: never
/// while something is compiled or a kernel runs, and never together with another one. Objects are static.
class BriefMutex {
public:
  BriefMutex();
  BriefMutex(const BriefMutex &) = delete;
  BriefMutex &operator=(const BriefMutex &) = delete;
  void lock() { mutex.lock(); }
  void unlock() { mutex.unlock(); }

private:
  std::mutex mutex;
  BriefMutex *next; ///< In the list of all.
  friend struct ForkHandlers;
};

/// A number that a process shares with none of its forked children.
unsigned forkGeneration();

/// Descriptors that forked children close: a lock, or an end of a pipe, lasts as long as one process has it.
class UnsharedDescriptors {
public:
  /// Calls `open`, which stores what it opened in `descriptors` (-1: nothing); no fork comes between.
  template <typename Open> static void open(Open open, std::initializer_list<int *> descriptors) {
    std::lock_guard lock(mutex());
    open();
    for (int *descriptor : descriptors)
      add(*descriptor);
  }
  /// Closes a descriptor that `open` stored, and makes it -1.
  static void close(int &descriptor);

private:
  static BriefMutex &mutex();
  static void add(int descriptor);
};

} // namespace taylor::runtime

#endif
