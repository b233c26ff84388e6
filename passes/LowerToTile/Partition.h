// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function's operations as a sequence of kernels: which values get memory, and which kernel computes them.
//
// A value has memory where it is read by other tokens, heads or blocks than made it, or is read so often that
// computing it again would cost. All else is computed where it is read. Each value with memory (and each
// result of the function) is the *root* of one kernel; its stage is one more than the last stage of what it
// reads. Roots of one stage over the same axes share a kernel.
#ifndef TAYLOR_PASSES_LOWERTOTILE_PARTITION_H
#define TAYLOR_PASSES_LOWERTOTILE_PARTITION_H

#include "passes/LowerToTile/TileEmitter.h"
#include "llvm/ADT/MapVector.h"
#include <set>

namespace taylor {

/// Who asks for a value: everybody, or the holders of these results of the function (by number).
struct Demand {
  bool always = false;
  std::set<unsigned> results; ///< In their order, so that kernels which forms have in common are the same.
  void join(const Demand &other) {
    always |= other.always;
    results.insert(other.results.begin(), other.results.end());
  }
  bool operator==(const Demand &) const = default;
};

/// A value that a kernel computes and stores.
struct Root {
  mlir::Value value;
  /// Not the value but its partial sums per block of tokens.
  bool partial = false;
  /// Also kept in workspace, beside the function's results that it is.
  bool workspace = false;
  llvm::SmallVector<unsigned> results;
  int64_t stage = 0;
  Demand demand;
};

/// A channel axis, or none where the name is empty.
struct ChannelAxis {
  llvm::StringRef name;
  int64_t size = 0;
  bool operator==(const ChannelAxis &other) const = default;
};

struct KernelPlan {
  enum class Kind { Angles, Local, Scan, States, Steps, Pairs } kind;
  int64_t stage = 0;
  /// Order among kernels of one stage and kind.
  size_t number = 0;
  std::string name;
  /// Grid: run-time axes of what is computed, a token axis in blocks.
  llvm::SmallVector<AxisRef> axes;
  /// Where there are no tokens and many channels, as of a state: these, in blocks of a panel of features.
  ChannelAxis channels;
  /// The scan, the states, the steps or the pairwise operation.
  mlir::Operation *op = nullptr;
  std::optional<AngleTable> angles;
  /// Loops over keys: what it computes sums into rows.
  llvm::SmallSetVector<mlir::Operation *, 2> rowPairs;
  std::vector<Root> roots;
};

class Partition {
public:
  Partition(FunctionOp function, const TileSizes &sizes) : function(function), sizes(sizes) {}

  /// Checks that everything has a lowering, prepares the function (it is changed), and plans. Errors are
  /// reported.
  mlir::LogicalResult run();

  std::vector<KernelPlan> kernels;
  llvm::SmallVector<AngleTable> angles;
  /// Demand for each result of an operation with sums into columns.
  llvm::DenseMap<mlir::Value, Demand> demands;
  /// Of what a kernel's roots read of one of its loops over keys.
  Demand demandOfRows(const KernelPlan &kernel, mlir::Operation *pairs);
  /// Sums into columns that need workspace of their own; sums into rows and totals, all of them.
  bool hasMemory(mlir::Value value) const { return stored.contains(value); }
  bool isOptional(unsigned result) const;

