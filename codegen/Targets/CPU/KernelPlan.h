// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decisions about one kernel, made before any code is emitted: which axis of each tile lies in vector lanes,
// which ops run in one sweep, and where in the thread's scratch a tile lives. README.md explains the rules.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_KERNELPLAN_H
#define TAYLOR_CODEGEN_TARGETS_CPU_KERNELPLAN_H
#include "codegen/Targets/CPU/KernelMasks.h"
#include "codegen/Targets/CPU/Processors.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace mlir::tile::cpu {

/// A tile in memory with `lane` contiguous: the same value may exist in several such places. With `pairs`,
/// elements 2k and 2k + 1 along that other axis lie side by side at each lane, as products of 16-bit numbers
/// read them.
struct Copy {
  Value value;
  StringAttr lane, pairs = {};
  bool operator==(const Copy &other) const {
    return value == other.value && lane == other.lane && pairs == other.pairs;
  }
};

} // namespace mlir::tile::cpu

template <> struct llvm::DenseMapInfo<mlir::tile::cpu::Copy> {
  using Copy = mlir::tile::cpu::Copy;
  static Copy getEmptyKey() { return {DenseMapInfo<mlir::Value>::getEmptyKey(), {}, {}}; }
  static Copy getTombstoneKey() { return {DenseMapInfo<mlir::Value>::getTombstoneKey(), {}, {}}; }
  static unsigned getHashValue(const Copy &copy) {
    return llvm::hash_combine(hash_value(copy.value), copy.lane.getAsOpaquePointer(),
                              copy.pairs.getAsOpaquePointer());
  }
  static bool isEqual(const Copy &a, const Copy &b) { return a == b; }
};

namespace mlir::tile::cpu {

/// A product on the matrix unit: C[row][lane] += A[row][pairs] * B[pairs][lane], with 16 rows and 16 lanes to
/// a block. A lies with `pairs` contiguous; B is a copy with pairs (see Copy).
struct TileProduct {
  Value a, b;
  StringAttr row, lane, pairs;
};

/// Ops that run over the same elements in one sweep; with a product, on its accumulator registers. A product
/// on the matrix unit, whose sums are in no vector register, is a sweep without other ops.
struct Sweep {
  DotOp dot;                     // may be null
  SmallVector<DotOp> products;   // on the matrix unit, of the same elements, that these ops alone read
  SmallVector<Operation *> ops;  // map, reduce, store, accumulate
  SmallVector<Axis> axes;        // iteration space
  StringAttr lane;               // null where axes is empty
  SmallVector<Constraint> skips; // elements where one fails need not be computed
};

struct Step {
  enum Kind { Window, Pack, SweepStep, Scan, Concat, Features, Control, Scalar } kind;
  Operation *op = nullptr;           // except for SweepStep and Pack
  std::unique_ptr<Sweep> sweep = {}; // SweepStep
  Copy pack = {};                    // Pack: the copy to make
  int position = 0;                  // in the order of execution; Control: where it begins
  int end = 0;                       // Control: where it ends
};

/// Dense memory in scratch.
struct ScratchPlace {
  SmallVector<StringAttr> order; // axes, outermost first, lanes last
  SmallVector<int64_t> strides;  // in elements; along `pairs`, of an even index
  Type element;                  // as stored: f32, f64, i32, or bf16 for operands of products in pairs
  int64_t bytes = 0;
  unsigned slot = 0;
};

/// Knows what has been decided: the stages fill it in one after the other, and what emits code asks it.
class KernelPlan {
public:
  /// Fails with a diagnostic at an op that is not supported.
  static FailureOr<std::unique_ptr<KernelPlan>> build(KernelOp kernel, const Processor &target);

