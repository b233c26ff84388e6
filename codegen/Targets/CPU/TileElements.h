// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a kernel's tiles are, and what their elements are.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_TILEELEMENTS_H
#define TAYLOR_CODEGEN_TARGETS_CPU_TILEELEMENTS_H
#include "codegen/Targets/CPU/VectorCode.h"

namespace mlir::tile::cpu {

/// Vectors of values at one point, by the tile that they are of.
using Locals = DenseMap<Value, Value>;
/// Vectors [row][lane vector] of one block of a sweep.
using VectorBlock = SmallVector<SmallVector<Value>>;

/// Knows the places of tiles in memory while a kernel is emitted, and gives any element of any tile: from
/// memory, or computed where it is asked for.
class TileElements : public VectorCode {
public:
  /// `scalars`: of the kernel, by the program's value; they come to be while it is emitted.
  TileElements(const KernelPlan &plan, const Processor &target, ImplicitLocOpBuilder &b,
               const DenseMap<Value, Value> &scalars)
      : VectorCode(b, target, plan.vectorLanes), plan(plan), scalars(scalars) {}

  void setScratch(Value pointer) { scratch = pointer; }
  Value scalar(Value value) const { return scalars.lookup(value); }
  /// A scalar of the kernel as a vector, of the type that maps compute it in.
  Value splatScalar(Value scalar);
  /// -(terms + constant): the bound on plus - minus.
  Index boundOf(const Constraint &constraint);

  // Where tiles are
  /// A view of the tile with these lanes (null: any) and pairs, or null.
  const TileView *findView(Value value, StringAttr lane, StringAttr pairs = {});
  /// The one with the lanes that the plan gives the tile.
  TileView ownView(Value value) { return *findView(value, plan.laneOf(value)); }
  const TileView &anyView(Value value) { return views[value].front(); }
  void addView(Value value, const TileView &view) { views[value].push_back(view); }
  void setView(Value value, const TileView &view) { views[value] = {view}; }
  TileView placeView(const ScratchPlace &place, StringAttr lane);
  void definePlace(Value value, StringAttr lane);

  // Elements
  Value fetch(Value value, const Point &point, Locals &locals);
  void emitMap(MapOp map, const Point &point, Locals &locals);
  Value emitSlice(SliceOp slice, const Point &point);
  void storeLocal(Value value, const Point &point, Value vector);
  /// Vectors of rows r and r + 1 side by side, to a copy with pairs that a sweep makes itself.
  void storePair(Value value, const Point &point, Value even, Value odd);

  const KernelPlan &plan;

private:
  /// The vector of the elements offset + stride * (index of each lane), read one by one. Lanes from `size` on
  /// repeat the last.
  Value gather(Value value, const Point &point, int64_t size, int64_t stride = 1, int64_t offset = 0);
  /// Truth values are integers in memory; others stay.
  Value asTruth(Value value, Value vector);

  const DenseMap<Value, Value> &scalars;
  Value scratch;
  DenseMap<Value, SmallVector<TileView, 1>> views;
};

} // namespace mlir::tile::cpu
#endif
