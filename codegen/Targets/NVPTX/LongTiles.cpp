// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/TileModel.h"
#include <algorithm>

using namespace mlir::simt;

namespace {
/// Microseconds of a kernel with a causal mask, of 16384 tokens in all, in sequences of 16384 and of 1024.
struct KernelTimes {
  double far, near;
};
} // namespace

/// A query sees so many keys of such sequences, on average.
static constexpr double kFarPairs = 16385 / 2.0, kNearPairs = 1025 / 2.0;

/// Of two lengths follow the time of a pair and that of a query.
static taylor::LongForm compare(KernelTimes parallel, KernelTimes longer) {
  auto perPair = [](KernelTimes times) { return (times.far - times.near) / (kFarPairs - kNearPairs); };
  auto perQuery = [&](KernelTimes times) { return times.near - kNearPairs * perPair(times); };
  return {perPair(longer) / perPair(parallel), (perQuery(longer) - perQuery(parallel)) / perPair(parallel)};
}

/// Softmax, bf16, on an H200 (HOPPER.md, "Tiles"). The forward of 64 channels, 64 queries by 64 keys and by
/// 128; and the backward of 128, whose dq has 64 queries by 32 keys or by 64, and dk and dv one tile. In the
/// other kernels one tile is the fastest at both lengths, or within 1 in a hundred.
static const taylor::LongForm kForward64 = compare({2470, 241}, {2360, 256}),
                              kBackward128 = compare({2490 + 3330, 259 + 368}, {2460 + 3330, 274 + 368});

/// With roles a guess: on an H200 the wider tiles of keys are as fast at 1024 tokens, or faster (HOPPER.md).
/// Of tiles that are `more` tokens wider the mask hides half as many pairs of each query. They are to pay
/// from 1536 tokens on, where a query sees 768 keys: models train on 512 and 1024, for which the tiles are
/// made that the mask wastes least of.
static constexpr taylor::LongForm widen(int64_t more) {
  double hidden = double(more) / 2;
  return {1 - hidden / 768, hidden};
}

/// With roles, queries that pass by a block of keys in the backward; otherwise as many as keys.
static constexpr int64_t kQueries = 96;

std::optional<taylor::LongForm> mlir::simt::getLongForm(const Machine &target, const TileProblem &problem,
                                                        taylor::FunctionRole function) {
  int64_t widest = std::max(problem.headDim, problem.valueDim);
  if (!target.hasLongTiles || problem.bytes != 2 || problem.split || widest <= 32 || widest > 128)
    return std::nullopt;
  if (function == taylor::FunctionRole::Forward) {
    if (target.assignsRoles)
      return widen(kWideKeys - kKeys);
    return widest <= 64 ? std::optional(kForward64) : std::nullopt;
  }
  if (function != taylor::FunctionRole::Backward || problem.atomicRows)
    return std::nullopt;
  if (target.assignsRoles)
    return widest <= 64 ? std::optional(widen(kQueries - kKeys)) : std::nullopt;
  return widest > 96 ? std::optional(kBackward128) : std::nullopt;
}

void mlir::simt::chooseTilesByLength(const Machine &target, const TileProblem &problem, bool isLong,
                                     taylor::TileSizes &sizes) {
  int64_t widest = std::max(problem.headDim, problem.valueDim);
  sizes.rows.keys = sizes.edgeKeys = isLong && (target.assignsRoles || widest <= 64) ? kWideKeys : kKeys;
  if (target.assignsRoles && isLong && widest <= 64)
    sizes.columns.queries = kQueries;
  if (!target.assignsRoles && !isLong && widest > 96)
    sizes.derivedRows.keys = 32;
}
