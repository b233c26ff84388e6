// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one warp knows of the others: how far they have come, and how far their proxy fences reached (PTX ISA,
// "Async Proxy").
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace taylor::runtime::ptx {

/// A vector clock, and a second one for fences. Warp w's k-th stretch between barriers and fences has clock
/// k. Whoever meets w at a barrier takes both vectors over.
///
/// wgmma and bulk copies access memory through the async proxy. They see what an ordinary instruction of warp
/// w did at clock c if w executed fence.proxy.async after it and before the barrier by which its clock came
/// here.
class Order {
public:
  /// Nothing is known of `count` warps.
  void reset(size_t count);
  /// Takes over what another one knows.
  void join(const Order &);
  /// Whether the stretch `clock` of a warp is over as far as this one knows.
  bool isBefore(unsigned warp, uint32_t clock) const { return clock <= clocks[warp]; }
  /// Whether a fence of the warp after its stretch `clock` is known.
  bool isFenced(unsigned warp, uint32_t clock) const { return clock <= fenced[warp]; }
  uint32_t clockOf(unsigned warp) const { return clocks[warp]; }
  /// The warp begins a new stretch.
  void advance(unsigned warp) { ++clocks[warp]; }
  /// fence.proxy.async of the warp: it covers what came before, and ends a stretch.
  void fence(unsigned warp) { fenced[warp] = clocks[warp]++; }

private:
  std::vector<uint32_t> clocks, fenced; ///< by warp
};

} // namespace taylor::runtime::ptx
