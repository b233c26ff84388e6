// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits one kernel as scf, arith, math and vector code on LLVM pointers, after a KernelPlan.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_KERNELEMITTER_H
#define TAYLOR_CODEGEN_TARGETS_CPU_KERNELEMITTER_H
#include "codegen/Targets/CPU/KernelPlan.h"
#include "codegen/Targets/Frame/KernelFrame.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tile::cpu {

/// An i64 that may be known: value + constant, value null for a constant.
struct Index {
  Value value;
  int64_t constant = 0;
  Index(int64_t constant = 0) : constant(constant) {}
  Index(Value value, int64_t constant = 0) : value(value), constant(constant) {}
  Index operator+(int64_t more) const {
    Index sum = *this;
    sum.constant += more;
    return sum;
  }
};

/// A tile in memory: element at index i of its axes is at pointer + sum of stride * i.
struct TileView {
  Value pointer;
  Type element;                                      // in memory: f32, f64, i32
  StringAttr lane, pairs;                            // as in Copy
  SmallVector<std::pair<StringAttr, Index>> strides; // in elements; the lane's is 1, or 2 with pairs
  Index stride(StringAttr axis) const {
    for (auto &[name, stride] : strides)
      if (name == axis)
        return stride;
    return 0;
  }
};

/// Where a sweep is: an index per axis. Along `lane` the index is that of a vector's first element.
struct Point {
  StringAttr lane;
  SmallVector<std::pair<StringAttr, Index>> at;
  Index along(StringAttr axis) const {
    for (auto &[name, index] : at)
      if (name == axis)
        return index;
    return 0;
  }
  /// With one axis more; a null axis adds nothing.
  Point with(StringAttr axis, Index index) const {
    Point there = *this;
    if (axis)
      there.at.push_back({axis, index});
    return there;
  }
  /// `distance` further along an axis that it has; along others, here.
  Point moved(StringAttr axis, int64_t distance) const {
    Point there = *this;
    for (auto &[name, index] : there.at)
      if (name == axis)
        index = index + distance;
    return there;
  }
};

/// Memory of an array in this call.
struct ArrayOperand {
  Value pointer;
  SmallVector<Index> strides, extents; // in elements, one per axis
};

/// A window of an array, seen from the tile.
struct Window {
  struct Bound {
    StringAttr axis;
    StringAttr minus; // null, or the axis that is subtracted where two lie along one of the array
    Index first, end; // indices along the axis (differences of two) that lie within the array
    bool has(StringAttr name) const { return axis == name || (minus && minus == name); }
  };
  Value pointer;                                     // where element 0 of all axes is, or would be
  Type element;                                      // in memory
  SmallVector<std::pair<StringAttr, Index>> strides; // of the tile's axes, in elements; each once
  SmallVector<Bound, 2> bounds;                      // of axes that may leave the array
  Value valid; // i1; null: the axes that the tile lacks are surely within the array
  Index stride(StringAttr axis) const {
    for (auto &[name, stride] : strides)
      if (name == axis)
        return stride;
    return 0;
  }
};

/// Emits the body of one kernel. The plan has refused what is not supported, so nothing here fails.
class KernelEmitter : KernelFrame {
public:
  KernelEmitter(KernelOp kernel, const KernelPlan &plan, const Processor &target, ImplicitLocOpBuilder &b)
      : KernelFrame(kernel, b), plan(plan), target(target), b(b), W(plan.vectorLanes) {
    // A tile is memory.
    types.addConversion([](TileType, SmallVectorImpl<Type> &) { return success(); });
  }

  /// The body of `void (call, begin, end, scratch)`: blocks [begin, end) of the kernel's grid.
  void emit(func::FuncOp function);

private:
  using Locals = DenseMap<Value, Value>;
  using Body = function_ref<void(const Point &)>;
  /// Vectors [row][lane vector] that a reduction sees in one block of a sweep.
  using Block2D = SmallVector<SmallVector<Value>>;

  // EmitKernel.cpp: arrays, and what a tile is to loops and branches
  void loadArrays(Value call);
  LogicalResult emitBlock(Block &block) override;
  Value addressOf(Value array) override { return arrays[array].pointer; }
  void openTile(Value tile) override { definePlace(tile, plan.laneOf(tile)); }
  void moveTile(Value from, Value to) override;
  Value emitLookup(LookupOp op);
  void copyTile(Value from, TileView to);
  TileView ownView(Value value) { return *findView(value, plan.laneOf(value)); }

