// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sweeps: loops over the elements of a tile, in blocks of rows by vectors of lanes, with all the sweep's ops
// inside.
#include "codegen/Targets/CPU/SweepEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

static SmallVector<AxisRef> names(ArrayAttr list) {
  return llvm::map_to_vector(list.getAsRange<StringAttr>(), [](StringAttr name) { return AxisRef(name); });
}

void SweepEmitter::emitOps(const Sweep &sweep, const Point &point, Locals &locals, Results &reduced,
                           Results &written) {
  for (Operation *op : sweep.ops) {
    if (auto map = dyn_cast<MapOp>(op)) {
      tiles.emitMap(map, point, locals);
      for (Value result : map.getResults())
        tiles.storeLocal(result, point, locals.lookup(result));
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      Value vector = tiles.emitSlice(slice, point);
      locals[slice.getResult()] = vector;
      tiles.storeLocal(slice.getResult(), point, vector);
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      reduced[op] = tiles.fetch(reduce.getInput(), point, locals);
    } else {
      written[op] = tiles.fetch(op->getOperand(0), point, locals);
    }
  }
}

/// Whether one block of the sweep holds all that the reduction adds up.
bool SweepEmitter::coversLanes(ReduceOp reduce, const Sweep &sweep) const {
  SweepShape shape = shapeOf(sweep);
  return reduce.getOver().size() == 1 && reduce.getOver()[0] == sweep.lane && !sweep.dot &&
         sweep.products.empty() && !shape.skips && shape.vectors == vectorsOf(shape.lanesSize);
}

