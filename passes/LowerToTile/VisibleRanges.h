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
// suffices (t - u < window, or u in a prefix), each has its interval, and what lies between is left out.
// Those that meet become one around both; of their full intervals too, where these meet, else the longer one
// stays. There are at most four: of more, the later ones are one with all that lies between.
//
// A condition that a query and a key are of one document (passes/Specification/DocumentMask.h) is solved by
// reading, in memory, where the documents of the block's first and last token start and end.
//
// Of an operation over chunks the range ends at the chunk, on both sides where later keys are visible. A
// block of queries lies in one chunk; one of keys, whose chunks begin at the position of query 0, may lie
// across the edge of two, and is masked there.
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
  /// Known while conditions are solved: if the block sees anything, it sees the first token; the last one.
  bool fromFirst = false, toLast = false;
};

/// What a block sees: one range, or several in ascending order that do not meet, with the same
/// `fullFromStart` and `neverFull`. Some may be empty.
using VisibleRangeList = llvm::SmallVector<VisibleRange, 1>;

/// The conditions of a pairwise operation.
class VisibleRanges {
public:
  explicit VisibleRanges(PairwiseOp op);

  /// The element, an index, of an array of positions over keys at one of them.
  using Lookup = llvm::function_ref<mlir::Value(mlir::Value array, mlir::Value position)>;
  /// Keys for queries at positions first .. last.
  VisibleRangeList keysOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value first, mlir::Value last,
                          Lookup lookup) const;
  /// Queries (as t, not positions) for keys first .. last. They begin at a multiple of `step`: what lies
  /// before `fullBegin` needs the mask in any case.
  VisibleRangeList queriesOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value first,
                             mlir::Value last, Lookup lookup, int64_t step = 1) const;
  /// Whether a row's keys are one interval whose bounds are known (once `addDocumentEnds` has run).
  bool canCount() const;
  /// That interval, where `canCount`, of the query at position `p`: index arithmetic on scalars. `keys` is U.
  /// Where there are documents it begins no earlier than each of `rowStarts` and ends no later than each of
  /// `rowEnds`.
  std::pair<mlir::Value, mlir::Value> intervalOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value p,
                                                 mlir::Value keys) const;
  /// Arrays over keys, of where their documents start, whose ends are missing: to bound queries, where
  /// `forQueries`, or keys.
  llvm::SmallVector<mlir::Value> startsWithoutEnds(bool forQueries) const;
  /// Arrays over queries, of where the query's document starts, and of where it ends; of that only where
  /// later keys are visible.
  llvm::SmallVector<mlir::Value> rowStarts() const;
  llvm::SmallVector<mlir::Value> rowEnds() const;
  /// Arrays over keys, of where their documents end, which `rowEnds` has not yet at queries.
  llvm::SmallVector<mlir::Value> endsWithoutRows() const;
  /// Whether some pair whose query stands `least` to `most` positions after its key may be visible; null: any
  /// may.
  mlir::Value mayHold(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value least,
                      mlir::Value most) const;
  /// First position of the chunk that a position lies in, where the operation sums within chunks; else null.
  mlir::Value chunkOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value position) const;
  /// Whether no query sees a later key.
  bool isCausal() const { return causal; }
  /// Whether a query sees the keys up to its own, all of them and no others.
  bool isDiagonal() const {
    return !chunk && conditions.size() == 1 && conditions[0].kind == Condition::Kind::affine &&
           conditions[0].alpha == -1 && conditions[0].beta == 1 && conditions[0].kappa == 0;
  }

  /// A condition on a pair.
  struct Condition {
    /// affine: alpha p + beta u <= kappa; document: query and key are of one; any: one of `parts` holds; all:
    /// each of them; unknown: no bounds.
    enum class Kind { affine, document, any, all, unknown } kind;
    int64_t alpha = 0, beta = 0, kappa = 0;
    std::vector<Condition> parts = {};
    /// Of documents: where a key's starts and (null: not known) ends, where a query's starts and (null: not
    /// known) ends.
    mlir::Value starts = {}, ends = {}, rowStarts = {}, rowEnds = {};
  };

private:
  /// Such an array of each condition that has one and suits.
  llvm::SmallVector<mlir::Value> arraysOf(mlir::Value Condition::*array,
                                          llvm::function_ref<bool(const Condition &)> suits) const;
  VisibleRangeList solve(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value first, mlir::Value last,
                         bool forKeys, Lookup lookup, int64_t step = 1) const;
  /// Ends a range at the edges of the chunks that first .. last lie in.
  void endAtChunks(VisibleRange &range, mlir::OpBuilder &builder, mlir::Location loc, mlir::Value first,
                   mlir::Value last, bool forKeys) const;

  /// All hold.
  llvm::SmallVector<Condition> conditions;
  /// Queries of a chunk, or 0.
  int64_t chunk;
  /// No query sees a later key.
  bool causal = false;
};

} // namespace taylor

#endif
