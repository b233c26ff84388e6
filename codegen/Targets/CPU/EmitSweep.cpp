// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sweeps: loops over the elements of a tile, in blocks of rows by vectors of lanes, with all the sweep's ops
// inside.
#include "codegen/Targets/CPU/KernelEmitter.h"
#include "codegen/Targets/Math/VectorMath.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

static SmallVector<AxisRef> names(ArrayAttr list) {
  return llvm::map_to_vector(list.getAsRange<StringAttr>(), [](StringAttr name) { return AxisRef(name); });
}

void KernelEmitter::loopBlocks(int64_t count, int64_t step, function_ref<void(Index)> body) {
  if (count <= step) {
    if (count > 0)
      body(0);
    return;
  }
  auto loop = scf::ForOp::create(b, constant(0), constant(count), constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  body(Index(loop.getInductionVar()));
}

void KernelEmitter::loopVectors(int64_t size, function_ref<void(Index)> body) {
  constexpr int64_t kMost = 32, kStep = 8;
  int64_t all = vectorsOf(size), whole = all > kMost ? size / W / kStep * kStep : 0;
  auto emit = [&](Index first, int64_t count) {
    for (int64_t v = 0; v < count; ++v)
      body(first + v * W);
  };
  loopBlocks(whole * W, kStep * W, [&](Index first) { emit(first, kStep); });
  emit(whole * W, all - whole);
}

void KernelEmitter::loopOver(ArrayRef<Axis> axes, ArrayRef<StringAttr> skip, Point point, Body body) {
  if (axes.empty())
    return body(point);
  const Axis &axis = axes.front();
  if (llvm::is_contained(skip, axis.name))
    return loopOver(axes.drop_front(), skip, point, body);
  loopBlocks(axis.getSize(), 1,
             [&](Index i) { loopOver(axes.drop_front(), skip, point.with(axis.name, i), body); });
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value KernelEmitter::fetch(Value value, const Point &point, Locals &locals) {
  if (Value local = locals.lookup(value))
    return local;
  auto type = cast<TileType>(value.getType());
  if (auto op = value.getDefiningOp<SplatOp>())
    return locals[value] = splatScalar(op.getValue());
  if (auto op = value.getDefiningOp<PositionOp>()) {
    StringAttr axis = type.getAxes().front().name;
    Value begin = scalars.lookup(op.getStart());
    APInt number;
    Index start = matchPattern(begin, m_ConstantInt(&number)) ? Index(number.getSExtValue()) : Index(begin);
    Value first = b.createOrFold<arith::TruncIOp>(b.getI32Type(), asValue(add(start, point.along(axis))));
    first = splat(first);
    return locals[value] = axis == point.lane ? b.createOrFold<arith::AddIOp>(first, iota()) : first;
  }
  if (plan.isInline(value)) {
    emitMap(value.getDefiningOp<MapOp>(), point, locals);
    return locals.lookup(value);
  }
  bool hasLane = point.lane && type.hasAxis(point.lane);
  const TileView *view = findView(value, hasLane ? point.lane : StringAttr());
  if (hasLane && !view) // not contiguous here
    return locals[value] = gather(value, point, type.getSize(point.lane));
  Value vector = loadTile(*view, address(*view, point), /*isVector=*/hasLane);
  if (!hasLane)
    vector = splat(vector);
  return locals[value] = asTruth(value, vector);
}

Value KernelEmitter::gather(Value value, const Point &point, int64_t size, int64_t stride, int64_t offset) {
  const TileView *view = findView(value, {});
  Value vector = zeroOf(vectorOf(registerType(view->element)));
  for (int64_t i = 0; i < W; ++i) {
    Point element = point.moved(point.lane, i);
    for (auto &[axis, index] : element.at)
      if (axis == point.lane)
        index = add(multiply(minimum(index, size - 1), stride), offset);
    vector =
        vector::InsertOp::create(b, loadTile(*view, address(*view, element), /*isVector=*/false), vector, i);
  }
  return asTruth(value, vector);
}

Value KernelEmitter::asTruth(Value value, Value vector) {
  if (!cast<TileType>(value.getType()).getElementType().isInteger(1))
    return vector;
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, vector, zeroOf(vector.getType()));
}

/// An exponential that a product reads rounded to bf16: a weight, of which sums take the digits that matter.
static bool isRoundedExponential(Operation *op) {
  return isa<math::ExpOp, math::Exp2Op>(op) && op->getResult(0).getType().isF32() &&
         llvm::any_of(op->getUsers(), [](Operation *user) {
           auto rounded = dyn_cast<arith::TruncFOp>(user);
           return rounded && rounded.getType().isBF16();
         });
}

void KernelEmitter::emitMap(MapOp map, const Point &point, Locals &locals) {
  IRMapping values;
  Block *block = map.getBlock();
  for (auto [argument, input] : llvm::zip(block->getArguments(), map.getInputs()))
    values.map(argument, fetch(input, point, locals));
  auto lookup = [&](Value value) -> Value {
    if (Value known = values.lookupOrNull(value))
      return known;
    Value vector = splatScalar(value); // from outside the map
    values.map(value, vector);
    return vector;
  };
  for (Operation &op : block->without_terminator()) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(lookup(operand));
    Value result = emitVectorOp(b, &op, operands, W, target);
    if (isRoundedExponential(&op))
      result.getDefiningOp()->setDiscardableAttr(kRoundedResult, b.getUnitAttr());
    values.map(op.getResult(0), result);
  }
  for (auto [result, value] : llvm::zip(map.getResults(), block->getTerminator()->getOperands()))
    locals[result] = lookup(value);
}

