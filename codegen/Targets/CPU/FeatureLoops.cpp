// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Monomials of vectors, and their adjoint: tokens lie in lanes, so a feature is one row, the product of the
// rows of its components, and any list of features works. Which components they are stands in a table of the
// module; features of one order follow each other, so each order has a loop of its own.
//
//   tokens in lanes      x0 |.......|                P[f] = x[i] * x[j] * weight
//                        x1 |.......|   table: i, j
//                        .. |.......|  ------------>  dx[i] += dP[f] * weight * x[j]
//                                                     dx[j] += dP[f] * weight * x[i]
#include "codegen/Targets/CPU/FeatureLoops.h"

#include "codegen/Targets/CPU/VectorOps.h"
#include "codegen/Targets/Frame/Tables.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

/// Features of one order that differ in their last component alone, which ascends: x[i] x[j] for j = i, i +
/// 1, ..
struct FeatureLoops::Run {
  int64_t order;
  Value number, place, count; // of the first one among all features, and in the panel; how many
  SmallVector<Value> prefix;  // the components that they share, i64
  Value last;                 // the first one's last component; null where the order is 0
};

/// Constants of the module.
struct FeatureLoops::Tables {
  int64_t width;    // components of a feature, those of the highest order
  Value components; // [feature][component], i32
  Value weights;    // [feature]; null: 1
};

FeatureLoops::Tables FeatureLoops::tablesOf(FeaturesAttr features, ArrayRef<double> weights, Type element) {
  int64_t width = std::max<int64_t>(features.getLast(), 1);
  SmallVector<int32_t> components;
  SmallVector<double> factors;
  bool weighted = false;
  features.get().forEach([&](const taylor::Features::Feature &feature) {
    for (int64_t i = 0; i < width; ++i) {
      // What fills up a block multiplies anything, by 0.
      bool is = i < feature.order && feature.components[i] < features.getChannels();
      components.push_back(is ? int32_t(feature.components[i]) : 0);
    }
    factors.push_back(features.get().weightOf(feature, weights));
    weighted |= factors.back() != 1;
  });
  std::string name = ("taylor.features." + Twine(features.getChannels()) + "." + Twine(features.getFirst()) +
                      "." + Twine(features.getLast()) + "." + Twine(features.getBlock()))
                         .str();
  Tables tables{width, {}, {}};
  tables.components = table(name, integerTable(b, components));
  if (weighted)
    tables.weights = table(name + ".weights", roundedTable(cast<FloatType>(element), factors));
  return tables;
}

void FeatureLoops::forOrders(FeaturesAttr features, Value start, int64_t size,
                             function_ref<void(int64_t, Value, Value)> body) {
  int64_t first = 0;
  for (int64_t order = features.getLast(); order >= features.getFirst(); --order) {
    int64_t past = first + *features.get().countOf(order);
    body(order, arith::MaxSIOp::create(b, start, constant(first)),
         arith::MinSIOp::create(b, arith::AddIOp::create(b, start, constant(size)), constant(past)));
    first = past;
  }
}

FeatureLoops::Run FeatureLoops::loadRun(const Tables &tables, FeaturesAttr features, int64_t order,
                                        Value number, Value end, Value start) {
  Run run{order, number, arith::SubIOp::create(b, number, start), constant(1), {}, {}};
  Value row = gep(tables.components, b.getI32Type(), multiply(Index(number), tables.width));
  for (int64_t i = 0; i < order; ++i)
    run.prefix.push_back(
        arith::ExtSIOp::create(b, b.getI64Type(), load(b.getI32Type(), gep(row, b.getI32Type(), i))));
  if (order == 0)
    return run;
  run.last = run.prefix.pop_back_val();
  // Whole blocks of components have no runs.
  if (features.getBlock() == 1)
    run.count =
        arith::MinSIOp::create(b, arith::SubIOp::create(b, constant(features.getChannels()), run.last),
                               arith::SubIOp::create(b, end, number));
  return run;
}

void FeatureLoops::forRuns(FeaturesAttr features, const Tables &tables, Value start, int64_t size,
                           function_ref<void(const Run &)> body) {
  forOrders(features, start, size, [&](int64_t order, Value begin, Value end) {
    scf::WhileOp::create(
        b, TypeRange{b.getI64Type()}, ValueRange{begin},
        [&](OpBuilder &, Location, ValueRange number) {
          Value more = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, number[0], end);
          scf::ConditionOp::create(b, more, number);
        },
        [&](OpBuilder &, Location, ValueRange number) {
          Run run = loadRun(tables, features, order, number[0], end, start);
          body(run);
          scf::YieldOp::create(b, ValueRange{arith::AddIOp::create(b, number[0], run.count)});
        });
  });
}

SmallVector<Value> FeatureLoops::loadComponent(const TileView &view, StringAttr axis, Index component,
                                               VectorRange range) {
  SmallVector<Value> loaded;
  for (int64_t v = range.first; v < range.past; ++v) {
    Point point{view.lane, {{axis, component}, {view.lane, v * W}}};
    loaded.push_back(loadTile(view, address(view, point), /*isVector=*/true));
  }
  return loaded;
}