  /// How a sweep goes through its tile: blocks of `rows` along `row` by `vectors` of lanes.
  struct SweepShape {
    StringAttr row; // null: none
    int64_t lanesSize = 1, rowSize = 1;
    int64_t rows = 1, vectors = 1;
    bool skips = false; // only blocks that the sweep's skips leave
  };

  // EmitSweep.cpp: what is done at every element
  SweepShape shapeOf(const Sweep &sweep) const;
  void emitSweep(const Sweep &sweep);
  /// Defines what an op of the sweep writes to: places of its results, windows of stores.
  void openResults(Operation *op, const Sweep &sweep);
  /// Fills the place of a reduction that is made of several blocks: they are combined there.
  void startReduction(ReduceOp reduce, const Sweep &sweep);
  /// All rows of the sweep for `vectors` vectors of lanes.
  void emitLanes(const Sweep &sweep, const SweepShape &shape, const Point &outer, Index firstLane,
                 int64_t vectors);
  /// Rows of the lanes [firstLane, firstLane + lanes) that the sweep's skips leave, in multiples of `step`.
  std::pair<Index, Index> rowRange(const Sweep &sweep, StringAttr row, int64_t rowSize, int64_t step,
                                   Index firstLane, int64_t lanes);
  /// Stores the masks' constants where the sweep does not go.
  void fillSkipped(const Sweep &sweep, const Point &outer, StringAttr row, Index begin, Index end,
                   Index firstLane, int64_t vectors);
  /// -(terms + constant): the bound on plus - minus.
  Index boundOf(const Constraint &constraint);
  Index minimum(Index x, Index y);
  Index maximum(Index x, Index y);
  void emitSweepBlock(const Sweep &sweep, const Point &point, StringAttr row, int64_t rows, int64_t vectors);
  /// What follows the product in a block of a sweep. `valid`: its rows lie in all arrays that it writes.
  void emitSweepRows(const Sweep &sweep, const Point &point, StringAttr row, int64_t rows, int64_t vectors,
                     const Block2D &product, bool valid);
  /// By operation: a vector that it reduces or writes.
  using Results = llvm::MapVector<Operation *, Value>;
  void emitOps(const Sweep &sweep, const Point &point, Locals &locals, Results &reduced, Results &written);
  void emitMap(MapOp map, const Point &point, Locals &locals);
  Value emitSlice(SliceOp slice, const Point &point);
  Value fetch(Value value, const Point &point, Locals &locals);
  /// The vector of the elements offset + stride * (index of each lane), read one by one. Lanes from `size` on
  /// repeat the last.
  Value gather(Value value, const Point &point, int64_t size, int64_t stride = 1, int64_t offset = 0);
  /// Truth values are integers in memory; others stay.
  Value asTruth(Value value, Value vector);
  void storeLocal(Value value, const Point &point, Value vector);
  /// Vectors of rows r and r + 1 side by side, to a copy with pairs that the sweep makes itself.
  void storePair(Value value, const Point &point, Value even, Value odd);
  void reduceBlock(ReduceOp reduce, const Sweep &sweep, const Point &point, StringAttr row,
                   const Block2D &block);
  bool coversLanes(ReduceOp reduce, const Sweep &sweep) const;
  Value combine(ReductionKind kind, Value a, Value b);
  Value horizontal(ReductionKind kind, Value vector);
  Value identity(ReductionKind kind, Type type);
  Value constantVector(FloatAttr number);
  /// The lanes of the vector at `point` that belong to the tile, where the last vector is not full; null:
  /// all.
  Value tailMask(const Point &point, int64_t vector, int64_t size);
  /// Loops over the axes but `skip`, outermost first.
  void loopOver(ArrayRef<Axis> axes, ArrayRef<StringAttr> skip, Point point, Body body);
  /// `for (i = 0; i < count; i += step)`, without a loop where it runs once.
  void loopBlocks(int64_t count, int64_t step, function_ref<void(Index)> body);
  /// The first lane of each vector of an axis; in a loop where there are many.
  void loopVectors(int64_t size, function_ref<void(Index)> body);