Value KernelEmitter::emitSlice(SliceOp slice, const Point &point) {
  bool alongLanes = slice.getAxisAttr() == point.lane;
  if (alongLanes && slice.getStride() != 1)
    return gather(slice.getInput(), point, slice.getSize(), slice.getStride(), slice.getOffset());
  Point from = point;
  for (auto &[axis, index] : from.at)
    if (axis == slice.getAxisAttr())
      index = add(multiply(index, slice.getStride()), slice.getOffset());
  Locals none;
  return fetch(slice.getInput(), from, none);
}

void KernelEmitter::storeLocal(Value value, const Point &point, Value vector) {
  if (!plan.placeOf(value, plan.laneOf(value)))
    return;
  TileView view = ownView(value);
  storeTile(view, vector, address(view, point));
}

void KernelEmitter::storePair(Value value, const Point &point, Value even, Value odd) {
  const Copy &copy = *plan.pairStoreOf(value);
  const TileView &view = *findView(value, copy.lane, copy.pairs);
  auto bits = [&](Value vector) {
    return arith::BitcastOp::create(b, vectorOf(b.getI16Type()), toStorage(vector, view.element));
  };
  store(interleave(bits(even), bits(odd)), address(view, point));
}

void KernelEmitter::emitOps(const Sweep &sweep, const Point &point, Locals &locals, Results &reduced,
                            Results &written) {
  for (Operation *op : sweep.ops) {
    if (auto map = dyn_cast<MapOp>(op)) {
      emitMap(map, point, locals);
      for (Value result : map.getResults())
        storeLocal(result, point, locals.lookup(result));
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      Value vector = emitSlice(slice, point);
      locals[slice.getResult()] = vector;
      storeLocal(slice.getResult(), point, vector);
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      reduced[op] = fetch(reduce.getInput(), point, locals);
    } else {
      written[op] = fetch(op->getOperand(0), point, locals);
    }
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value KernelEmitter::combine(ReductionKind kind, Value x, Value y) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
  if (kind == ReductionKind::sum)
    return isFloat ? Value(arith::AddFOp::create(b, x, y)) : Value(arith::AddIOp::create(b, x, y));
  // A compare and a select are one vmaxps; maximumf is four instructions.
  Value first =
      isFloat
          ? Value(arith::CmpFOp::create(
                b, kind == ReductionKind::max ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, x, y))
          : Value(arith::CmpIOp::create(
                b, kind == ReductionKind::max ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt, x, y));
  return arith::SelectOp::create(b, first, x, y);
}

Value KernelEmitter::identity(ReductionKind kind, Type type) {
  if (kind == ReductionKind::sum)
    return zeroOf(type);
  Type element = getElementTypeOrSelf(type);
  Attribute value;
  if (auto number = dyn_cast<FloatType>(element))
    value = b.getFloatAttr(number, identityOf(kind));
  else
    value = b.getIntegerAttr(element, kind == ReductionKind::max ? APInt::getSignedMinValue(32)
                                                                 : APInt::getSignedMaxValue(32));
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, value);
  return arith::ConstantOp::create(b, type, cast<TypedAttr>(value));
}

