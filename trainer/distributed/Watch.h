// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_DISTRIBUTED_WATCH_H
#define TAYLOR_TRAINER_DISTRIBUTED_WATCH_H
#include "trainer/distributed/World.h"
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace taylor::trainer {

/// Ends this process, with a message that names another, once that one has died, has been silent for
/// `silence` or has said why it fails: whoever waits for it in a collective would wait for ever. A thread
/// beats once a second in the store; process 0 looks at all, the others at process 0, which says whom it
/// misses. A second one ends the process where the first is stuck: what is asked over a cable that is cut has
/// no answer and no error.
class Watch {
public:
  static constexpr std::chrono::seconds kBeat{1}, kSilence{15};

  /// `store`: a connection of its own. `hosts`: the machine of each process, for messages.
  Watch(c10::intrusive_ptr<c10d::Store> store, World world, std::vector<std::string> hosts);
  ~Watch();
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;

  /// This process' first beat, before the watch's own: no one is to wait for it.
  static void announce(c10d::Store &store, int64_t rank);
  /// Tells the others to end, unless somebody has already: `sentence` is what they say, and `reason` what
  /// went wrong, whoever found it. Returns whether this was the first, or the first had the same reason.
  enum class Report { First, Same, Other };
  static Report report(c10d::Store &store, const std::string &reason, const std::string &sentence);
  /// "process 3 (host)".
  static std::string nameOf(int64_t rank, const std::vector<std::string> &hosts);

private:
  using Clock = std::chrono::steady_clock;
  void beatOften();
  void guard();
  /// Waits for `time`, unless this ends meanwhile: then false.
  bool sleep(Clock::duration time);
  void look(int64_t beats);
  void lookAt(int64_t rank, const std::string &beats);
  std::string lostConnection() const;
  [[noreturn]] void end(const std::string &message);

  c10::intrusive_ptr<c10d::Store> store;
  World world;
  std::vector<std::string> hosts;
  struct Seen {
    std::string beats;
    Clock::time_point when;
  };
  std::map<int64_t, Seen> seen;
  Clock::time_point judged = Clock::now(); // when another process was last looked at
  Clock::time_point looked = Clock::now(); // when the store last answered
  bool stopped = false, silent = false;    // no beats are wanted; there are none any more
  std::mutex mutex;
  std::condition_variable changed;
  std::thread beating, guarding;
};

} // namespace taylor::trainer
#endif
