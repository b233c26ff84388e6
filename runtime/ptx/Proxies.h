// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one warp knows of the others: how far they have come, and how far their proxy fences reached (PTX ISA,
// "Async Proxy").
#ifndef TAYLOR_RUNTIME_PTX_PROXIES_H
#define TAYLOR_RUNTIME_PTX_PROXIES_H
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace taylor::runtime::ptx {

/// A vector clock, and a second one for fences. Warp w's k-th stretch between barriers and fences has clock
/// k. Whoever meets w at a barrier takes both vectors over. Copies that an mbarrier counts write in its name:
/// it has an index after those of warps, and its phases are its stretches.
///
/// wgmma and bulk copies access memory through the async proxy. They see what an ordinary instruction of warp
/// w did at clock c if w executed fence.proxy.async after it and before the barrier by which its clock came
/// here. What cp.async wrote in the name of an mbarrier no one could fence before: there the fence of who has
/// waited counts.
///
/// A third vector is of reads by products. A warp's lanes start and await them together (wgmma is
/// `.sync.aligned`), so one lane's arrival tells of them what it does not tell of the other lanes' own
/// accesses.
class Order {
public:
  /// Nothing is known of `count` warps.
  void reset(size_t count);
  /// Takes over what another one knows.
  void join(const Order &);
  /// Whether the stretch `clock` of a writer is over as far as this one knows.
  bool isBefore(unsigned writer, uint32_t clock) const {
    return writer < clocks.size() && clock <= clocks[writer];
  }
  /// Whether a fence after the stretch `clock` of a writer is known.
  bool isFenced(unsigned writer, uint32_t clock) const {
    return writer < fenced.size() && clock <= fenced[writer];
  }
  uint32_t clockOf(unsigned warp) const { return clocks[warp]; }
  /// The last stretch of a warp in which what its products read is known to be read.
  uint32_t productsOf(unsigned warp) const { return std::max(clocks[warp], products[warp]); }
  /// The warp begins a new stretch.
  void advance(unsigned warp) { ++clocks[warp]; }
  /// Of this warp, no more than what it did up to this clock is known, and all that its products did.
  void limit(unsigned warp, uint32_t clock);
  /// A writer has come to this clock.
  void raise(unsigned writer, uint32_t clock);
  /// fence.proxy.async of the warp: it covers what came before, and ends a stretch.
  void fence(unsigned warp);

private:
  void grow(size_t);
  std::vector<uint32_t> clocks, fenced; ///< by warp, then by mbarrier as far as any is known
  std::vector<uint32_t> products;       ///< by warp; no more than `clocks` but where those are limited
  size_t warps = 0;
};

} // namespace taylor::runtime::ptx

#endif
