// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Guards for rows that see no key: neither what depends on their sums nor what only their sums read runs
// there.
#ifndef TAYLOR_PASSES_SPECIFICATION_ROWGUARDS_H
#define TAYLOR_PASSES_SPECIFICATION_ROWGUARDS_H

#include "dialect/Taylor/TaylorDialect.h"

#include "llvm/ADT/SetVector.h"

namespace taylor {

/// Writes the counts of visible keys into `live(..)`. A value is dead in rows where all sums that it depends
/// on are empty: it is 0 there, and neither it nor its derivative runs. Where a formula joins empty sums with
/// others, they are 0 in it, and a function of empty ones alone is (`runsOnEmptySums`): such parts of a
/// formula become maps with guards of their own. What mixes tokens or keys reads dead rows and is itself
/// alive.
class RowGuards {
public:
  /// `value` is a sum over keys, or their number, of rows that see `count` keys.
  void start(mlir::Value value, mlir::Value count);

  /// Guards all that depends on a sum.
  void guardResults(mlir::Block &block);

  /// Guards formulas over rows that nobody but sums over keys, and what is guarded already, reads, where they
  /// may give what is no finite number, or have such a derivative: a sum skips its dead rows, but 0 times
  /// infinity would pass through the products of its derivative. Follows `guardResults`.
  void guardOperands(mlir::Block &block);

private:
  /// The sums that a value depends on: how many keys rows of them see. It is alive where one sees a key, or
  /// everywhere.
  struct Sums {
    llvm::SmallSetVector<mlir::Value, 2> counts;
    bool everywhere = false;

    bool isNone() const { return counts.empty() && !everywhere; }
    bool mayBeDead() const { return !counts.empty() && !everywhere; }
    void add(const Sums &other);
    bool operator==(const Sums &other) const;
  };

  Sums sumsOf(mlir::ValueRange arrays) const;
  /// Guards an operation with a formula.
  template <typename Op> void leaveOutParts(Op op, ArrayType domain);
  void guardMap(MapOp map);
  void guardReduce(ReduceOp reduce);
  Sums reduceSums(ReduceOp reduce, const Sums &terms);
  /// Of a count per row, the largest over axes.
  mlir::Value buildLargest(mlir::Operation *op, llvm::ArrayRef<AxisRef> axes, mlir::Value count);
  mlir::Value buildAny(mlir::Operation *op, llvm::ArrayRef<mlir::Value> given, ArrayType domain);
  /// What guards an operation of these sums.
  llvm::SmallVector<mlir::Value> guardsOf(mlir::Operation *op, const Sums &sums, ArrayType domain);

  llvm::DenseMap<mlir::Value, Sums> sums;
  /// Counts that differ. Sums with one mask share one.
  llvm::SmallVector<mlir::Value> distinctCounts;
  llvm::DenseMap<mlir::Operation *, mlir::Value> countOfSums;
  using ByCounts = llvm::DenseMap<llvm::SmallVector<mlir::Value>, mlir::Value>;
  llvm::DenseMap<mlir::Attribute, ByCounts> reducedCounts; // by axes, then the count
  ByCounts largestCounts;
  llvm::DenseMap<mlir::Value, llvm::SmallDenseSet<mlir::Value>> largestOf;
};

} // namespace taylor

#endif