void FeatureLoops::storeComponent(const TileView &view, StringAttr axis, Index component, VectorRange range,
                                  ArrayRef<Value> values) {
  for (int64_t v = range.first; v < range.past; ++v)
    storeTile(view, values[v - range.first],
              address(view, Point{view.lane, {{axis, component}, {view.lane, v * W}}}));
}

void FeatureLoops::forRanges(int64_t vectors, function_ref<void(VectorRange)> body) {
  constexpr int64_t atOnce = 4; // together with as many sums they stay in 16 registers
  for (int64_t first = 0; first < vectors; first += atOnce)
    body({first, std::min(first + atOnce, vectors)});
}

/// x * y for each vector; a null x is 1.
static void multiplyAll(ImplicitLocOpBuilder &b, MutableArrayRef<Value> x, ArrayRef<Value> y) {
  for (auto [product, factor] : llvm::zip(x, y))
    product = product ? arith::MulFOp::create(b, product, factor).getResult() : factor;
}

SmallVector<Value> FeatureLoops::loadPrefix(const TileView &vectors, StringAttr axis, const Run &run,
                                            VectorRange range, std::optional<size_t> without) {
  SmallVector<Value> product(range.past - range.first);
  for (auto [i, component] : llvm::enumerate(run.prefix))
    if (i != without)
      multiplyAll(b, product, loadComponent(vectors, axis, Index(component), range));
  return product;
}

Value FeatureLoops::loadWeight(const Tables &tables, Index number, Type element) {
  return tables.weights ? splat(load(element, gep(tables.weights, element, number))) : Value();
}

Value FeatureLoops::emitRunLanes(const Tables &tables, Value prefix, Value number, Value count,
                                 const TileView &vector, Value components) {
  Value left = arith::TruncIOp::create(b, b.getI32Type(), count);
  Value mask = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, iota(), splat(left));
  auto multiply = [&](Value product, Value x) {
    return product ? arith::MulFOp::create(b, product, x).getResult() : x;
  };
  Value product = prefix ? splat(prefix) : Value();
  if (components)
    product = multiply(product,
                       fromStorage(loadElements(vectorOf(vector.element), components, mask), vector.element));
  Type element = registerType(vector.element);
  if (tables.weights)
    product =
        multiply(product, loadElements(vectorOf(element), gep(tables.weights, element, Index(number)), mask));
  if (product)
    return product;
  Value one = arith::ConstantOp::create(b, b.getFloatAttr(element, 1.0));
  return arith::SelectOp::create(b, mask, splat(one), zeroOf(vectorOf(element)));
}

/// Of one vector, features lie in lanes. What a run writes past its end is 0, or written by the next one.
void FeatureLoops::emitExpandOne(ExpandOp expand) {
  StringAttr axis = expand.getAxisAttr(), to = expand.getToAttr();
  tiles.definePlace(expand.getResult(), to);
  const TileView panel = tiles.ownView(expand.getResult()), vector = *tiles.findView(expand.getInput(), axis);
  FeaturesAttr features = expand.getFeatures();
  Type element = expand.getType().getElementType();
  int64_t size = expand.getType().getSize(to);
  auto at = [&](const TileView &view, StringAttr along, Index place) {
    return address(view, Point{along, {{along, place}}});
  };
  // Past the last feature too: whole vectors of them are read.
  loopBlocks(llvm::alignTo(size, W), W,
             [&](Index place) { storeTile(panel, zeroOf(vectorOf(element)), at(panel, to, place)); });
  Tables tables = tablesOf(features, expand.getWeightValues(), element);
  forRuns(features, tables, tiles.scalar(expand.getStart()), size, [&](const Run &run) {
    Value prefix;
    for (Value component : run.prefix) {
      Value x = loadTile(vector, at(vector, axis, Index(component)), /*isVector=*/false);
      prefix = prefix ? arith::MulFOp::create(b, prefix, x).getResult() : x;
    }
    auto lanes = scf::ForOp::create(b, constant(0), run.count, constant(W));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(lanes.getBody()->getTerminator());
    Index lane(lanes.getInductionVar());
    Value product = emitRunLanes(tables, prefix, asValue(add(Index(run.number), lane)),
                                 asValue(subtract(Index(run.count), lane)), vector,
                                 run.last ? at(vector, axis, add(Index(run.last), lane)) : Value());
    storeTile(panel, product, at(panel, to, add(Index(run.place), lane)));
  });
}

