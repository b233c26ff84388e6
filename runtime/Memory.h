// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workspace and scratch, kept between calls: a fresh page costs as much as the kernel's work on it.
#pragma once
#include <cstddef>
#include <utility>

namespace taylor::runtime {

/// 64-byte aligned memory of at least `size` bytes that belongs to the calling thread until it asks again.
/// Throws std::bad_alloc.
void *threadScratch(size_t size);

/// Bytes that the runtime holds between calls: free workspaces and results and the threads' scratch. For
/// whoever measures memory.
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

/// 64-byte aligned memory of a result, which its reader owns. What is given back is kept for results of about
/// that size, the oldest given up first where more than 8 blocks or 1 GiB are kept.
class ResultMemory {
public:
  /// From here on a block is worth keeping: glibc maps no smaller one anew each time.
  static constexpr size_t kLeastKept = 32 << 20;

  /// Throws std::bad_alloc.
  explicit ResultMemory(size_t size);
  ResultMemory(const ResultMemory &) = delete;
  ResultMemory &operator=(const ResultMemory &) = delete;
  ~ResultMemory();
  void *data() const { return pointer; }

private:
  void *pointer;
  size_t bytes;
};

} // namespace taylor::runtime
