// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which score tiles a mask leaves empty, full or partial.
//
// A condition alpha p + beta u <= kappa on the positions p of queries and u of keys is solved for one axis
// over a block of the other. Per block that gives, as index arithmetic,
//
//     begin <= fullBegin, fullEnd <= end      tokens outside of [begin, end) see nothing, inside of
//                                             [fullBegin, fullEnd) everything; the rest needs the mask
//
// Where several conditions hold together, that is the intersection of their intervals. Where one of several
// suffices (u <= t, or u in a prefix), it is one interval around all of theirs; two full intervals become one
// where they meet, else the longer one stays.
//
// Of an operation over chunks the range ends at the chunk. A block of queries lies in one chunk; one of keys,
// whose chunks begin at the position of query 0, may lie across the edge of two, and is masked there.
#ifndef TAYLOR_PASSES_LOWERTOTILE_VISIBLERANGES_H
#define TAYLOR_PASSES_LOWERTOTILE_VISIBLERANGES_H

#include "dialect/Taylor/TaylorDialect.h"
#include <vector>

namespace taylor {

/// Bounds of one axis for a block of the other, values of type index.
struct VisibleRange {
  mlir::Value begin, fullBegin, fullEnd, end;
  /// Known at compile time: nothing is cut off before `fullBegin`; no tile is ever full.
  bool fullFromStart = true, neverFull = false;
};

/// The conditions of a pairwise operation.
class VisibleRanges {
public:
  explicit VisibleRanges(PairwiseOp op);

  /// Without conditions every pair is visible.
  bool hasConditions() const { return !conditions.empty(); }
  /// All conditions are affine, so a row's keys are one interval.
  bool isExact() const { return exact; }

  /// Keys for queries at positions first .. last.
  VisibleRange keysOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value first,
                      mlir::Value last) const;
  /// Queries (as t, not positions) for keys first .. last.
  VisibleRange queriesOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value first,
                         mlir::Value last) const;
  /// Number of visible keys of the query at position `p`, where all is exact and |beta| = 1: index arithmetic
  /// on scalars. `keys` is U.
  mlir::Value countOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value p, mlir::Value keys) const;
  bool canCount() const;
  /// Whether some pair whose query stands `least` to `most` positions after its key may be visible; null: any
  /// may.
  mlir::Value mayHold(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value least,
                      mlir::Value most) const;
  /// First position of the chunk of key `last`, where the operation sums within chunks; else null.
  mlir::Value chunkOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value last) const;

  /// A condition on a pair.
  struct Condition {
    /// affine: alpha p + beta u <= kappa; any: one of `parts` holds; all: each of them; unknown: no bounds.
    enum class Kind { affine, any, all, unknown } kind;
    int64_t alpha = 0, beta = 0, kappa = 0;
    std::vector<Condition> parts = {};
  };

private:
  VisibleRange solve(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value first, mlir::Value last,
                     bool forKeys) const;

  /// All hold.
  llvm::SmallVector<Condition> conditions;
  /// Queries of a chunk, or 0.
  int64_t chunk;
  bool exact = true;
};

} // namespace taylor

#endif