  // EmitProduct.cpp
  struct Product;
  Block2D emitProduct(const Sweep &sweep, const Point &point, StringAttr row, int64_t rows, int64_t vectors);
  /// Adds the product over the axes, and of all elements along them, to C's accumulators [row * vectors + v].
  SmallVector<Value> sumOver(const Product &product, ArrayRef<Axis> axes, Index offsetA, Index offsetB,
                             const Point &point, ValueRange accumulators);
  /// The same of one row with sums of even and of odd lanes, while it adds.
  SmallVector<Value> sumHalves(const Product &product, ArrayRef<Axis> axes, const Point &point,
                               ArrayRef<Value> start);
  /// Adds one element (or pair) of A per row times B's vectors. `point` is where the product and the sum are.
  SmallVector<Value> multiplyAdd(const Product &product, Index offsetA, Index offsetB, const Point &point,
                                 ValueRange accumulators);
  /// Rounded down, or up, to a multiple of `step`, a power of two.
  Index wholeSteps(Index x, int64_t step, bool up);
  /// What of the axis the sum needs to visit: where A is masked with zeros it starts late or ends early.
  std::pair<Index, Index> sumRange(const Product &product, const Axis &axis);
  /// The same where the sum runs along the lanes `over` of both operands (EmitRowSums.cpp).
  struct RowSums;
  Block2D emitRowSums(const Sweep &sweep, const Point &point, StringAttr over, int64_t vectors);
  /// Elements from one of an array that is read once to what the next lines of the caches hold, of rows so
  /// many elements long that are `stride` apart; null where a value is no such array.
  std::optional<Index> distanceAhead(Value value, const TileView &view, int64_t size, Index stride,
                                     int64_t step);
  /// Fetches what so many elements hold.
  void prefetch(const TileView &view, Value where, int64_t elements);
  /// Elements of even and of odd index of two vectors.
  std::pair<Value, Value> separate(Value x, Value y);
  /// And back.
  std::pair<Value, Value> join(Value even, Value odd);
  /// The same of 2 W numbers of bf16 in memory, as f32: without a shuffle.
  std::pair<Value, Value> loadHalves(Value where);
  /// One vector of sums of all vectors' elements, pairs of which are `distance` apart, and then twice as far.
  Value sumEach(MutableArrayRef<Value> vectors, int64_t distance);
  Value loadA(const Product &product, Value where);
  Value loadB(const Product &product, Value where);
  Value widen(Value x, Type element);

  // EmitMasked.cpp: products that look at their mask, since an operand is not finite
  struct FiniteScan;
  /// Whether all elements of a tile in memory are finite, an i1.
  Value emitIsFinite(Value tile);
  /// Lanes that are finite, of numbers or of bits of bf16.
  Value finiteLanes(Value vector);
  /// Elements of the vector where the product's mask holds at `point`, and where they are finite; others
  /// are 0.
  Value clearMasked(DotOp dot, StringAttr pairs, Value vector, const Point &point);
  /// An element of a view with pairs or without.
  Value elementAddress(const TileView &view, const Point &point);
  /// A copy of a tile in which all that is not finite is 0.
  void copyCleared(TileType type, const TileView &from, const TileView &to);
  /// Adds what the cleared elements give where the mask holds.
  void addVisible(DotOp dot, const TileView &weights, const TileView &values, const TileView &sums);

  // EmitTiles.cpp: products on the matrix unit
  struct TileBlocks;
  TileBlocks openTileProduct(DotOp dot, const TileView &to);
  void emitTileProduct(const Sweep &sweep);
  void readCleared(TileBlocks &blocks);
  /// A sweep with products of its own, strip by strip.
  void emitStrips(const Sweep &sweep);
  /// `rows` by `lanes` (a multiple of 16) sums of a product.
  void emitTileRegion(TileBlocks blocks, const Point &outer, Index firstRow, int64_t rows, Index firstLane,
                      int64_t lanes);
  void emitTileBlock(const TileBlocks &blocks, const Point &point, ArrayRef<int64_t> tileRows,
                     int64_t columns, int64_t firstK, int64_t pastK, int64_t step);
  /// What of [firstK, pastK) a block needs to visit: where an operand is masked with zeros it starts late or
  /// ends early.
  std::pair<Index, Index> tileRange(const TileBlocks &blocks, const Point &point, int64_t columns,
                                    int64_t firstK, int64_t pastK, int64_t step);
  /// The unit's registers get their usual sizes at a kernel's beginning, and are given back at its end.
  void beginTiles();
  void endTiles();
  void configureTiles(ArrayRef<int8_t> configuration);
  /// An instruction of the unit, or a call of its emulation.
  void callTileUnit(StringRef instruction, ArrayRef<int64_t> registers, ValueRange operands);

