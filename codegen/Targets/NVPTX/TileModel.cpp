// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/TileModel.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir::simt;

namespace {
/// Operands of one kind of score tile: `resident` channels lie next to its outer tokens for the whole loop,
/// `streamed` next to its inner ones.
struct Operands {
  int64_t resident, streamed;
  /// Channels of a result that other threads may need after the loop.
  int64_t result;
  /// Score tiles that are operands of further products.
  int64_t scores;
};
} // namespace

/// Halves the inner tokens, then the outer ones, until the operands fit, next to 4 KiB for row scalars.
/// Multiply-adds of f32 and f64 read score tiles from shared memory too, and a result may pass through it;
/// matrix units keep them in registers, and operands of 16 bits may have one slot each. Split operands have
/// two.
static void fit(const Machine &target, const TileProblem &problem, Operands channels, int64_t &outer,
                int64_t &inner) {
  auto needed = [&] {
    bool isWide = problem.bytes > 2;
    int64_t operands = outer * channels.resident + (isWide ? 2 : 1) * inner * channels.streamed;
    int64_t computed = outer * channels.result + channels.scores * outer * inner;
    return ((problem.split ? 2 : 1) * operands + (isWide ? computed : 0)) * problem.bytes + (4 << 10);
  };
  while (needed() > target.sharedPerBlock && inner > 32)
    inner /= 2;
  while (needed() > target.sharedPerBlock && outer > 16)
    outer /= 2;
  while (needed() > target.sharedPerBlock && inner > 16)
    inner /= 2;
}

/// Operands of two numbers take twice the registers, in addition to the accumulators: tiles, found with
/// ptxas, that spill least (README.md). `widest`: the channels of queries, keys and values.
static taylor::ScoreTile chooseSplitRows(int64_t widest) {
  if (widest <= 96)
    return {64, 64};
  return widest <= 128 ? taylor::ScoreTile{64, 32} : taylor::ScoreTile{128, 16};
}

/// The queries of tiles that are summed into columns, likewise.
static int64_t chooseSplitQueries(int64_t widest) {
  if (widest <= 64)
    return 64;
  return widest <= 96 || widest > 128 ? 32 : 16;
}

/// Of 16 bits, one number each. A multiprocessor that holds two blocks of 4 warps has the one compute while
/// the other waits for its copies or ends, which one block of 8 warps cannot: on an H100 the smaller tiles,
/// where two of them fit and the larger ones take 8 warps, need 9 to 18 % less time at 1024 tokens. With few
/// channels they leave room for four blocks (README.md).
static void shareMultiprocessor(const Machine &target, const TileProblem &problem, taylor::TileSizes &sizes) {
  constexpr taylor::ScoreTile small{64, 64};
  int64_t d = problem.headDim, e = problem.valueDim, widest = std::max(d, e);
  // Two slots of what streams by, what stays, and row scalars; the driver takes 1 KiB for each block.
  auto fitsTwice = [&](int64_t resident) {
    int64_t channels = resident + 2 * (d + e);
    return 2 * (64 * channels * problem.bytes + (2 << 10) + 1024) <= target.sharedPerSM;
  };
  bool isNarrow = widest <= 32;
  if (isNarrow || (widest > 96 && fitsTwice(/*resident=*/0))) // queries are in registers
    sizes.rows = small;
  if (isNarrow || (widest > 64 && fitsTwice(d + e)))
    sizes.derivedRows = small;
  // Each block of keys adds to all rows after it: fewer blocks write less.
  if (!isNarrow && widest <= 96 && !problem.atomicRows && fitsTwice(d + e)) {
    sizes.columns = small;
  }
}

/// Of 16 bits, for products that run while their threads go on: 64 rows for four warps, and blocks enough on
/// a multiprocessor that some multiply while others compute (README.md, "Hopper"). Beyond 128 channels two
/// sums of 64 keys do not fit the registers of four warps.
static void chooseStarted(const Machine &target, const TileProblem &problem, taylor::TileSizes &sizes) {
  int64_t widest = std::max(problem.headDim, problem.valueDim);
  bool split = problem.split;
  sizes.rows = sizes.derivedRows = {64, split && widest > 96 ? 32 : kKeys};
  if (widest <= 128)
    sizes.columns = {split && widest > 64 ? kNarrowQueries : 64, 64};
  // Members share tiles of queries.
  sizes.alignsQueries = target.assignsRoles;
  // With a producer, matrix units have work of several members: larger tiles, fewer waits.
  if (target.assignsRoles && problem.hasRoles && !split && widest > 32 && widest <= 128)
    sizes.rows.keys = kWideKeys;
}

