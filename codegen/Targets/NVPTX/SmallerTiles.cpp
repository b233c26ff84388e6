// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What planned kernels hold, in registers and bytes. Numbers are those of products that run while their
// threads go on: 128 threads, score tiles whose rows are the block's tokens.
#include "codegen/Targets/NVPTX/TileModel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::simt;
using taylor::PairLoopNeeds;

namespace {

constexpr int64_t kThreads = 128;

/// 32-bit registers of a thread, for score tiles of `passing` tokens by 64 of the block.
class LoopRegisters {
public:
  LoopRegisters(const PairLoopNeeds &loop, taylor::ScoreTile tile)
      : loop(loop), block(tile.keys), passing(tile.queries) {}

  /// The larger of two moments: weights are computed from products; an operand is, while a product of another
  /// one runs.
  int64_t count() const {
    return countSums() + std::max(countWeights(), loop.computedChannels ? countOperand() : 0);
  }

private:
  int64_t tileOf(int64_t channels) const { return channels * block / kThreads; }
  /// Two rows of a thread; a quarter of the columns.
  static constexpr int64_t kRows = 2;
  int64_t columns() const { return passing / 4; }

  int64_t countSums() const {
    int64_t registers = loop.totals;
    for (int64_t channels : loop.sums)
      registers += channels > 1 ? tileOf(channels) : kRows;
    return registers;
  }
  int64_t countWeights() const {
    return (loop.products + loop.pairArrays) * tileOf(passing) +
           (loop.queryScalars + loop.hasExponentials) * columns() + loop.keyScalars * kRows + loop.numbers;
  }
  /// A tile in f32, and the addresses of what it is loaded from: two registers for 16 bytes.
  int64_t countOperand() const {
    int64_t tile = loop.computedChannels * passing / kThreads;
    return tileOf(passing) + tile + 2 * llvm::divideCeil(tile, 4);
  }

  const PairLoopNeeds &loop;
  int64_t block, passing;
};

/// Bytes that a kernel with roles takes at least: two slots of what passes by in each of its loops, and the
/// queries of two members.
int64_t countRoleBytes(const TileProblem &problem, const PairLoopNeeds &loop,
                       const taylor::TileSizes &sizes) {
  int64_t slots = 2, members = 2;
  int64_t passing = slots * sizes.rows.keys * (problem.headDim + problem.valueDim);
  return problem.bytes * loop.loopsOfKernel * (passing + members * sizes.rows.queries * problem.headDim);
}

} // namespace

std::string mlir::simt::fitTiles(const Machine &target, const TileProblem &problem,
                                 llvm::ArrayRef<PairLoopNeeds> loops, taylor::TileSizes &sizes) {
  if (!target.startsProducts || problem.bytes != 2)
    return "";
  std::string reason;
  auto lacksRoles = [&](const PairLoopNeeds &loop) {
    return !loop.intoColumns &&
           (!loop.seesAll || countRoleBytes(problem, loop, sizes) > target.sharedPerBlock);
  };
  if (const PairLoopNeeds *loop = llvm::find_if(loops, lacksRoles);
      target.assignsRoles && loop != loops.end() && sizes.rows.keys >= kWideKeys) {
    reason = "@" + loop->kernel + " gets no roles, for which tiles of " + std::to_string(sizes.rows.keys) +
             " keys are";
    sizes.rows.keys = sizes.edgeKeys = kKeys;
  }
  for (const PairLoopNeeds &loop : loops)
    while (loop.intoColumns && sizes.columns.queries > kNarrowQueries) {
      int64_t registers = LoopRegisters(loop, sizes.columns).count();
      if (registers <= kColumnRegisters)
        break;
      reason = "a loop over queries of @" + loop.kernel + " needs about " + std::to_string(registers) +
               " registers for tiles, more than " + std::to_string(kColumnRegisters);
      sizes.columns.queries -= kNarrowQueries;
    }
  return reason;
}
