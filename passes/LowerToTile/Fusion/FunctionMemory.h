// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What of a function has memory, as its `fusion.keep` say, and what computing a value therefore reads.
#ifndef TAYLOR_PASSES_LOWERTOTILE_FUSION_FUNCTIONMEMORY_H
#define TAYLOR_PASSES_LOWERTOTILE_FUSION_FUNCTIONMEMORY_H

#include "passes/LowerToTile/Fusion/FusionDialect.h"
#include "passes/LowerToTile/LoweringInterface.h"

#include "llvm/ADT/MapVector.h"

namespace taylor {

/// What a kernel reads to compute a value.
struct Reads {
  /// With memory, or summed by an operation's own kernel.
  llvm::SetVector<mlir::Value> values;
  /// Reductions over tokens whose sums over blocks it adds, and operations whose loops over keys it runs.
  llvm::SetVector<mlir::Operation *> parts, rowPairs;
  llvm::SmallVector<AngleTable, 2> tables;
  /// Other places of arrays than the block's own.
  bool elsewhere = false;
};

/// What a value is computed from in its kernel, tile by tile: sums over pairs, arrays in memory, and the
/// operations after them.
struct Needs {
  llvm::SmallSetVector<mlir::Value, 4> sums, loaded;
  llvm::SmallPtrSet<mlir::Operation *, 16> operations;
  bool contains(mlir::Value tile) const { return sums.contains(tile) || loaded.contains(tile); }
};

class FunctionMemory {
public:
  /// Reads the function's plan and its `fusion.keep`.
  explicit FunctionMemory(FunctionOp function);

  const TileSizes &getSizes() const { return sizes; }
  bool contains(mlir::Value value) const { return values.contains(value); }
  bool isApart(mlir::Value sum) const { return apart.contains(sum); }
  /// What the plan says of a value's memory, or of the sums over blocks of a reduction; null where it says
  /// nothing.
  mlir::StringAttr getReason(mlir::Value value, bool ofParts = false) const;
  /// In the order of the text: values that have memory, and reductions whose sums over blocks have.
  const llvm::SetVector<mlir::Value> &getValues() const { return values; }
  mlir::ArrayRef<mlir::Operation *> getParts() const { return parts.getArrayRef(); }

  // For the operations' own rules (LoweringInterface.td) and the passes that keep more. The first reason that
  // a value has is the one that is told.
  /// Gives memory to a value that is no argument; returns whether it had none.
  bool keep(mlir::Value value, llvm::StringRef because);
  /// The same of vectors whose features are summed over tokens, where it must have memory: features of tokens
  /// that do not count meet values of 0.
  void keepSummed(mlir::Value vectors);
  /// A reduction over tokens: each block has a sum of its own, and these have memory.
  void keepParts(ReduceOp op);
  /// A sum into columns that its own kernel computes nothing from; returns whether that is new.
  bool keepApart(mlir::Value sum, llvm::StringRef because);
  /// Adds the `fusion.keep` of what is kept since the function's were read; returns how many.
  int64_t write();

  /// Whether what an array holds past the last token is a number. What lies in memory is 0 there.
  bool isFinitePastEnd(mlir::Value array) const;
  /// Whether sums over tokens, which a block makes for its own place alone, are among what it is computed
  /// from.
  bool readsSums(mlir::Value value) const;
  /// Whether a block of so many tokens holds all that a value is computed from, next to `waiting` bytes of
  /// each.
  bool fitsBlock(mlir::Value value, int64_t tokens, int64_t waiting = 0) const;

  /// What computing a value reads; of one that has memory, computing it anew.
  Reads readsOf(mlir::Value value) const;
  Reads readsOf(fusion::StoreOp store) const;
  Reads readsOfOperands(mlir::Operation *op) const;
  /// Of a kernel's operation (`fusion.kernel`); nothing where it has none.
  Reads readsOfPlanned(fusion::KernelOp kernel) const;

  Needs needsOf(mlir::Value value) const;

private:
  void collectNeeds(mlir::Value value, Needs &needs) const;
  void collect(mlir::Value value, Reads &reads, llvm::SmallPtrSetImpl<mlir::Operation *> &seen,
               bool anew) const;

  FunctionOp function;
  TileSizes sizes;
  llvm::SetVector<mlir::Value> values;
  llvm::SetVector<mlir::Operation *> parts;
  llvm::DenseSet<mlir::Value> apart;
  /// Not yet written.
  llvm::MapVector<mlir::Value, std::string> newValues, newApart;
  llvm::SmallVector<ReduceOp> newParts;
};

/// The operation with sums into columns, a total or diagonals that gives this value, or null.
PairwiseOp columnPairs(mlir::Value value);

/// Whether an operation's kernel sums it up in memory, in parts, and others read it: rows of a recurrence,
/// results of pairs with columns.
bool isSummedApart(mlir::Value value);

/// The positions that a kernel of angles reads; else null.
mlir::Value positionsOf(fusion::KernelOp kernel);

/// Whether callers may leave out a result of the function, by its number.
bool isOptional(FunctionOp function, unsigned result);

/// Run-time axes that any of the arrays has, or that `op` reads an index along, in the order of a grid; heads
/// stand for their groups.
llvm::SmallVector<AxisRef> gridAxes(llvm::ArrayRef<mlir::Value> arrays, mlir::Operation *op = nullptr);

/// All results of an operation that something reads; returns whether one had no memory yet.
bool keepResults(FunctionMemory &kept, mlir::Operation *op, llvm::StringRef because);

/// Bytes per token of what `value` is computed from where it is read: arrays in memory (those `stored`,
/// and arguments), tables of a rotation, and sums over pairs. `value` itself counts as computed.
int64_t countTokenBytes(mlir::Value value, const llvm::SetVector<mlir::Value> &stored);

/// The largest bytes that the operands of one product take, an array of `tokens` tokens and a table, where
/// `value` is computed from products as taylor-form-products makes them; 0 where there is none.
int64_t countProductBytes(mlir::Value value, const llvm::SetVector<mlir::Value> &stored, int64_t tokens);

/// Bytes per token of an array as `elementType`; 0 if it has no tokens.
int64_t countTokenBytes(ArrayType type, mlir::Type elementType);

} // namespace taylor

#endif