  /// The contiguous axis that suits the value best; null for a tile without axes.
  StringAttr laneOf(Value value) const { return lanes.lookup(value); }
  /// Null if this copy is never in scratch.
  const ScratchPlace *placeOf(Value value, StringAttr lane, StringAttr pairs = {}) const;
  int64_t offsetOf(const ScratchPlace &place) const { return slots[place.slot].offset; }
  bool sharePlace(const ScratchPlace &a, const ScratchPlace &b) const { return a.slot == b.slot; }
  /// Computed wherever it is used: splats, positions, maps that only feed a product's accumulators.
  bool isInline(Value value) const { return inlined.contains(value); }
  /// The axis along which the product takes two 16-bit elements at a time (vdpbf16ps); null: one f32 element.
  StringAttr pairsOf(DotOp dot) const;
  /// The axis that a product of one row sums along the lanes of both operands, each result by itself
  /// (RowSums.cpp); null where it is no such product.
  StringAttr rowSumOf(DotOp dot) const;
  /// How the product runs on the matrix unit; nothing where it does not.
  std::optional<TileProduct> tileProductOf(DotOp dot) const {
    auto it = tileProducts.find(dot);
    return it == tileProducts.end() ? std::nullopt : std::optional(it->second);
  }
  /// Whether any product does.
  bool usesTiles() const { return !tileProducts.empty(); }
  /// Lanes of one register of the matrix unit.
  static constexpr int64_t kTileLanes = 16;
  /// Lanes that are read and written at once: places, and windows that are read where they lie, hold whole
  /// multiples of them.
  int64_t wholeLanes() const {
    return target.hasTiles ? std::max<int64_t>(vectorLanes, kTileLanes) : vectorLanes;
  }
  /// Rows and lanes of what a sweep's own products have in memory at once.
  static constexpr int64_t kStripRows = 32, kStripLanes = 32;
  /// The copy with pairs that a sweep makes of a value while it computes it, row after row; null where there
  /// is none.
  const Copy *pairStoreOf(Value value) const {
    auto it = pairStores.find(value);
    return it == pairStores.end() ? nullptr : &it->second;
  }
  /// Kept in 16 bits: only products read it, on a target where they multiply pairs.
  bool isNarrow(Value value) const;
  /// A load of an array whose elements products multiply once each: they wait for memory.
  bool isReadOnce(Value value) const;
  /// One of those that widens 16-bit elements: they are widened as they are read.
  bool isStreamed(Value value) const;
  /// Element type of a value in scratch: bf16 and f16 as f32 unless they are narrow or streamed, index and i1
  /// as i32.
  Type storedElement(Value value) const;
  /// Whether a load may be read where it lies, if its window is within bounds and its lanes are contiguous.
  bool mayReadInPlace(LoadOp load) const;
  ArrayRef<Step> stepsOf(Block *block) const;
  /// Instructions that an op takes for one vector of lanes, about.
  int64_t weightOf(Operation *op) const;
  int64_t weightOf(const Sweep &sweep) const;
  /// Instructions of one basic block: LLVM's schedulers and register allocation take the square of it.
  static constexpr int64_t kBlockWeight = 1024;
  /// Where a product on the matrix unit reads the operand that its mask is about, when that has to be
  /// cleared.
  const ScratchPlace *clearedOf(DotOp dot) const {
    auto it = cleared.find(dot);
    return it == cleared.end() ? nullptr : &it->second;
  }

  int64_t scratchBytes = 0;
  unsigned vectorLanes = 0; // elements per vector: all types of a kernel use the same number

private:
  KernelPlan(KernelOp kernel, const Processor &target) : kernel(kernel), target(target) {}

  struct Slot {
    int64_t bytes = 0, offset = 0;
    int begin = INT_MAX, end = -1;
    unsigned members = 0;
  };
  // Stages, in this order
  class LaneChooser;    // KernelLanes.cpp
  class ProductChooser; // KernelTiles.cpp
  class SweepPlanner;   // KernelSweeps.cpp
  class ProductMover;   // KernelTiles.cpp
  class PlaceAllocator; // KernelPlaces.cpp
  class SkipFinder;     // KernelSkips.cpp
  void chooseLanes();
  /// Chooses the products that run on the matrix unit.
  void chooseTileProducts();
  LogicalResult planSweeps();
  /// Moves these into the one sweep that reads their sums, and has sweeps make copies with pairs for them.
  void moveTileProducts();
  void allocatePlaces();
  /// Finds the constraints that let sweeps leave elements out.
  void findSkips();

  /// The one axis with more than one element; null where there is none, or another.
  static StringAttr longAxisOf(TileType tile);
  /// Whether both operands lie along the one axis summed over, in whole vectors.
  bool mayBeRowSum(DotOp dot) const;

  KernelOp kernel;
  const Processor &target;
  DenseMap<Value, StringAttr> lanes;
  DenseMap<Operation *, TileProduct> tileProducts;
  DenseSet<Value> inlined;
  std::map<Block *, std::vector<Step>> steps;
  DenseMap<Operation *, Sweep *> sweepOf;
  llvm::MapVector<Copy, ScratchPlace> places;
  std::vector<Slot> slots;
  DenseSet<Copy> packs;
  DenseMap<Value, Copy> pairStores;
  DenseMap<Operation *, ScratchPlace> cleared;
  DenseSet<Value> writtenArrays;
};

} // namespace mlir::tile::cpu
#endif
