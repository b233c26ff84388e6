// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Memory.h"
#include "runtime/Error.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>
#include <tuple>
#include <vector>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace taylor::runtime {
namespace {

void *allocate(size_t size) { return std::aligned_alloc(64, (size + 63) / 64 * 64); }

std::atomic<size_t> scratchBytes{0}; // of all threads

struct Scratch {
  void *pointer = nullptr;
  size_t bytes = 0;
  ~Scratch() { resize(0); }

  void resize(size_t size) {
    std::free(pointer);
    scratchBytes -= bytes;
    pointer = nullptr;
    bytes = 0;
    if (size == 0)
      return;
    pointer = allocate(size);
    if (!pointer)
      throw std::bad_alloc();
    scratchBytes += bytes = size;
  }
};

/// Free workspaces of the process.
struct Pool {
  static constexpr size_t keep = 4; // more than this many are freed, the smallest first
  std::mutex mutex;
  std::vector<std::pair<size_t, void *>> free; // ascending
};

// Neither is destroyed: a thread may still run while the process ends.
Pool &pool() {
  static Pool *shared = new Pool;
  return *shared;
}

/// Memory of results that nobody reads any more.
struct FreeResults {
  static constexpr size_t mostBlocks = 8, mostBytes = size_t(1) << 30;
  std::mutex mutex;
  std::deque<std::pair<size_t, void *>> blocks; // the oldest first

  size_t bytes() const {
    size_t sum = 0;
    for (auto &[size, pointer] : blocks)
      sum += size;
    return sum;
  }
};

FreeResults &freeResults() {
  static FreeResults *shared = new FreeResults;
  return *shared;
}

} // namespace

void keepFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1); // never
#endif
}

void *threadScratch(size_t size) {
  static thread_local Scratch scratch;
  if (size > scratch.bytes)
    scratch.resize(size);
  return scratch.pointer;
}

size_t keptMemory() {
  size_t bytes = scratchBytes;
  std::lock_guard<std::mutex> lock(pool().mutex);
  for (auto &[size, pointer] : pool().free)
    bytes += size;
  std::lock_guard<std::mutex> lockResults(freeResults().mutex);
  return bytes + freeResults().bytes();
}

Workspace::Workspace(size_t size) {
  void *outgrown = nullptr;
  {
    std::lock_guard<std::mutex> lock(pool().mutex);
    auto &free = pool().free;
    auto fit = std::lower_bound(free.begin(), free.end(), std::make_pair(size, (void *)nullptr));
    if (fit != free.end()) {
      std::tie(bytes, pointer) = *fit;
      free.erase(fit);
      return;
    }
    if (!free.empty()) { // grow the largest instead of keeping it beside the new one
      outgrown = free.back().second;
      free.pop_back();
    }
  }
  std::free(outgrown);
  pointer = allocate(size);
  if (!pointer)
    fail("could not allocate a workspace of ", size, " bytes");
  bytes = size;
}

Workspace::~Workspace() {
  if (!pointer)
    return;
  void *excess = nullptr;
  {
    std::lock_guard<std::mutex> lock(pool().mutex);
    auto &free = pool().free;
    free.insert(std::lower_bound(free.begin(), free.end(), std::make_pair(bytes, pointer)), {bytes, pointer});
    if (free.size() > Pool::keep) {
      excess = free.front().second;
      free.erase(free.begin());
    }
  }
  std::free(excess);
}

ResultMemory::ResultMemory(size_t size) : bytes(size) {
  if (size >= kLeastKept) {
    std::lock_guard<std::mutex> lock(freeResults().mutex);
    auto &blocks = freeResults().blocks;
    // The newest, which the caches may still have some of; an eighth more than is needed is not missed.
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
      if (block->first >= size && block->first <= size + size / 8) {
        std::tie(bytes, pointer) = *block;
        blocks.erase(std::next(block).base());
        return;
      }
  }
  pointer = allocate(std::max<size_t>(size, 1));
  if (!pointer)
    throw std::bad_alloc();
}

ResultMemory::~ResultMemory() {
  if (bytes < kLeastKept) {
    std::free(pointer);
    return;
  }
  std::vector<void *> excess;
  {
    std::lock_guard<std::mutex> lock(freeResults().mutex);
    auto &blocks = freeResults().blocks;
    blocks.push_back({bytes, pointer});
    while (!blocks.empty() &&
           (blocks.size() > FreeResults::mostBlocks || freeResults().bytes() > FreeResults::mostBytes)) {
      excess.push_back(blocks.front().second);
      blocks.pop_front();
    }
  }
  for (void *block : excess)
    std::free(block);
}

} // namespace taylor::runtime
