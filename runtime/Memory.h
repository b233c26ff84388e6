// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workspace and scratch, kept between calls: a fresh page costs as much as the kernel's work on it.
#ifndef TAYLOR_RUNTIME_MEMORY_H
#define TAYLOR_RUNTIME_MEMORY_H
#include <cstddef>
#include <utility>

namespace taylor::runtime {

/// 64-byte aligned memory of at least `size` bytes that belongs to the calling thread until it asks again.
/// Throws std::bad_alloc.
void *threadScratch(size_t size);

/// Bytes that the runtime holds between calls: free workspaces, the threads' scratch, and results that were
/// freed (`dropKeptResults`). For whoever measures memory.
size_t keptMemory();

/// For a program whose tensors come and go in each step: what `malloc` gets back stays with this process.
/// glibc maps 32 MiB and more anew each time, whose pages the system fills with zeros when they are first
/// touched. Does nothing with other C libraries.
void keepFreedMemory();

/// 64-byte aligned memory for one call, taken from and given back to a pool that all kernels share.
class Workspace {
public:
  Workspace() = default;
  /// Throws Error where there is no memory.
  explicit Workspace(size_t size);
  Workspace(Workspace &&other) noexcept { *this = std::move(other); }
  Workspace &operator=(Workspace &&other) noexcept {
    std::swap(pointer, other.pointer);
    std::swap(bytes, other.bytes);
    return *this;
  }
  ~Workspace();
  void *data() const { return pointer; }

private:
  void *pointer = nullptr;
  size_t bytes = 0;
};

/// From here on the memory of a result is kept when it is freed: glibc maps no smaller one anew each time.
constexpr size_t kLeastKeptResult = 32 << 20;

/// 64-byte aligned memory of a result, which its reader owns, for `freeResult`. Throws std::bad_alloc.
void *allocateResult(size_t size);

/// Gives it back. Of `kLeastKeptResult` and more it is kept for results of about that size, at most 8 blocks
/// and 1 GiB, the oldest given up first.
void freeResult(void *pointer) noexcept;

/// Frees what `freeResult` has kept. Allocations that fail do so by themselves.
void dropKeptResults() noexcept;

} // namespace taylor::runtime

#endif