  // EmitRearrange.cpp: transposition, concatenation, running sums
  void emitScan(ScanOp scan);
  void emitConcat(ConcatOp concat);
  void emitPack(Copy copy);
  void emitPairs(Copy copy, const TileView &from, const TileView &to);
  void transposeTile(TileType type, const TileView &from, const TileView &to);
  void transposeBlock(const TileView &from, const TileView &to, const Point &point, StringAttr rows,
                      StringAttr lanes, Type unit);
  void transposeNarrow(const TileView &from, const TileView &to, const Point &point, StringAttr rows,
                       StringAttr lanes);
  /// Elements of both vectors in turn.
  Value interleave(Value x, Value y);
  /// Turns W vectors of W units, rows of a square, into its columns.
  void transposeVectors(MutableArrayRef<Value> vectors);

  // EmitFeatures.cpp: monomials of vectors, tokens in lanes
  struct FeatureRun;
  struct FeatureTables;
  void emitExpand(ExpandOp expand);
  void emitExpandOne(ExpandOp expand);
  void emitContract(ContractOp contract);
  FeatureTables featureTables(FeaturesAttr features, ArrayRef<double> weights, Type element);
  /// Calls `body` for each order with the numbers of its features in the panel from `start` on: from, to.
  void forOrders(FeaturesAttr features, Value start, int64_t size,
                 function_ref<void(int64_t, Value, Value)> body);
  FeatureRun loadRun(const FeatureTables &tables, FeaturesAttr features, int64_t order, Value number,
                     Value end, Value start);
  /// Calls `body` for the features of a panel, run by run.
  void forRuns(FeaturesAttr features, const FeatureTables &tables, Value start, int64_t size,
               function_ref<void(const FeatureRun &)> body);
  /// A vector of features of a run, from `number` on; `components` points to the last component of the first
  /// of them, null for order 0; a null `prefix` is 1. Lanes from `count` on are 0.
  Value emitRunLanes(const FeatureTables &tables, Value prefix, Value number, Value count,
                     const TileView &vector, Value components);
  /// Vectors [first, past) of a row.
  struct VectorRange {
    int64_t first, past;
  };
  /// Calls `body` for so many vectors at once as registers hold beside their sums.
  void forRanges(int64_t vectors, function_ref<void(VectorRange)> body);
  /// The product of the components that a run's features share, but for one; null where there are none.
  SmallVector<Value> loadPrefix(const TileView &vectors, StringAttr axis, const FeatureRun &run,
                                VectorRange range, std::optional<size_t> without = std::nullopt);
  /// In all lanes; null where all weights are 1.
  Value loadWeight(const FeatureTables &tables, Index number, Type element);
  /// A constant array of the module, made once.
  Value table(const Twine &name, DenseElementsAttr values);
  /// One component of the vectors at each token.
  SmallVector<Value> loadComponent(const TileView &view, StringAttr axis, Index component, VectorRange range);
  void storeComponent(const TileView &view, StringAttr axis, Index component, VectorRange range,
                      ArrayRef<Value> values);

