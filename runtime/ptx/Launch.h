// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all blocks of a launch share, and what follows from its numbers alone.
#ifndef TAYLOR_RUNTIME_PTX_LAUNCH_H
#define TAYLOR_RUNTIME_PTX_LAUNCH_H
#include "runtime/ptx/Program.h"

namespace taylor::runtime::ptx {

/// One kernel with its sizes, its parameters and the host memory that it may touch.
struct Launch {
  const Kernel &kernel;
  GridSize grid, block;
  size_t dynamicShared;
  std::span<const std::byte> parameters;
  std::vector<MemoryRange> ranges; ///< by address
  InterpreterOptions options;
  /// Of a block.
  unsigned threads() const { return block.x * block.y * block.z; }
  /// Of a block; the last one may have lanes without a thread.
  unsigned warps() const { return (threads() + 31) / 32; }
  /// Bytes of shared memory of a block.
  size_t sharedBytes() const { return kernel.dynamicBase + dynamicShared; }
  /// What a special register holds in a thread of a block (PTX ISA, "Special Registers").
  uint64_t valueOf(Special, const std::array<unsigned, 3> &blockCoordinates, unsigned thread) const;
};

/// The coordinates of the n-th thread or block of a size, x fastest.
std::array<unsigned, 3> split(uint64_t n, GridSize size);

} // namespace taylor::runtime::ptx

#endif
