// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How an address of a block becomes memory of the host: spaces, bounds, permission, races, and what is
// counted.
#ifndef TAYLOR_RUNTIME_PTX_BLOCKMEMORY_H
#define TAYLOR_RUNTIME_PTX_BLOCKMEMORY_H
#include "runtime/ptx/Launch.h"
#include "runtime/ptx/Shadow.h"

namespace taylor::runtime::ptx {

/// Generic addresses: the top byte names a window; global addresses are the host's and have zero there.
constexpr unsigned kWindowShift = 56;
constexpr uint64_t kSharedWindow = uint64_t(1) << kWindowShift, kLocalWindow = uint64_t(2) << kWindowShift,
                   kParameterWindow = uint64_t(3) << kWindowShift,
                   kWindowMask = (uint64_t(1) << kWindowShift) - 1;

/// As messages name it.
const char *spaceName(Space);

/// The memory that a block's threads reach: its shared bytes with their shadow, and that of the launch.
/// (Local memory lies with its warp.)
class BlockMemory {
public:
  explicit BlockMemory(const Launch &);
  /// Shared memory without a value, that no one has touched.
  void reset();

  /// The host's address of `bytes` at an address of a space, after checks of bounds, alignment and
  /// permission. `space` becomes the space that a generic address points to, `address` the address in it.
  std::byte *locate(Warp &, const Instruction &, unsigned lane, Space &space, uint64_t &address,
                    unsigned bytes, bool write);
  /// The same for global and constant memory, of any size and alignment.
  std::byte *locateGlobal(const Warp &, const Instruction &, unsigned lane, uint64_t address, uint64_t bytes,
                          bool write);
  /// Judges an access to shared memory against the others, if checks are on.
  void checkShared(Warp &, const Instruction &, unsigned lane, uint64_t address, unsigned bytes, bool write);

  /// Counts the extra passes of one access by several lanes of `bytes` each.
  void countConflicts(const std::array<uint64_t, 32> &addresses, uint32_t mask, unsigned bytes);
  /// Counts what lanes ask for of a space.
  void countBytes(Space, bool write, uint64_t bytes);
  /// Bytes and conflicts of all blocks so far, if they are asked for; the rest is zero.
  const Profile &counted() const { return profile; }

  std::vector<std::byte> shared; ///< by its offsets
  Shadow shadow;                 ///< of it; empty without checks

private:
  const Launch &launch;
  const bool checks, profiling;
  Profile profile;
  size_t lastRange = 0; ///< that was hit
};

} // namespace taylor::runtime::ptx

#endif
