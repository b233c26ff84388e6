// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code on vectors and on memory, of no kernel in particular.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_VECTORCODE_H
#define TAYLOR_CODEGEN_TARGETS_CPU_VECTORCODE_H
#include "codegen/Targets/CPU/KernelPlan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// Writes vectors of W elements, addresses and loops at a builder's place. It knows a processor, and no tile.
class VectorCode {
public:
  using LoopBody = function_ref<void(const Point &)>;

  VectorCode(ImplicitLocOpBuilder &b, const Processor &target, int64_t lanes)
      : b(b), target(target), W(lanes) {}

  // Numbers
  Value constant(int64_t value);
  Value zeroOf(Type type);
  Value asValue(Index index);
  Index add(Index a, Index b);
  Index subtract(Index a, Index b);
  Index multiply(Index a, Index b);
  Index minimum(Index x, Index y);
  Index maximum(Index x, Index y);
  /// Rounded down, or up, to a multiple of `step`, a power of two.
  Index wholeSteps(Index x, int64_t step, bool up);
  Value compare(arith::CmpIPredicate predicate, Index a, Index b);

  // Vectors
  Type vectorOf(Type element) const { return VectorType::get({W}, element); }
  int64_t vectorsOf(int64_t size) const { return (size + W - 1) / W; }
  Value splat(Value scalar);
  Value constantVector(FloatAttr number);
  Value iota();
  /// The lanes of the vector at `point` that belong to the tile, where the last vector is not full; null:
  /// all.
  Value tailMask(const Point &point, int64_t vector, int64_t size);
  /// Both truth values, of which a null one is true; a scalar counts for all lanes.
  Value both(Value a, Value b);
  Value widen(Value x, Type element);

  // Memory
  Value gep(Value pointer, Type element, Index index);
  Value load(Type type, Value pointer);
  void store(Value value, Value pointer);
  Value address(const TileView &view, const Point &point);
  /// Of an element of a view with pairs or without.
  Value elementAddress(const TileView &view, const Point &point);
  /// A constant array of the module, made once.
  Value table(const Twine &name, DenseElementsAttr values);
  /// From the element type of an array to the register's, and back.
  Value fromStorage(Value memory, Type element);
  Value toStorage(Value value, Type element);
  /// 16-bit floats cross memory as integers: LLVM takes bf16 apart with library calls where the target has
  /// none.
  static Type memoryType(Type type);
  /// The value, or its bits.
  Value asType(Value value, Type type);
  /// Elements or a vector of them; lanes off the mask (null: none) are 0.
  Value loadElements(Type type, Value where, Value mask);
  /// An element or, with lanes, a vector of a tile in memory, as it is in registers.
  Value loadTile(const TileView &view, Value where, bool isVector);
  void storeTile(const TileView &view, Value vector, Value where);

  // Loops and branches
  /// `for (i = 0; i < count; i += step)`, without a loop where it runs once.
  void loopBlocks(int64_t count, int64_t step, function_ref<void(Index)> body);
  /// The first lane of each vector of an axis; in a loop where there are many.
  void loopVectors(int64_t size, function_ref<void(Index)> body);
  /// Loops over the axes but `skip`, outermost first.
  void loopOver(ArrayRef<Axis> axes, ArrayRef<StringAttr> skip, Point point, LoopBody body);
  void emitIf(Value condition, function_ref<void()> then, function_ref<void()> otherwise = {});

  // Reductions and shuffles
  Value combine(ReductionKind kind, Value a, Value b);
  Value identity(ReductionKind kind, Type type);
  /// Of a vector's elements: halves are combined until one is left, the same order for every length.
  Value horizontal(ReductionKind kind, Value vector);
  /// One vector of sums of all vectors' elements, pairs of which are `distance` apart, and then twice as far.
  Value sumEach(MutableArrayRef<Value> vectors, int64_t distance);
  /// Elements of even and of odd index of two vectors.
  std::pair<Value, Value> separate(Value x, Value y);
  /// And back.
  std::pair<Value, Value> join(Value even, Value odd);
  /// Elements of both vectors in turn.
  Value interleave(Value x, Value y);
  /// 2 W numbers of bf16 in memory, as f32 of even and of odd index: without a shuffle.
  std::pair<Value, Value> loadHalves(Value where);
  /// Turns W vectors of W units, rows of a square, into its columns: log2(W) rounds in which rows i and i + s
  /// exchange every second group of s units.
  void transposeVectors(MutableArrayRef<Value> vectors);

  ImplicitLocOpBuilder &b;
  const Processor &target;
  const int64_t W;
};

} // namespace mlir::tile::cpu
#endif
