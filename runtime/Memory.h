// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workspace and scratch, kept between calls: a fresh page costs as much as the kernel's work on it.
#pragma once
#include <cstddef>
#include <utility>

namespace taylor::runtime {

/// 64-byte aligned memory of at least `size` bytes that belongs to the calling thread until it asks again.
/// Throws std::bad_alloc.
void *threadScratch(size_t size);

/// Bytes that the runtime holds between calls: free workspaces and the threads' scratch. For whoever measures
/// memory.
size_t keptMemory();

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

} // namespace taylor::runtime