  // EmitWindow.cpp: arrays
  void emitWindow(LoadOp load);
  void copyWindow(const Window &window, TileType tile, const TileView &to);
  /// Copy one row of a window, `size` elements along `to`'s lane, with zeros beyond the window's bounds.
  void copyVectors(const Window &window, const TileView &from, const TileView &to, const Point &row,
                   int64_t size);
  void copyElements(const Window &window, const TileView &from, const TileView &to, const Point &row,
                    int64_t size);
  /// `end`: where the array ends along `endAxis`, if it does so earlier.
  Window makeWindow(Value array, TileType tile, ArrayAttr arrayAxes, ArrayAttr tileAxes, ValueRange offsets,
                    Value end = {}, StringAttr endAxis = {});
  /// Elements or a vector of them; lanes off the mask (null: none) are 0.
  Value loadElements(Type type, Value where, Value mask);
  /// An element or, with lanes, a vector of a tile in memory, as it is in registers.
  Value loadTile(const TileView &view, Value where, bool isVector);
  void storeTile(const TileView &view, Value vector, Value where);
  /// Whether an element is within a bound.
  Value isWithin(const Window::Bound &bound, const Point &point);
  Value rowValid(const Window &window, const Point &point);
  Value laneMask(const Window &window, const Point &point, int64_t size);
  /// Whether vectors along the lane are written without a condition on their elements.
  bool isPlain(const Window &window, StringAttr lane) const;
  Value lanesValid(Operation *op, const Window &window, const Point &point, int64_t vectors);
  /// Writes a row's vectors from `point` on. `valid`: the row is known to lie in the array.
  void writeRow(Operation *op, ArrayRef<Value> vectors, const Point &point, bool valid);
  void writeContiguous(const Window &window, bool accumulate, Value vector, Value where, Value mask);
  void writeScalars(const Window &window, bool accumulate, Value vector, Value where, Value mask,
                    Index stride);
  /// Lanes of the vector at `point` that lie in the array and in the tile; null: all.
  Value writeMask(Operation *op, const Window &window, const Point &point);
  void emitIf(Value condition, function_ref<void()> then, function_ref<void()> otherwise = {});
  Value fromStorage(Value memory, Type element);
  Value toStorage(Value value, Type element);

  // Small things, EmitKernel.cpp
  Type vectorOf(Type element) const { return VectorType::get({W}, element); }
  Value constant(int64_t value);
  Value zeroOf(Type type);
  Value asValue(Index index);
  Index add(Index a, Index b);
  Index subtract(Index a, Index b);
  Index multiply(Index a, Index b);
  Value gep(Value pointer, Type element, Index index);
  Value load(Type type, Value pointer);
  void store(Value value, Value pointer);
  Value splat(Value scalar);
  /// A scalar of the kernel as a vector, of the type that maps compute it in.
  Value splatScalar(Value scalar);
  Value both(Value a, Value b);
  Value compare(arith::CmpIPredicate predicate, Index a, Index b);
  Value iota();
  Value address(const TileView &view, const Point &point);
  const TileView *findView(Value value, StringAttr lane, StringAttr pairs = {});
  TileView placeView(const ScratchPlace &place, StringAttr lane);
  void definePlace(Value value, StringAttr lane);
  int64_t vectorsOf(int64_t size) const { return (size + W - 1) / W; }

  const KernelPlan &plan;
  const Processor &target;
  ImplicitLocOpBuilder &b;
  int64_t W;
  Value scratch;
  DenseMap<Value, ArrayOperand> arrays;
  DenseMap<Value, SmallVector<TileView, 1>> views;
  DenseMap<Operation *, Window> writes; // windows of the stores in the sweep being emitted
  Value isFinite;                       // of the operand that the mask of the sweep's product is about, an i1
};

/// The sizes that `pointer` (TaylorCall.dims) holds.
SizeValues loadSizes(ImplicitLocOpBuilder &b, Value pointer);

/// Clones one op of a map's region on vectors of `lanes` elements: `values` maps its operands. Index becomes
/// i32, 16-bit floats are computed in f32. EmitScalar.cpp
Value emitVectorOp(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands, int64_t lanes,
                   const Processor &target);
/// f32 to bf16, nearest even, in integers: LLVM calls a library for it where the target lacks AVX512-BF16.
Value emitRoundToBF16(ImplicitLocOpBuilder &b, Value x);
/// Refuses, with a diagnostic, ops in maps and between them that cannot be emitted.
LogicalResult checkScalarOps(KernelOp kernel);
/// Element type of a tile's element in registers: index is i32, 16-bit floats are f32, i1 stays.
Type registerType(Type element);

} // namespace mlir::tile::cpu
#endif