  // For the operations' own rules (LoweringInterface.td), which say what must have memory
  const TileSizes &getSizes() const { return sizes; }
  /// Gives memory to a value that is no argument.
  void store(mlir::Value value);
  /// The same of vectors whose features are summed over tokens, where it must have memory: features of tokens
  /// that do not count meet values of 0.
  void storeSummed(mlir::Value vectors);
  /// A table that rotations read, with its positions.
  void storeAngles(const AngleTable &table);
  /// A reduction over tokens: each block has a sum of its own, and these have memory.
  void sumInParts(ReduceOp op) { partials.insert(op); }
  /// Whether what an array holds past the last token is a number. What lies in memory is 0 there.
  bool isFinitePastEnd(mlir::Value array) const;
  /// Whether sums over tokens, which a block makes for its own place alone, are among what it is computed
  /// from.
  bool readsSums(mlir::Value value) const;
  /// Whether a block of so many tokens holds all that a value is computed from, beside `waiting` bytes of
  /// each.
  bool fitsBlock(mlir::Value value, int64_t tokens, int64_t waiting = 0) const;
  /// Whether an operation only multiplies rows by a number of each row, which is done where they are read.
  bool isRowProduct(mlir::Operation *op) const { return rowProducts.contains(op); }

private:
  mlir::LogicalResult check();
  void chooseStored();
  void addRoots();
  void placeRoots();
  void delayRoots();
  /// Where kernels are to be few, a kernel that loops over keys computes and stores what one over the same
  /// tokens would compute for it and for later kernels.
  void joinRows();
  bool canJoin(const KernelPlan &early, const KernelPlan &late);
  /// All results of an operation that something reads; returns whether one had no memory yet.
  bool storeResults(mlir::Operation *op);
  /// Row sums that several kernels would compute get memory; returns whether there were any.
  bool storeSharedRows();
  /// So do those of which one of the kernel's roots is computed with more than a block holds.
  bool storeCrowdedRows();
  /// Sums into columns, where others that wait for their turn leave no room.
  bool storeCrowdedColumns();
  void propagateDemand();
  /// 16-bit keys and values that a loop reads again are converted once, into workspace.
  void convertKeys();
  KernelPlan &kernelFor(KernelPlan::Kind kind, int64_t stage, llvm::ArrayRef<AxisRef> axes,
                        mlir::Operation *op = nullptr, ChannelAxis channels = {});
  /// The longest channel axis along which blocks can compute a root by themselves, where it is long.
  ChannelAxis longAxisOf(const Root &root);
  void nameKernels();

  struct Leaves {
    llvm::SetVector<mlir::Value> values; // with memory, or results of pairs with columns
    llvm::SetVector<mlir::Operation *> partials, rowPairs;
    int64_t angles = -1; // the stage after which all tables of angles are there
    bool loops = false;
    llvm::SmallPtrSet<mlir::Operation *, 16> seen; // values share operands
  };
  /// What computing a value (or, for a stored one, computing it anew) reads.
  void collect(mlir::Value value, Leaves &leaves, bool top);
  void collectOperands(mlir::Operation *op, Leaves &leaves);
  Leaves leavesOf(const Root &root);
  int64_t stageOf(const Leaves &leaves);
  int64_t stageOf(mlir::Value value);
  int64_t stageOfPairs(PairwiseOp op);
  int64_t stageOfOperands(mlir::Operation *op);
  int64_t stageOfPartial(mlir::Operation *op);
  int64_t stageOfAngles(const AngleTable &table);
  /// The operation with columns into whose kernel a root fits, or null.
  PairwiseOp fusedInto(mlir::Value value, const Leaves &leaves);
  static PairwiseOp columnPairs(mlir::Value value);
  /// What an operation's kernel sums up in memory, in parts, and others read: rows of a recurrence, results
  /// of pairs with columns.
  static bool isSummedApart(mlir::Value value);
  static PairOutput sumKind(mlir::Value value);

  FunctionOp function;
  const TileSizes &sizes;
  llvm::DenseSet<mlir::Operation *> rowProducts;
  llvm::SetVector<mlir::Value> stored;
  /// Sums into columns that are finished in a kernel of their own.
  llvm::DenseSet<mlir::Value> finishedElsewhere;
  llvm::SetVector<mlir::Operation *> partials;
  std::vector<Root> roots;
  llvm::DenseMap<mlir::Value, int64_t> stages;
  llvm::DenseMap<mlir::Operation *, int64_t> operationStages;
};

/// Run-time axes that any of the arrays has, or that `op` reads an index along, in the order of a grid; heads
/// stand for their groups.
llvm::SmallVector<AxisRef> gridAxes(llvm::ArrayRef<mlir::Value> arrays, mlir::Operation *op = nullptr);

} // namespace taylor

#endif