taylor::TileSizes mlir::simt::chooseTileSizes(const Machine &target, const TileProblem &problem) {
  int64_t d = problem.headDim, e = problem.valueDim, widest = std::max(d, e);
  taylor::TileSizes sizes;
  sizes.rowSums = taylor::RowSums::Separate;
  sizes.singleLoop = true;
  sizes.joinsKernels = true;
  sizes.foldExponents = true;
  sizes.foldRowFactors = problem.bytes == 2;
  if (target.rotatesOperands)
    sizes.loopOperands = taylor::LoopOperands::Rotated;
  // At most 128 bytes of a row kernel's tile in each of 128 threads: more spare prologues, and spill where a
  // kernel holds several tiles. With storage in f32 the derivatives of norms are tiles of f64.
  int64_t computed = problem.bytes == 2 ? 4 : 8;
  sizes.tokens = std::clamp<int64_t>(llvm::bit_floor(uint64_t(16384 / (widest * computed))), 16, 64);

  // 200 registers in each of 8 warps.
  sizes.blockBytes = 200 * 4 * 256;
  // Operands of products in shared memory, next to what a kernel keeps of each row.
  sizes.productBytes = target.sharedPerBlock - (4 << 10);

  // Sums into rows: the queries' accumulators and a score tile share the registers of 4 or 8 warps.
  sizes.rows = {128, 64};
  // Sums into columns: two accumulators per key next to two score tiles.
  // Beyond the accumulators' limit products are cut in strips (taylor-simt-strip-mine).
  // 64 queries of more channels take 15 % less time than 32 on an H100, where two slots of them fit.
  bool fitsWide = problem.bytes == 2 && 3 * 64 * (d + e) * problem.bytes + (4 << 10) <= target.sharedPerBlock;
  sizes.columns = {widest <= 128 || fitsWide ? 64 : 32, d + e <= 256 ? 128 : 64};
  sizes.scalarKeys = d + e <= 192 ? 128 : 64;
  if (problem.split) {
    sizes.rows = chooseSplitRows(widest);
    sizes.columns.queries = chooseSplitQueries(widest);
  }
  sizes.derivedRows = sizes.rows;
  if (problem.bytes == 2 && target.startsProducts)
    chooseStarted(target, problem, sizes);
  else if (problem.bytes == 2 && !problem.split)
    shareMultiprocessor(target, problem, sizes);
  fit(target, problem, {d, d + e, widest, 1}, sizes.rows.queries, sizes.rows.keys);
  sizes.edgeKeys = sizes.rows.keys;
  fit(target, problem, {d + e, d + e, widest, 1}, sizes.derivedRows.queries, sizes.derivedRows.keys);
  fit(target, problem, {d + e, d + e, widest, 2}, sizes.columns.keys, sizes.columns.queries);
  return sizes;
}

void mlir::simt::chooseChunks(const Machine &target, const TileProblem &problem, int64_t chunk,
                              taylor::TileSizes &sizes) {
  sizes.chunk = chunk;
  // Where chunks take the least time on an H100, of orders 1 to 3 (README.md, "Costs of forms").
  sizes.balance = sizes.farBalance = problem.bytes > 2 ? 10 : problem.split ? 20 : 50;
  sizes.featuresOnGrid = true;
  int64_t widest = std::max(problem.headDim, problem.valueDim);
  // Whole fragments, 8 columns of a product; and the products of one block by another, or a part of them.
  sizes.featureBlock = 8;
  int64_t panel = 64;
  while ((problem.split ? 4 : 2) * panel * widest * problem.bytes > target.sharedPerBlock / 4 && panel > 16)
    panel /= 2;
  sizes.readFeatures = sizes.stateFeatures = panel;
  sizes.passFeatures = sizes.featureBlock;
  // Features are computed in f32, or in f64.
  int64_t bytesPerToken = 2 * widest * std::max<int64_t>(problem.bytes, 4);
  int64_t most = std::max<int64_t>(llvm::bit_floor(uint64_t(target.sharedPerBlock / 2 / bytesPerToken)), 16);
  for (int64_t *tokens : {&sizes.rows.queries, &sizes.derivedRows.queries, &sizes.columns.keys})
    *tokens = std::min(*tokens, most);
  // With more, dk and dv within a chunk spill in their loop (HOPPER.md, "Registers").
  constexpr int64_t kWideChannels = 96;
  if (target.startsProducts && problem.bytes == 2 && widest > kWideChannels)
    sizes.columns.queries = std::min(sizes.columns.queries, kNarrowQueries);
}

void mlir::simt::chooseSteps(taylor::TileSizes &sizes) {
  sizes.tokens = sizes.stepTokens = 16;
  sizes.rows.queries = sizes.derivedRows.queries = 16;
  // No roles: 16 rows are less than a product that runs while its threads go on has.
  sizes.rows.keys = sizes.edgeKeys = std::min<int64_t>(sizes.rows.keys, 64);
  sizes.blocks = 512;
  sizes.loopOperands = taylor::LoopOperands::Computed;
}
