// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Memory.h"
#include "runtime/Error.h"
#include "runtime/Fork.h"
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <tuple>
#include <utility>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace taylor::runtime {
namespace {

/// In front of the memory of a result, as long as its alignment.
struct ResultHeader {
  size_t bytes; // of the whole block
};
constexpr size_t kHeaderBytes = 64;

/// Both lists live as long as the process: a thread may still run while it ends.
BriefMutex resultsMutex, workspacesMutex;

/// Memory of results that nothing reads any more. No call of it allocates: it is asked where memory is short.
class FreeResults {
public:
  static constexpr size_t kMostBlocks = 8, kMostBytes = size_t(1) << 30;

  /// A block of at least so many bytes and at most an eighth more, the newest such; null if there is none.
  void *take(size_t bytes) {
    std::lock_guard lock(resultsMutex);
    for (size_t i = count; i-- > 0;)
      if (size_t size = bytesOf(blocks[i]); size >= bytes && size <= bytes + bytes / 8) {
        void *block = blocks[i];
        remove(i);
        return block;
      }
    return nullptr;
  }

  /// Keeps a block, which is smaller than `mostBytes`; frees older ones.
  void give(void *block) {
    std::lock_guard lock(resultsMutex);
    while (count == kMostBlocks || (count > 0 && sum + bytesOf(block) > kMostBytes)) {
      void *oldest = blocks[0];
      remove(0);
      std::free(oldest);
    }
    blocks[count++] = block;
    sum += bytesOf(block);
  }

  void drop() {
    std::lock_guard lock(resultsMutex);
    while (count > 0) {
      void *block = blocks[count - 1];
      remove(count - 1);
      std::free(block);
    }
  }

  size_t bytes() {
    std::lock_guard lock(resultsMutex);
    return sum;
  }

  static size_t bytesOf(void *block) { return static_cast<ResultHeader *>(block)->bytes; }

private:
  void remove(size_t i) {
    sum -= bytesOf(blocks[i]);
    std::copy(blocks.begin() + i + 1, blocks.begin() + count, blocks.begin() + i);
    --count;
  }

  std::array<void *, kMostBlocks> blocks{}; // the oldest first
  size_t count = 0, sum = 0;
};

constinit FreeResults freeResults;

/// 64-byte aligned. Kept results are freed before it gives up; null where there is no memory then.
void *allocate(size_t size) {
  auto aligned = [&] { return std::aligned_alloc(64, (size + 63) / 64 * 64); };
  void *pointer = aligned();
  if (pointer || freeResults.bytes() == 0)
    return pointer;
  freeResults.drop();
  return aligned();
}

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
class FreeWorkspaces {
public:
  using Piece = std::pair<size_t, void *>; // bytes, address

  /// The smallest of at least so many bytes. Without one, the largest goes to `outgrown`: a larger one takes
  /// its place instead of joining it.
  Piece take(size_t bytes, void *&outgrown) {
    std::lock_guard lock(workspacesMutex);
    auto *end = pieces.begin() + count;
    auto *fit = std::lower_bound(pieces.begin(), end, Piece(bytes, nullptr));
    if (fit != end) {
      Piece piece = *fit;
      std::copy(fit + 1, end, fit);
      --count;
      return piece;
    }
    if (count > 0)
      outgrown = pieces[--count].second;
    return {0, nullptr};
  }

  /// Keeps a workspace; the smallest of too many, which the caller frees, or null.
  void *give(Piece piece) {
    std::lock_guard lock(workspacesMutex);
    auto *end = pieces.begin() + count;
    auto *place = std::lower_bound(pieces.begin(), end, piece);
    std::copy_backward(place, end, end + 1);
    *place = piece;
    if (++count <= kMostPieces)
      return nullptr;
    void *smallest = pieces[0].second;
    std::copy(pieces.begin() + 1, pieces.end(), pieces.begin());
    --count;
    return smallest;
  }

  size_t bytes() {
    std::lock_guard lock(workspacesMutex);
    size_t sum = 0;
    for (size_t i = 0; i < count; ++i)
      sum += pieces[i].first;
    return sum;
  }

private:
  static constexpr size_t kMostPieces = 4;
  std::array<Piece, kMostPieces + 1> pieces{}; // ascending; one more than stays
  size_t count = 0;
};

constinit FreeWorkspaces freeWorkspaces;

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

size_t keptMemory() { return scratchBytes + freeWorkspaces.bytes() + freeResults.bytes(); }

Workspace::Workspace(size_t size) {
  void *outgrown = nullptr;
  std::tie(bytes, pointer) = freeWorkspaces.take(size, outgrown);
  if (pointer)
    return;
  std::free(outgrown);
  pointer = allocate(size);
  if (!pointer)
    fail("could not allocate a workspace of ", size, " bytes");
  bytes = size;
}

Workspace::~Workspace() {
  if (pointer)
    std::free(freeWorkspaces.give({bytes, pointer}));
}

void *allocateResult(size_t size) {
  if (size > SIZE_MAX - 2 * kHeaderBytes)
    throw std::bad_alloc();
  size_t bytes = size + kHeaderBytes;
  void *block = size >= kLeastKeptResult ? freeResults.take(bytes) : nullptr;
  if (!block) {
    block = allocate(bytes);
    if (!block)
      throw std::bad_alloc();
    static_cast<ResultHeader *>(block)->bytes = bytes;
  }
  return static_cast<char *>(block) + kHeaderBytes;
}

void freeResult(void *pointer) noexcept {
  if (!pointer)
    return;
  void *block = static_cast<char *>(pointer) - kHeaderBytes;
  size_t bytes = FreeResults::bytesOf(block);
  if (bytes < kLeastKeptResult + kHeaderBytes || bytes > FreeResults::kMostBytes)
    std::free(block);
  else
    freeResults.give(block);
}

void dropKeptResults() noexcept { freeResults.drop(); }

} // namespace taylor::runtime
