// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program does while work takes longer than a person waits without a word.
#ifndef TAYLOR_RUNTIME_SLOWWORK_H
#define TAYLOR_RUNTIME_SLOWWORK_H
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace taylor::runtime {

/// Seconds before a program says on stderr what it is doing.
constexpr double kPatience = 2;

/// On a terminal: goes back to the begin of a line that is redrawn, and takes the line away.
constexpr const char *kClearLine = "\r\033[K";

/// While this lives, a thread of its own calls `show` with the seconds that have passed: once kPatience is
/// over, and again after the seconds that `show` returned.
class SlowWork {
public:
  using Show = std::function<double(double seconds)>;
  explicit SlowWork(Show show) : show(std::move(show)), watcher([this] { watch(); }) {}
  ~SlowWork() { end(); }
  SlowWork(const SlowWork &) = delete;
  SlowWork &operator=(const SlowWork &) = delete;

  /// Nothing is called any more after this; the destructor's part, where something follows in its owner's.
  void end() {
    {
      std::lock_guard lock(mutex);
      done = true;
    }
    ended.notify_one();
    if (watcher.joinable())
      watcher.join();
  }

private:
  using Seconds = std::chrono::duration<double>;
  void watch() {
    auto start = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex);
    for (Seconds wait(kPatience); !ended.wait_for(lock, wait, [&] { return done; });)
      wait = Seconds(show(Seconds(std::chrono::steady_clock::now() - start).count()));
  }

  Show show;
  bool done = false;
  std::mutex mutex;
  std::condition_variable ended;
  std::thread watcher;
};

} // namespace taylor::runtime

#endif
