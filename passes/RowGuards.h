// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Guards for rows that see no key: neither what depends on their sums nor what only their sums read runs
// there.
#ifndef TAYLOR_PASSES_ROWGUARDS_H
#define TAYLOR_PASSES_ROWGUARDS_H

#include "dialect/Taylor/TaylorDialect.h"

#include "llvm/ADT/SetVector.h"

namespace taylor {

/// Writes the counts of visible keys into `live(..)`. A row is dead where one of the counts it came from is
/// 0, and its value is 0 there. What mixes tokens or keys reads dead rows and is itself alive.
class RowGuards {
public:
  /// `value` is a sum over keys, or their number, of rows that see `count` keys.
  void start(mlir::Value value, mlir::Value count);

  /// Guards all that depends on a sum. Warns where what a row sees is lost (`warnOfMixedMasks`).
  void guardResults(mlir::Block &block);

  /// Guards formulas over rows that nobody but sums over keys, and what is guarded already, reads, where they
  /// may give what is no finite number, or have such a derivative: a sum skips its dead rows, but 0 times
  /// infinity would pass through the products of its derivative. Follows `guardResults`.
  void guardOperands(mlir::Block &block);

private:
  using Counts = llvm::SmallSetVector<mlir::Value, 2>;

  /// Warns of a map of sums that see different keys, where it is 0 in rows that one of them sees.
  void warnOfMixedMasks(MapOp map, const Counts &dependsOn);
  Counts reduceCounts(ReduceOp reduce, const Counts &terms);
  mlir::Value buildAny(mlir::Operation *op, llvm::ArrayRef<mlir::Value> given, ArrayType domain);

  llvm::DenseMap<mlir::Value, Counts> counts;
  llvm::DenseMap<mlir::Operation *, mlir::Value> countOfSums;
  using ByCounts = llvm::DenseMap<llvm::SmallVector<mlir::Value>, mlir::Value>;
  llvm::DenseMap<mlir::Attribute, ByCounts> reducedCounts; // by axes, then counts of terms
  ByCounts largestCounts;
};

} // namespace taylor

#endif
