// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Guards for rows that see no key. Where a row's sums over keys are empty, neither code that uses the sums
// nor code that only the sums use runs.
#ifndef TAYLOR_PASSES_SPECIFICATION_ROWGUARDS_H
#define TAYLOR_PASSES_SPECIFICATION_ROWGUARDS_H

#include "dialect/Taylor/TaylorDialect.h"

#include "llvm/ADT/SetVector.h"

namespace taylor {

/// Gives operations the guard `live(count)`, the number of keys that a row sees.
///
/// A value is dead in a row where all sums that it depends on are empty: it is 0 there, and neither it nor
/// its derivative is computed. Where a formula joins empty sums with others, the empty ones count as 0. So
/// does a function of empty sums alone: such a part of a formula becomes a map with a guard of its own,
/// unless it may run on zeros (`runsOnEmptySums`). Operations that mix tokens or keys read dead rows, and
/// their results are alive.
class RowGuards {
public:
  /// Registers a sum over keys, or a number of keys; its rows see `count` keys.
  void start(mlir::Value value, mlir::Value count);

  /// Guards all operations that depend on a registered sum.
  void guardResults(mlir::Block &block);

  /// To be called after `guardResults`. Guards formulas over rows that are read only by sums over keys and by
  /// guarded operations, if they or their derivative may be infinite or NaN. A sum skips its dead rows, but
  /// in the derivative 0 times infinity would make NaN of them.
  void guardOperands(mlir::Block &block);

private:
  /// The sums that a value depends on, as counts of keys. The value is alive in rows where one of the counts
  /// is not 0, or in all rows (`everywhere`).
  struct Sums {
    llvm::SmallSetVector<mlir::Value, 2> counts;
    bool everywhere = false;

    bool isNone() const { return counts.empty() && !everywhere; }
    bool mayBeDead() const { return !counts.empty() && !everywhere; }
    void add(const Sums &other);
    bool operator==(const Sums &other) const;
  };

  Sums sumsOf(mlir::ValueRange arrays) const;
  /// Makes guarded maps of those parts of an operation's formula that depend on some of its sums only, and
  /// may not run where these are empty.
  template <typename Op> void leaveOutParts(Op op, ArrayType domain);
  void guardMap(MapOp map);
  void guardReduce(ReduceOp reduce);
  Sums reduceSums(ReduceOp reduce, const Sums &terms);
  /// The largest count over `axes`.
  mlir::Value buildLargest(mlir::Operation *op, llvm::ArrayRef<AxisRef> axes, mlir::Value count);
  mlir::Value buildAny(mlir::Operation *op, llvm::ArrayRef<mlir::Value> given, ArrayType domain);
  /// The guards of an operation that depends on these sums.
  llvm::SmallVector<mlir::Value> guardsOf(mlir::Operation *op, const Sums &sums, ArrayType domain);

  llvm::DenseMap<mlir::Value, Sums> sums;
  /// All counts; sums with the same mask share one.
  llvm::SmallVector<mlir::Value> distinctCounts;
  llvm::DenseMap<mlir::Operation *, mlir::Value> countOfSums;
  using ByCounts = llvm::DenseMap<llvm::SmallVector<mlir::Value>, mlir::Value>;
  llvm::DenseMap<mlir::Attribute, ByCounts> reducedCounts; // by axes, then the count
  ByCounts largestCounts;
  llvm::DenseMap<mlir::Value, llvm::SmallDenseSet<mlir::Value>> largestOf;
};

} // namespace taylor

#endif