void SweepEmitter::reduceBlock(ReduceOp reduce, const Sweep &sweep, const Point &point, StringAttr row,
                               const VectorBlock &block) {
  ReductionKind kind = reduce.getKind();
  SmallVector<AxisRef> over = names(reduce.getOver());
  const TileView view = tiles.ownView(reduce.getResult());
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

std::pair<Index, Index> SweepEmitter::rowRange(const Sweep &sweep, StringAttr row, int64_t rowSize,
                                               int64_t step, Index firstLane, int64_t lanes) {
  Index begin = 0, end = rowSize;
  for (const Constraint &constraint : sweep.skips) {
    Index bound = tiles.boundOf(constraint);
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

void SweepEmitter::fillSkipped(const Sweep &sweep, const Point &outer, StringAttr row, Index begin, Index end,
                               Index firstLane, int64_t vectors) {
  if (!begin.value && !end.value && begin.constant >= end.constant)
    return;
  using Body = function_ref<void(Value, const Point &, Value)>;
  auto fill = [&](function_ref<bool(Value)> isMine, int64_t step, Body write) {
    SmallVector<std::pair<Value, FloatAttr>> masked;
    for (Operation *op : sweep.ops)
      for (Value result : op->getResults())
        if (std::optional<Mask> mask = maskOf(result); isa<MapOp>(op) && mask && isMine(result))
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
       [&](Value value, const Point &point, Value constant) { tiles.storeLocal(value, point, constant); });
  fill([&](Value value) { return plan.pairStoreOf(value) != nullptr; }, 2,
       [&](Value value, const Point &point, Value constant) {
         tiles.storePair(value, point, constant, constant);
       });
}

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

SweepEmitter::SweepShape SweepEmitter::shapeOf(const Sweep &sweep) const {
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
    // What only writes the product takes no other register.
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

void SweepEmitter::startReduction(ReduceOp reduce, const Sweep &sweep) {
  const TileView view = tiles.ownView(reduce.getResult());
  TileType type = reduce.getType();
  loopOver(type.getAxes(), {view.lane}, Point{view.lane, {}}, [&](const Point &row) {
    loopVectors(view.lane ? type.getSize(view.lane) : 1, [&](Index lane) {
      // What is left out counts as the mask's constant.
      Value start = identity(reduce.getKind(), vectorOf(view.element));
      if (std::optional<Mask> mask = maskOf(reduce.getInput()); !sweep.skips.empty() && mask)
        start = combine(reduce.getKind(), constantVector(mask->outside), start);
      store(start, address(view, row.with(view.lane, lane)));
    });
  });
}

void SweepEmitter::openResults(Operation *op, const Sweep &sweep) {
  for (Value result : op->getResults()) {
    tiles.definePlace(result, plan.laneOf(result));
    if (const Copy *copy = plan.pairStoreOf(result)) {
      TileView view = tiles.placeView(*plan.placeOf(result, copy->lane, copy->pairs), copy->lane);
      view.pairs = copy->pairs;
      tiles.addView(result, view);
    }
  }
  if (auto reduce = dyn_cast<ReduceOp>(op); reduce && !coversLanes(reduce, sweep))
    startReduction(reduce, sweep);
  else if (isa<StoreOp, AccumulateOp>(op))
    windows.openWrite(op);
}

void SweepEmitter::emitSweep(const Sweep &sweep) {
  for (Operation *op : sweep.ops)
    openResults(op, sweep);
  if (sweep.dot)
    openResults(sweep.dot, sweep);
  if (DotOp dot = sweep.dot; dot && dot.getWhere())
    masked.check(dot);
  if (sweep.dot && plan.tileProductOf(sweep.dot))
    return unit.emitProduct(sweep);
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

void SweepEmitter::emitLanes(const Sweep &sweep, const SweepShape &shape, const Point &outer, Index firstLane,
                             int64_t vectors) {
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

void SweepEmitter::emitSweepBlock(const Sweep &sweep, const Point &point, StringAttr row, int64_t rows,
                                  int64_t vectors) {
  VectorBlock product;
  if (sweep.dot)
    product = microKernel.emitProduct(sweep, point, row, rows, vectors);
  // One condition for all rows: between branches what they have in common would be loaded again, and sums
  // would wait in memory for the last row. Bounds are intervals, so the first and the last row tell.
  Value valid;
  bool isShort = 2 * rows * vectors * plan.weightOf(sweep) <= KernelPlan::kBlockWeight;
  if (rows > 1 && !sweep.dot && isShort)
    for (Operation *op : sweep.ops)
      if (isa<StoreOp, AccumulateOp>(op))
        for (int64_t r : {int64_t(0), rows - 1})
          valid = both(valid, windows.rowValid(op, point.moved(row, r)));
  auto emitRows = [&](bool valid) { emitSweepRows(sweep, point, row, rows, vectors, product, valid); };
  if (valid)
    emitIf(valid, [&] { emitRows(true); }, [&] { emitRows(false); });
  else
    emitRows(false);
}

void SweepEmitter::emitSweepRows(const Sweep &sweep, const Point &point, StringAttr row, int64_t rows,
                                 int64_t vectors, const VectorBlock &product, bool valid) {
  DotOp dot = sweep.dot;
  DenseMap<Operation *, VectorBlock> reduced;
  // What tiles without rows, or without lanes, gave. It is not read again after each write: the sweep writes
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
        tiles.storeLocal(dot.getResult(), there, product[r][v]);
      }
      Results inputs, written;
      emitOps(sweep, there, locals, inputs, written);
      keep(ofRow, locals, sweep.lane);
      keep(ofVector[v], locals, row);
      // Where no condition follows, a vector is written at once: it needs no register until the row's end.
      for (auto [op, vector] : written)
        if (valid && windows.isPlain(op, there.lane))
          windows.writeRow(op, vector, there, valid);
        else
          rowsOf[op].push_back(vector);
      for (Value value : pairsOfRows) {
        Value &even = evenRows[{value, v}];
        if (r % 2)
          tiles.storePair(value, there.moved(row, -1), even, locals.lookup(value));
        else
          even = locals.lookup(value);
      }
      for (auto [op, vector] : inputs) {
        // Rows that are added up take one row's registers.
        auto reduce = cast<ReduceOp>(op);
        bool overRow = row && llvm::is_contained(reduce.getOver().getValue(), row);
        VectorBlock &block = reduced[op];
        block.resize(overRow ? 1 : rows);
        if (overRow && r > 0)
          block[0][v] = combine(reduce.getKind(), block[0][v], vector);
        else
          block[r].push_back(vector);
      }
    }
    for (auto &[op, vectors] : rowsOf)
      windows.writeRow(op, vectors, point.moved(row, r), valid);
  }
  for (Operation *op : sweep.ops)
    if (auto reduce = dyn_cast<ReduceOp>(op))
      reduceBlock(reduce, sweep, point, row, reduced[op]);
}

void SweepEmitter::emitStrips(const Sweep &sweep) {
  // A strip's sums of all products stay in the first cache until the ops have read them.
  SweepShape shape = shapeOf(sweep);
  StringAttr row = shape.row, lane = sweep.lane;
  constexpr int64_t stripRows = KernelPlan::kStripRows, stripLanes = KernelPlan::kStripLanes;
  auto emitStrip = [&](const Point &outer, Index firstRow, int64_t rows, Index firstLane, int64_t lanes) {
    for (DotOp dot : sweep.products) {
      TileView to = tiles.placeView(*plan.placeOf(dot, lane), lane);
      // As if the whole tile were there.
      to.pointer =
          gep(to.pointer, to.element, multiply(add(multiply(firstRow, to.stride(row)), firstLane), -1));
      unit.emitStrip(dot, to, outer, firstRow, rows, firstLane, llvm::alignTo(lanes, KernelPlan::kTileLanes));
      tiles.setView(dot.getResult(), to);
    }
    auto emitLanes = [&](Index i, int64_t count) {
      for (int64_t v = 0; v < vectorsOf(lanes); v += shape.vectors)
        emitSweepBlock(sweep, outer.with(lane, firstLane + v * W).with(row, add(firstRow, i)), row, count,
                       std::min(shape.vectors, vectorsOf(lanes) - v));
    };
    int64_t whole = rows / shape.rows * shape.rows;
    loopBlocks(whole, shape.rows, [&](Index i) { emitLanes(i, shape.rows); });
    if (whole < rows)
      emitLanes(whole, rows - whole);
  };
  auto emitColumn = [&](const Point &outer, Index firstLane, int64_t lanes) {
    int64_t whole = shape.rowSize / stripRows * stripRows;
    if (shape.skips && whole == shape.rowSize) {
      auto [begin, end] = rowRange(sweep, row, shape.rowSize, stripRows, firstLane, lanes);
      auto loop = scf::ForOp::create(b, asValue(begin), asValue(end), constant(stripRows));
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(loop.getBody()->getTerminator());
        emitStrip(outer, Index(loop.getInductionVar()), stripRows, firstLane, lanes);
      }
      fillSkipped(sweep, outer, row, 0, begin, firstLane, vectorsOf(lanes));
      fillSkipped(sweep, outer, row, end, shape.rowSize, firstLane, vectorsOf(lanes));
      return;
    }
    loopBlocks(whole, stripRows, [&](Index i) { emitStrip(outer, i, stripRows, firstLane, lanes); });
    if (whole < shape.rowSize)
      emitStrip(outer, whole, shape.rowSize - whole, firstLane, lanes);
  };
  loopOver(sweep.axes, {lane, row}, Point{lane, {}}, [&](const Point &outer) {
    int64_t whole = shape.lanesSize / stripLanes * stripLanes;
    loopBlocks(whole, stripLanes, [&](Index firstLane) { emitColumn(outer, firstLane, stripLanes); });
    if (whole < shape.lanesSize)
      emitColumn(outer, whole, shape.lanesSize - whole);
  });
}
