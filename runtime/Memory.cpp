// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Memory.h"
#include "runtime/Error.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

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

Pool &pool() {
  static Pool *shared = new Pool; // never destroyed: a thread may still run while the process ends
  return *shared;
}

} // namespace

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
  return bytes;
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

} // namespace taylor::runtime