void FeatureLoops::emitExpand(ExpandOp expand) {
  if (expand.getType().getAxes().size() == 1)
    return emitExpandOne(expand);
  StringAttr lane = plan.laneOf(expand.getResult()), axis = expand.getAxisAttr(), to = expand.getToAttr();
  tiles.definePlace(expand.getResult(), lane);
  const TileView panel = tiles.ownView(expand.getResult()),
                 vectors = *tiles.findView(expand.getInput(), lane);
  FeaturesAttr features = expand.getFeatures();
  Type element = expand.getType().getElementType();
  int64_t size = expand.getType().getSize(to), count = vectorsOf(expand.getType().getSize(lane));
  Value start = tiles.scalar(expand.getStart());
  Tables tables = tablesOf(features, expand.getWeightValues(), element);
  forRuns(features, tables, start, size, [&](const Run &run) {
    forRanges(count, [&](VectorRange range) {
      SmallVector<Value> prefix = loadPrefix(vectors, axis, run, range);
      auto loop = scf::ForOp::create(b, constant(0), run.count, constant(1));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(loop.getBody()->getTerminator());
      Index i(loop.getInductionVar());
      SmallVector<Value> row = prefix;
      if (run.last)
        multiplyAll(b, row, loadComponent(vectors, axis, add(Index(run.last), i), range));
      if (Value weight = loadWeight(tables, add(Index(run.number), i), element))
        multiplyAll(b, row, SmallVector<Value>(row.size(), weight));
      for (Value &product : row)
        if (!product)
          product = splat(arith::ConstantOp::create(b, b.getFloatAttr(element, 1.0)));
      storeComponent(panel, to, add(Index(run.place), i), range, row);
    });
  });
  // Past the last feature.
  Value left = arith::SubIOp::create(b, constant(features.getCount()), start);
  auto rest =
      scf::ForOp::create(b, arith::MinSIOp::create(b, left, constant(size)), constant(size), constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(rest.getBody()->getTerminator());
  storeComponent(panel, to, Index(rest.getInductionVar()), {0, count},
                 SmallVector<Value>(count, zeroOf(vectorOf(element))));
}

/// Of a run of x[i] x[j], what belongs to x[j] is added to memory, what belongs to x[i] stays in registers
/// until the run's end:
///
///   dx[j] += dP[f] * weight * x[i]        sum += dP[f] * weight * x[j]        then dx[i] += sum
void FeatureLoops::emitContract(ContractOp contract) {
  StringAttr lane = plan.laneOf(contract.getResult()), axis = contract.getAxisAttr();
  tiles.definePlace(contract.getResult(), lane);
  const TileView sums = tiles.ownView(contract.getResult());
  const ScratchPlace *from = plan.placeOf(contract.getC(), lane);
  if (!from || !plan.sharePlace(*from, *plan.placeOf(contract.getResult(), lane)))
    rearranger.copyTile(contract.getC(), sums);
  const TileView panel = *tiles.findView(contract.getCotangent(), lane),
                 vectors = *tiles.findView(contract.getInput(), lane);
  Type element = contract.getType().getElementType();
  int64_t size = contract.getCotangent().getType().getSize(contract.getFrom());
  int64_t count = vectorsOf(contract.getType().getSize(lane));
  Tables tables = tablesOf(contract.getFeatures(), contract.getWeightValues(), element);
  auto addTo = [&](Index component, VectorRange range, ArrayRef<Value> x, ArrayRef<Value> factors) {
    SmallVector<Value> sum = loadComponent(sums, axis, component, range);
    for (auto [i, before] : llvm::enumerate(sum))
      before = factors[i] ? math::FmaOp::create(b, x[i], factors[i], before).getResult()
                          : arith::AddFOp::create(b, before, x[i]).getResult();
    storeComponent(sums, axis, component, range, sum);
  };
  auto emitRun = [&](const Run &run, VectorRange range) {
    SmallVector<Value> prefix = loadPrefix(vectors, axis, run, range);
    size_t carried = run.prefix.empty() ? 0 : prefix.size();
    auto loop = scf::ForOp::create(b, constant(0), run.count, constant(1),
                                   SmallVector<Value>(carried, zeroOf(vectorOf(element))));
    {
      OpBuilder::InsertionGuard guard(b);
      if (carried)
        b.setInsertionPointToEnd(loop.getBody());
      else
        b.setInsertionPoint(loop.getBody()->getTerminator());
      Index i(loop.getInductionVar()), last = add(Index(run.last), i);
      SmallVector<Value> cotangent =
          loadComponent(panel, contract.getFromAttr(), add(Index(run.place), i), range);
      if (Value weight = loadWeight(tables, add(Index(run.number), i), element))
        multiplyAll(b, cotangent, SmallVector<Value>(cotangent.size(), weight));
      SmallVector<Value> next;
      if (carried)
        for (auto [x, dx, sum] :
             llvm::zip(loadComponent(vectors, axis, last, range), cotangent, loop.getRegionIterArgs()))
          next.push_back(math::FmaOp::create(b, dx, x, sum));
      addTo(last, range, cotangent, prefix);
      if (carried)
        scf::YieldOp::create(b, next);
    }
    // One component after the other: two may be the same.
    for (auto [i, component] : llvm::enumerate(run.prefix))
      addTo(Index(component), range, SmallVector<Value>(loop.getResults()),
            loadPrefix(vectors, axis, run, range, i));
  };
  forRuns(contract.getFeatures(), tables, tiles.scalar(contract.getStart()), size, [&](const Run &run) {
    if (run.order > 0)
      forRanges(count, [&](VectorRange range) { emitRun(run, range); });
  });
}
