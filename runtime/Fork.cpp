// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Fork.h"
#include <algorithm>
#include <atomic>
#include <pthread.h>
#include <unistd.h>
#include <vector>

namespace taylor::runtime {
namespace {

constinit BriefMutex *newest = nullptr;
constinit std::atomic<unsigned> generation{0};

/// Never destroyed: a thread may still run while the process ends.
std::vector<int> &unshared() {
  static auto *descriptors = new std::vector<int>;
  return *descriptors;
}

} // namespace

struct ForkHandlers {
  static void prepare() {
    for (BriefMutex *mutex = newest; mutex; mutex = mutex->next)
      mutex->lock();
  }
  static void release() {
    for (BriefMutex *mutex = newest; mutex; mutex = mutex->next)
      mutex->unlock();
  }
  static void child() {
    ++generation;
    for (int descriptor : unshared())
      ::close(descriptor);
    unshared().clear();
    release();
  }
};

BriefMutex::BriefMutex() : next(newest) {
  if (!newest) {
    unshared();
    pthread_atfork(ForkHandlers::prepare, ForkHandlers::release, ForkHandlers::child);
  }
  newest = this;
}

unsigned forkGeneration() { return generation.load(std::memory_order_relaxed); }

static BriefMutex descriptorsMutex;

BriefMutex &UnsharedDescriptors::mutex() { return descriptorsMutex; }

void UnsharedDescriptors::add(int descriptor) {
  if (descriptor >= 0)
    unshared().push_back(descriptor);
}

void UnsharedDescriptors::close(int &descriptor) {
  if (descriptor < 0)
    return;
  std::lock_guard lock(mutex());
  // A child of a fork that came before has closed it, and the number may be another file's by now.
  auto found = std::ranges::find(unshared(), descriptor);
  if (found != unshared().end()) {
    unshared().erase(found);
    ::close(descriptor);
  }
  descriptor = -1;
}

} // namespace taylor::runtime
