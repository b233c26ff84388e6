// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of a GPU: in the order of a stream for a call's workspace, and whole arrays for programs without
// torch.
#ifndef TAYLOR_RUNTIME_CUDA_MEMORY_H
#define TAYLOR_RUNTIME_CUDA_MEMORY_H
#include "runtime/cuda/Driver.h"
#include <cstddef>
#include <utility>

namespace taylor::runtime::cuda {

/// Memory of the calling thread's current context that is there for what is put on the stream while this
/// lives: both its allocation and its end are themselves work on the stream, so nothing waits.
class StreamMemory {
public:
  StreamMemory() = default;
  /// Throws Error.
  StreamMemory(size_t bytes, Stream stream);
  ~StreamMemory();
  StreamMemory(StreamMemory &&other) noexcept { *this = std::move(other); }
  StreamMemory &operator=(StreamMemory &&other) noexcept {
    std::swap(address, other.address);
    std::swap(stream, other.stream);
    return *this;
  }
  void *data() const { return reinterpret_cast<void *>(address); }

private:
  uint64_t address = 0;
  Stream stream = nullptr;
};

/// Makes the primary context of a GPU, the one that libtorch uses too, current on this thread while it lives.
class PrimaryContext {
public:
  /// Throws Error where there is no such GPU.
  explicit PrimaryContext(int ordinal);
  ~PrimaryContext();
  PrimaryContext(const PrimaryContext &) = delete;
  PrimaryContext &operator=(const PrimaryContext &) = delete;

private:
  DeviceNumber device = 0;
};

/// An array on the current context's GPU.
class Buffer {
public:
  /// Throws Error.
  explicit Buffer(size_t bytes);
  ~Buffer();
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  void *data() const { return reinterpret_cast<void *>(address); }
  /// Copies the whole array. `download` waits for the work that is on the default stream.
  void upload(const void *from);
  void download(void *to) const;

private:
  uint64_t address = 0;
  size_t bytes;
};

} // namespace taylor::runtime::cuda

#endif
