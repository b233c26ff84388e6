// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What registers hold before the first instruction (PTX ISA, "Special Registers").
#include "runtime/ptx/Block.h"

namespace taylor::runtime::ptx {

std::array<unsigned, 3> split(uint64_t n, GridSize size) {
  return {unsigned(n % size.x), unsigned(n / size.x % size.y), unsigned(n / size.x / size.y)};
}

/// Constants and special registers.
void Block::fill(Warp &w) {
  for (const Constant &c : launch.kernel.constants) {
    w.valid[c.to.id] = ~0u;
    if (c.to.type == Type::Pred)
      w.masks[c.to.at] = c.value ? ~0u : 0;
    else
      for (unsigned l = 0; l < 32; ++l)
        w.setRaw(c.to, l, c.value);
  }
  for (const SpecialUse &use : launch.kernel.specials) {
    w.valid[use.to.id] = ~0u;
    for (unsigned l = 0; l < 32; ++l) {
      auto tid = split(threadOf(w, l), launch.block);
      std::array<unsigned, 3> sizes{launch.block.x, launch.block.y, launch.block.z},
          counts{launch.grid.x, launch.grid.y, launch.grid.z};
      uint64_t bit = uint64_t(1) << l, value = 0;
      unsigned axis = unsigned(use.special) % 3; // the first four kinds come in x, y, z
      switch (use.special) {
      case Special::TidX:
      case Special::TidY:
      case Special::TidZ:
        value = tid[axis];
        break;
      case Special::NtidX:
      case Special::NtidY:
      case Special::NtidZ:
        value = sizes[axis];
        break;
      case Special::CtaidX:
      case Special::CtaidY:
      case Special::CtaidZ:
        value = coordinates[axis];
        break;
      case Special::NctaidX:
      case Special::NctaidY:
      case Special::NctaidZ:
        value = counts[axis];
        break;
      case Special::LaneId:
        value = l;
        break;
      case Special::WarpId:
        value = w.index;
        break;
      case Special::NWarpId:
        value = warps.size();
        break;
      case Special::NSmId:
        value = 1;
        break;
      case Special::SmId:
      case Special::GridId:
        value = 0;
        break;
      case Special::MaskEq:
        value = bit;
        break;
      case Special::MaskLt:
        value = bit - 1;
        break;
      case Special::MaskLe:
        value = 2 * bit - 1;
        break;
      case Special::MaskGe:
        value = uint32_t(0 - bit);
        break;
      case Special::MaskGt:
        value = uint32_t(0 - 2 * bit);
        break;
      case Special::DynamicShared:
        value = launch.dynamicShared;
        break;
      case Special::TotalShared:
        value = shared.size();
        break;
      }
      w.setRaw(use.to, l, bytesOf(use.to.type) == 2 ? value & 0xffff : value);
    }
  }
}

} // namespace taylor::runtime::ptx