Value KernelEmitter::constantVector(FloatAttr number) {
  auto type = cast<VectorType>(vectorOf(number.getType()));
  return arith::ConstantOp::create(b, type, DenseElementsAttr::get(type, Attribute(number)));
}

/// Halves and combines until one element is left: the same order for every length, so the same bits.
Value KernelEmitter::horizontal(ReductionKind kind, Value vector) {
  for (int64_t width = W; width > 1; width /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < width / 2; ++i) {
      low.push_back(i);
      high.push_back(i + width / 2);
    }
    Value x = vector::ShuffleOp::create(b, vector, vector, low),
          y = vector::ShuffleOp::create(b, vector, vector, high);
    vector = combine(kind, x, y);
  }
  return vector::ExtractOp::create(b, vector, int64_t(0));
}

/// Whether one block of the sweep holds all that the reduction adds up.
bool KernelEmitter::coversLanes(ReduceOp reduce, const Sweep &sweep) const {
  SweepShape shape = shapeOf(sweep);
  return reduce.getOver().size() == 1 && reduce.getOver()[0] == sweep.lane && !sweep.dot &&
         sweep.products.empty() && !shape.skips && shape.vectors == vectorsOf(shape.lanesSize);
}

Value KernelEmitter::tailMask(const Point &point, int64_t vector, int64_t size) {
  if ((vector + 1) * W <= size)
    return {};
  SmallVector<bool> bits;
  for (int64_t i = 0; i < W; ++i)
    bits.push_back(vector * W + i < size);
  auto type = cast<VectorType>(vectorOf(b.getI1Type()));
  return arith::ConstantOp::create(b, type, DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
}

void KernelEmitter::reduceBlock(ReduceOp reduce, const Sweep &sweep, const Point &point, StringAttr row,
                                const Block2D &block) {
  ReductionKind kind = reduce.getKind();
  SmallVector<AxisRef> over = names(reduce.getOver());
  const TileView view = ownView(reduce.getResult());
  bool overLane = !sweep.lane || llvm::is_contained(over, sweep.lane.getValue());
  auto at = [&](int64_t r, int64_t v) { return point.moved(row, r).moved(sweep.lane, v * W); };
  for (size_t r = 0; r < block.size(); ++r) {
    if (!overLane) {
      for (size_t v = 0; v < block[r].size(); ++v) {
        Value where = address(view, at(r, v));
        store(combine(kind, block[r][v], load(block[r][v].getType(), where)), where);
      }
      continue;
    }
    Value sum;
    if (!sweep.lane) {
      sum = vector::ExtractOp::create(b, block[r][0], int64_t(0));
    } else {
      Value vector;
      int64_t size = reduce.getInput().getType().getSize(sweep.lane);
      // Only the last vector of the axis may be short; blocks before it start at a variable index.
      Index first = point.along(sweep.lane);
      for (size_t v = 0; v < block[r].size(); ++v) {
        Value x = block[r][v];
        Value mask = first.value ? Value() : tailMask(point, first.constant / W + int64_t(v), size);
        if (mask)
          x = arith::SelectOp::create(b, mask, x, identity(kind, x.getType()));
        vector = vector ? combine(kind, vector, x) : x;
      }
      sum = horizontal(kind, vector);
    }
    Value where = address(view, at(r, 0));
    if (!coversLanes(reduce, sweep))
      sum = combine(kind, sum, load(sum.getType(), where));
    store(sum, where);
  }
}

//===----------------------------------------------------------------------===//
// What a mask leaves out
//===----------------------------------------------------------------------===//

Index KernelEmitter::minimum(Index x, Index y) {
  if (!x.value && !y.value)
    return std::min(x.constant, y.constant);
  return Index(arith::MinSIOp::create(b, asValue(x), asValue(y)));
}

Index KernelEmitter::maximum(Index x, Index y) {
  if (!x.value && !y.value)
    return std::max(x.constant, y.constant);
  return Index(arith::MaxSIOp::create(b, asValue(x), asValue(y)));
}

Index KernelEmitter::boundOf(const Constraint &constraint) {
  Index bound = -constraint.constant;
  for (auto [value, factor] : constraint.terms)
    bound = add(bound, multiply(Index(scalars.lookup(value)), -factor));
  return bound;
}

std::pair<Index, Index> KernelEmitter::rowRange(const Sweep &sweep, StringAttr row, int64_t rowSize,
                                                int64_t step, Index firstLane, int64_t lanes) {
  Index begin = 0, end = rowSize;
  for (const Constraint &constraint : sweep.skips) {
    Index bound = boundOf(constraint);
    // row - lane <= bound for some lane; lane - row <= bound for some lane; or without a lane.
    if (constraint.plus == row && (!constraint.minus || constraint.minus == sweep.lane))
      end = minimum(end, add(bound, constraint.minus ? firstLane + lanes : Index(1)));
    else if (constraint.minus == row && (!constraint.plus || constraint.plus == sweep.lane))
      begin = maximum(begin, add(constraint.plus ? firstLane : Index(0), multiply(bound, -1)));
  }
  // Whole blocks, within the tile, and the end not before the beginning.
  auto rounded = [&](Index x, int64_t up) {
    x = minimum(maximum(x, 0), rowSize);
    if (!x.value)
      return Index((x.constant + up) / step * step);
    Value whole = arith::DivUIOp::create(b, asValue(x + up), constant(step));
    return Index(arith::MulIOp::create(b, whole, constant(step)));
  };
  begin = rounded(begin, 0);
  return {begin, maximum(begin, rounded(end, step - 1))};
}

void KernelEmitter::fillSkipped(const Sweep &sweep, const Point &outer, StringAttr row, Index begin,
                                Index end, Index firstLane, int64_t vectors) {
  if (!begin.value && !end.value && begin.constant >= end.constant)
    return;
  using Body = function_ref<void(Value, const Point &, Value)>;
  auto fill = [&](function_ref<bool(Value)> isMine, int64_t step, Body write) {
    SmallVector<std::pair<Value, FloatAttr>> masked;
    for (Operation *op : sweep.ops)
      for (Value result : op->getResults())
        if (std::optional<Mask> mask = plan.maskOf(result); isa<MapOp>(op) && mask && isMine(result))
          masked.push_back({result, mask->outside});
    if (masked.empty())
      return;
    auto loop = scf::ForOp::create(b, asValue(begin), asValue(end), constant(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    for (auto [value, outside] : masked)
      for (int64_t v = 0; v < vectors; ++v)
        write(value, outer.with(sweep.lane, firstLane + v * W).with(row, Index(loop.getInductionVar())),
              constantVector(outside));
  };
  fill([&](Value value) { return plan.placeOf(value, plan.laneOf(value)) != nullptr; }, 1,
       [&](Value value, const Point &point, Value constant) { storeLocal(value, point, constant); });
  fill([&](Value value) { return plan.pairStoreOf(value) != nullptr; }, 2,
       [&](Value value, const Point &point, Value constant) { storePair(value, point, constant, constant); });
}

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

KernelEmitter::SweepShape KernelEmitter::shapeOf(const Sweep &sweep) const {
  SweepShape shape;
  for (const Axis &axis : sweep.axes) {
    if (axis.name == sweep.lane) {
      shape.lanesSize = axis.getSize();
    } else {
      shape.row = axis.name;
      shape.rowSize = axis.getSize();
    }
  }
  int64_t all = vectorsOf(shape.lanesSize);
  // A product keeps rows x vectors accumulators in registers; other sweeps take a few vectors at once to
  // overlap latencies.
  int64_t vectors, rows;
  if (sweep.dot) {
    // A single row is summed in one pass; sums along the lanes take a vector's registers for each lane.
    vectors = std::min<int64_t>(all, plan.rowSumOf(sweep.dot) ? 1
                                     : shape.rowSize == 1     ? llvm::bit_floor(target.accumulators)
                                                              : target.productVectors);
    if (vectors > 1 && all > vectors && all % vectors && all % (vectors - 1) == 0)
      --vectors;
    // What only writes the product takes no register beside it.
    bool plain = llvm::all_of(sweep.ops, llvm::IsaPred<StoreOp, AccumulateOp>);
    rows = std::max<int64_t>(1, (plain ? target.plainAccumulators : target.accumulators) / vectors);
  } else {
    vectors = std::min<int64_t>(all, 8);
    rows = std::max<int64_t>(1, 8 / vectors);
    // Sums over rows go through memory once per block.
    bool sumsRows = llvm::any_of(sweep.ops, [&](Operation *op) {
      auto reduce = dyn_cast<ReduceOp>(op);
      return reduce && llvm::is_contained(reduce.getOver().getValue(), shape.row);
    });
    if (sumsRows)
      rows = std::max<int64_t>(rows, 8);
  }
  // Long ops take fewer vectors at once; what is longer than a few latencies overlaps with its neighbours by
  // itself.
  int64_t weight = std::max<int64_t>(1, plan.weightOf(sweep));
  int64_t most = std::max<int64_t>(1, KernelPlan::kBlockWeight / (weight > 64 ? 4 : 1) / weight);
  if (!sweep.dot) {
    vectors = std::min<int64_t>(vectors, llvm::bit_floor(uint64_t(most)));
    rows = std::clamp<int64_t>(most / vectors, 1, rows);
  }
  // Where elements are left out, narrow blocks leave out more.
  shape.skips = shape.row && sweep.lane && !sweep.skips.empty();
  if (shape.skips && vectors > 2) {
    rows = rows * vectors / 2;
    vectors = 2;
  }
  // Two rows make a row of pairs.
  bool makesPairs = llvm::any_of(sweep.ops, [&](Operation *op) {
    return llvm::any_of(op->getResults(), [&](Value value) { return plan.pairStoreOf(value); });
  });
  if (makesPairs)
    rows = llvm::alignTo(rows, 2);
  shape.vectors = vectors;
  shape.rows = std::min(rows, shape.rowSize);
  shape.skips &= shape.rowSize % shape.rows == 0;
  return shape;
}

void KernelEmitter::startReduction(ReduceOp reduce, const Sweep &sweep) {
  const TileView view = ownView(reduce.getResult());
  TileType type = reduce.getType();
  loopOver(type.getAxes(), {view.lane}, Point{view.lane, {}}, [&](const Point &row) {
    loopVectors(view.lane ? type.getSize(view.lane) : 1, [&](Index lane) {
      // What is left out counts as the mask's constant.
      Value start = identity(reduce.getKind(), vectorOf(view.element));
      if (std::optional<Mask> mask = plan.maskOf(reduce.getInput()); !sweep.skips.empty() && mask)
        start = combine(reduce.getKind(), constantVector(mask->outside), start);
      store(start, address(view, row.with(view.lane, lane)));
    });
  });
}

void KernelEmitter::openResults(Operation *op, const Sweep &sweep) {
  for (Value result : op->getResults()) {
    definePlace(result, plan.laneOf(result));
    if (const Copy *copy = plan.pairStoreOf(result)) {
      TileView view = placeView(*plan.placeOf(result, copy->lane, copy->pairs), copy->lane);
      view.pairs = copy->pairs;
      views[result].push_back(view);
    }
  }
  auto window = [&](auto write) {
    return makeWindow(write.getArray(), write.getTile().getType(), write.getArrayAxes(), write.getTileAxes(),
                      write.getOffsets());
  };
  if (auto reduce = dyn_cast<ReduceOp>(op); reduce && !coversLanes(reduce, sweep))
    startReduction(reduce, sweep);
  else if (auto write = dyn_cast<StoreOp>(op))
    writes[op] = window(write);
  else if (auto write = dyn_cast<AccumulateOp>(op))
    writes[op] = window(write);
}

void KernelEmitter::emitSweep(const Sweep &sweep) {
  for (Operation *op : sweep.ops)
    openResults(op, sweep);
  if (sweep.dot)
    openResults(sweep.dot, sweep);
  if (DotOp dot = sweep.dot; dot && dot.getWhere())
    isFinite = emitIsFinite(dot.getB());
  if (sweep.dot && plan.tileProductOf(sweep.dot))
    return emitTileProduct(sweep);
  if (!sweep.products.empty())
    return emitStrips(sweep);
  SweepShape shape = shapeOf(sweep);
  int64_t all = vectorsOf(shape.lanesSize), vectors = shape.vectors;
  loopOver(sweep.axes, {sweep.lane, shape.row}, Point{sweep.lane, {}}, [&](const Point &outer) {
    // The vector that ends past the axis is emitted apart: its mask is a constant.
    int64_t full = shape.lanesSize / W / vectors * vectors;
    loopBlocks(full * W, vectors * W,
               [&](Index firstLane) { emitLanes(sweep, shape, outer, firstLane, vectors); });
    for (int64_t v = full; v < all; v += vectors)
      emitLanes(sweep, shape, outer, v * W, std::min(vectors, all - v));
  });
}

void KernelEmitter::emitLanes(const Sweep &sweep, const SweepShape &shape, const Point &outer,
                              Index firstLane, int64_t vectors) {
  StringAttr row = shape.row;
  int64_t rows = shape.rows, rowSize = shape.rowSize;
  auto emitRows = [&](Index firstRow, int64_t count) {
    emitSweepBlock(sweep, outer.with(sweep.lane, firstLane).with(row, firstRow), row, count, vectors);
  };
  if (!shape.skips) {
    int64_t whole = rowSize / rows * rows;
    loopBlocks(whole, rows, [&](Index firstRow) { emitRows(firstRow, rows); });
    if (whole < rowSize)
      emitRows(whole, rowSize - whole);
    return;
  }
  auto [begin, end] = rowRange(sweep, row, rowSize, rows, firstLane, vectors * W);
  auto loop = scf::ForOp::create(b, asValue(begin), asValue(end), constant(rows));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    emitRows(Index(loop.getInductionVar()), rows);
  }
  fillSkipped(sweep, outer, row, 0, begin, firstLane, vectors);
  fillSkipped(sweep, outer, row, end, rowSize, firstLane, vectors);
}

void KernelEmitter::emitSweepBlock(const Sweep &sweep, const Point &point, StringAttr row, int64_t rows,
                                   int64_t vectors) {
  Block2D product;
  if (sweep.dot)
    product = emitProduct(sweep, point, row, rows, vectors);
  // One condition for all rows: between branches what they have in common would be loaded again, and sums
  // would wait in memory for the last row. Bounds are intervals, so the first and the last row tell.
  Value valid;
  bool isShort = 2 * rows * vectors * plan.weightOf(sweep) <= KernelPlan::kBlockWeight;
  if (rows > 1 && !sweep.dot && isShort)
    for (Operation *op : sweep.ops)
      if (isa<StoreOp, AccumulateOp>(op))
        for (int64_t r : {int64_t(0), rows - 1})
          valid = both(valid, rowValid(writes[op], point.moved(row, r)));
  auto emitRows = [&](bool valid) { emitSweepRows(sweep, point, row, rows, vectors, product, valid); };
  if (valid)
    emitIf(valid, [&] { emitRows(true); }, [&] { emitRows(false); });
  else
    emitRows(false);
}

void KernelEmitter::emitSweepRows(const Sweep &sweep, const Point &point, StringAttr row, int64_t rows,
                                  int64_t vectors, const Block2D &product, bool valid) {
  DotOp dot = sweep.dot;
  DenseMap<Operation *, Block2D> reduced;
  // What tiles without rows, or without lanes, gave. It is not read again behind each write: the sweep writes
  // no such tile until its end.
  SmallVector<Locals> ofVector(vectors);
  SmallVector<Value> pairsOfRows;
  DenseMap<std::pair<Value, int64_t>, Value> evenRows;
  for (Operation *op : sweep.ops)
    llvm::copy_if(op->getResults(), std::back_inserter(pairsOfRows),
                  [&](Value value) { return plan.pairStoreOf(value); });
  auto keep = [](Locals &kept, const Locals &locals, StringAttr axis) {
    for (auto [value, vector] : locals)
      if (auto type = dyn_cast<TileType>(value.getType()); type && axis && !type.hasAxis(axis))
        kept.try_emplace(value, vector);
  };
  for (int64_t r = 0; r < rows; ++r) {
    llvm::MapVector<Operation *, SmallVector<Value>> rowsOf;
    Locals ofRow;
    for (int64_t v = 0; v < vectors; ++v) {
      Point there = point.moved(row, r).moved(sweep.lane, v * W);
      Locals locals = ofVector[v];
      locals.insert(ofRow.begin(), ofRow.end());
      if (sweep.dot) {
        locals[dot.getResult()] = product[r][v];
        storeLocal(dot.getResult(), there, product[r][v]);
      }
      Results inputs, written;
      emitOps(sweep, there, locals, inputs, written);
      keep(ofRow, locals, sweep.lane);
      keep(ofVector[v], locals, row);
      // Where no condition follows, a vector is written at once: it needs no register until the row's end.
      for (auto [op, vector] : written)
        if (valid && isPlain(writes[op], there.lane))
          writeRow(op, vector, there, valid);
        else
          rowsOf[op].push_back(vector);
      for (Value value : pairsOfRows) {
        Value &even = evenRows[{value, v}];
        if (r % 2)
          storePair(value, there.moved(row, -1), even, locals.lookup(value));
        else
          even = locals.lookup(value);
      }
      for (auto [op, vector] : inputs) {
        // Rows that are added up take one row's registers.
        auto reduce = cast<ReduceOp>(op);
        bool overRow = row && llvm::is_contained(reduce.getOver().getValue(), row);
        Block2D &block = reduced[op];
        block.resize(overRow ? 1 : rows);
        if (overRow && r > 0)
          block[0][v] = combine(reduce.getKind(), block[0][v], vector);
        else
          block[r].push_back(vector);
      }
    }
    for (auto &[op, vectors] : rowsOf)
      writeRow(op, vectors, point.moved(row, r), valid);
  }
  for (Operation *op : sweep.ops)
    if (auto reduce = dyn_cast<ReduceOp>(op))
      reduceBlock(reduce, sweep, point, row, reduced[op]);
}
