// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/distributed/Watch.h"
#include "trainer/support/Error.h"
#include <cstdio>
#include <unistd.h>

namespace taylor::trainer {

namespace {

/// What one may do about a process that is lost, and not about one that failed for a reason.
constexpr const char *kWayOut =
    "; all processes end, checkpoints are whole, and --resume goes on from the last one";
const std::string kFailed = "failed"; // REASON separator SENTENCE
constexpr char kSeparator = '\0';

std::string beatsOf(int64_t rank) { return text("beats/", rank); }

std::string content(c10d::Store &store, const std::string &key) {
  std::vector<uint8_t> value = store.get(key);
  return {value.begin(), value.end()};
}

} // namespace

std::string Watch::nameOf(int64_t rank, const std::vector<std::string> &hosts) {
  return text("process ", rank, " (", hosts[rank], ")");
}

void Watch::announce(c10d::Store &store, int64_t rank) { store.set(beatsOf(rank), std::string("none")); }

Watch::Report Watch::report(c10d::Store &store, const std::string &reason, const std::string &sentence) {
  std::string mine = reason + kSeparator + sentence;
  std::string first = store.compareSet(kFailed, std::string(), mine);
  if (first == mine)
    return Report::First;
  return first.substr(0, first.find(kSeparator)) == reason ? Report::Same : Report::Other;
}

Watch::Watch(c10::intrusive_ptr<c10d::Store> theStore, World theWorld, std::vector<std::string> theHosts)
    : store(std::move(theStore)), world(std::move(theWorld)), hosts(std::move(theHosts)),
      beating([this] { beatOften(); }), guarding([this] { guard(); }) {}

Watch::~Watch() {
  auto tell = [this](bool &what) {
    std::lock_guard lock(mutex);
    what = true;
    changed.notify_all();
  };
  tell(stopped);
  beating.join(); // under guard
  tell(silent);
  guarding.join();
}

void Watch::end(const std::string &message) {
  if (!message.empty())
    std::fprintf(stderr, "error: process %lld of %lld: %s\n", (long long)world.rank, (long long)world.size,
                 message.c_str());
  std::fflush(stderr);
  if (world.hostsStore()) // which ends with this process: the others are to read there why
    std::this_thread::sleep_for(3 * kBeat);
  ::_exit(1); // other threads wait for what will not come
}

std::string Watch::lostConnection() const {
  return text("lost the connection to ", world.agentStore ? "torchrun's store" : nameOf(0, hosts), " at ",
              world.masterAddress, ":", world.masterPort, kWayOut);
}

void Watch::lookAt(int64_t rank, const std::string &beats) {
  Clock::time_point now = Clock::now();
  auto silentFor = [&] {
    std::lock_guard lock(mutex);
    if (now - judged > kSilence / 2) // stopped itself: the others may have been too
      seen.clear();
    judged = now;
    Seen &last = seen[rank];
    if (last.beats != beats)
      last = {beats, now};
    return now - last.when;
  };
  if (silentFor() > kSilence) {
    std::string message =
        nameOf(rank, hosts) + text(" has been silent for ", kSilence.count(), " s", kWayOut);
    report(*store, message, message);
    end(message);
  }
}

void Watch::look(int64_t beats) {
  store->set(beatsOf(world.rank), std::to_string(beats));
  if (store->check({kFailed})) {
    std::string report = content(*store, kFailed);
    end(world.launched ? "" : report.substr(report.find(kSeparator) + 1)); // whose terminal has it already
  }
  if (world.isFirst()) {
    std::vector<std::string> keys;
    for (int64_t rank = 1; rank < world.size; ++rank)
      keys.push_back(beatsOf(rank));
    std::vector<std::vector<uint8_t>> values = store->multiGet(keys);
    for (int64_t rank = 1; rank < world.size; ++rank)
      lookAt(rank, {values[rank - 1].begin(), values[rank - 1].end()});
  } else {
    lookAt(0, content(*store, beatsOf(0)));
  }
}

bool Watch::sleep(Clock::duration time) {
  std::unique_lock lock(mutex);
  return !changed.wait_for(lock, time, [&] { return stopped; });
}

void Watch::beatOften() {
  int64_t beats = 0;
  do {
    try {
      look(beats++);
    } catch (const std::exception &) {
      if (sleep(Clock::duration::zero()))
        end(lostConnection());
      return;
    }
    std::lock_guard lock(mutex);
    looked = Clock::now();
  } while (sleep(kBeat));
}

void Watch::guard() {
  std::unique_lock lock(mutex);
  Clock::time_point before = Clock::now();
  while (!changed.wait_for(lock, kBeat, [&] { return silent; })) {
    Clock::time_point now = Clock::now();
    // A process that was stopped itself knows nothing about the others.
    if (now - before > kSilence / 2) {
      looked = now;
      seen.clear();
    }
    before = now;
    if (now - looked > kSilence)
      end(lostConnection());
  }
}

} // namespace taylor::trainer
