// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Monomials of vectors, and their adjoint: tokens lie in lanes, so a feature is one row, the product of the
// rows of its components, and any list of features works. Which components they are stands in a table of the
// module; features of one order follow each other, so each order has a loop of its own.
//
//   tokens in lanes      x0 |.......|                P[f] = x[i] * x[j] * weight
//                        x1 |.......|   table: i, j
//                        .. |.......|  ------------>  dx[i] += dP[f] * weight * x[j]
//                                                     dx[j] += dP[f] * weight * x[i]
#include "codegen/CPU/KernelEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

/// One feature in the loop over those of its order.
struct KernelEmitter::FeatureRun {
  int64_t order;
  Value place;                   // in the panel
  SmallVector<Value> components; // their numbers, i64
  Value weight;                  // null: 1
};

/// Constants of the module.
struct KernelEmitter::FeatureTables {
  int64_t width;    // components of a feature, those of the highest order
  Value components; // [feature][component], i32
  Value weights;    // [feature]; null: 1
};

Value KernelEmitter::table(const Twine &name, Type element, DenseElementsAttr values) {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  std::string symbol = name.str();
  auto type = LLVM::LLVMArrayType::get(element, values.getNumElements());
  if (auto known = module.lookupSymbol<LLVM::GlobalOp>(symbol); known && known.getValueOrNull() != values)
    symbol += "." + std::to_string(reinterpret_cast<uintptr_t>(values.getAsOpaquePointer()));
  if (!module.lookupSymbol<LLVM::GlobalOp>(symbol)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Internal, symbol, values);
  }
  return LLVM::AddressOfOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), symbol);
}

KernelEmitter::FeatureTables KernelEmitter::featureTables(FeaturesAttr features, ArrayRef<double> weights,
                                                          Type element) {
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
    double factor = feature.multiplicity == 0 ? 0 : 1;
    if (!weights.empty())
      factor = feature.multiplicity * weights[feature.order - features.getFirst()];
    factors.push_back(factor);
    weighted |= factor != 1;
  });
  std::string name = ("taylor.features." + Twine(features.getChannels()) + "." + Twine(features.getFirst()) +
                      "." + Twine(features.getLast()) + "." + Twine(features.getBlock()))
                         .str();
  Type i32 = b.getI32Type();
  int64_t count = factors.size();
  FeatureTables tables{width, {}, {}};
  tables.components = table(
      name, i32,
      DenseIntElementsAttr::get(RankedTensorType::get({count * width}, i32), ArrayRef<int32_t>(components)));
  if (weighted) {
    SmallVector<APFloat> numbers;
    for (double factor : factors) {
      APFloat number(factor);
      bool lost;
      number.convert(cast<FloatType>(element).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      numbers.push_back(number);
    }
    tables.weights = table(name + ".weights", element,
                           DenseFPElementsAttr::get(RankedTensorType::get({count}, element), numbers));
  }
  return tables;
}

void KernelEmitter::forOrders(FeaturesAttr features, Value start, int64_t size,
                              function_ref<void(int64_t, Value, Value)> body) {
  int64_t first = 0;
  for (int64_t order = features.getLast(); order >= features.getFirst(); --order) {
    int64_t past = first + *features.get().countOf(order);
    body(order, arith::MaxSIOp::create(b, start, constant(first)),
         arith::MinSIOp::create(b, arith::AddIOp::create(b, start, constant(size)), constant(past)));
    first = past;
  }
}

KernelEmitter::FeatureRun KernelEmitter::loadRun(const FeatureTables &tables, int64_t order, Value number,
                                                 Value start) {
  FeatureRun run{order, arith::SubIOp::create(b, number, start), {}, {}};
  Value row = gep(tables.components, b.getI32Type(), multiply(Index(number), tables.width));
  for (int64_t i = 0; i < order; ++i)
    run.components.push_back(
        arith::ExtSIOp::create(b, b.getI64Type(), load(b.getI32Type(), gep(row, b.getI32Type(), i))));
  return run;
}

void KernelEmitter::forFeatures(FeaturesAttr features, ArrayRef<double> weights, Value start, int64_t size,
                                Type element, function_ref<void(const FeatureRun &)> body) {
  FeatureTables tables = featureTables(features, weights, element);
  forOrders(features, start, size, [&](int64_t order, Value begin, Value end) {
    auto loop = scf::ForOp::create(b, begin, end, constant(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    Value number = loop.getInductionVar();
    FeatureRun run = loadRun(tables, order, number, start);
    if (tables.weights)
      run.weight = load(element, gep(tables.weights, element, Index(number)));
    body(run);
  });
}

SmallVector<Value> KernelEmitter::loadComponent(const View &view, StringAttr axis, Value component,
                                                int64_t vectors) {
  SmallVector<Value> loaded;
  for (int64_t v = 0; v < vectors; ++v) {
    Point point{view.lane, {{axis, Index(component)}, {view.lane, v * W}}};
    loaded.push_back(loadTile(view, address(view, point), /*isVector=*/true));
  }
  return loaded;
}

Value KernelEmitter::emitRunLanes(const FeatureTables &tables, const FeatureRun &run, Value number,
                                  Value count, const View &vector, Value components) {
  Value left = arith::TruncIOp::create(b, b.getI32Type(), count);
  Value mask = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, iota(), splat(left));
  auto multiply = [&](Value product, Value x) {
    return product ? arith::MulFOp::create(b, product, x).getResult() : x;
  };
  Value product = run.weight ? splat(run.weight) : Value();
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

/// Of one vector, features lie in lanes: those of one order come in runs whose last component ascends to the
/// vector's end, and all others are equal. What a run writes past its end is 0, or written by the next one.
void KernelEmitter::emitExpandOne(ExpandOp expand) {
  StringAttr axis = expand.getAxisAttr(), to = expand.getToAttr();
  definePlace(expand.getResult(), to);
  const View panel = ownView(expand.getResult()), vector = *findView(expand.getInput(), axis);
  FeaturesAttr features = expand.getFeatures();
  Type element = expand.getType().getElementType();
  int64_t size = expand.getType().getSize(to);
  Value start = scalars.lookup(expand.getStart());
  auto at = [&](const View &view, StringAttr along, Index place) {
    return address(view, Point{along, {{along, place}}});
  };
  // Past the last feature too: whole vectors of them are read.
  loopBlocks(llvm::alignTo(size, W), W,
             [&](Index place) { storeTile(panel, zeroOf(vectorOf(element)), at(panel, to, place)); });
  FeatureTables tables = featureTables(features, expand.getWeightValues(), element);
  auto emitRun = [&](FeatureRun run, Value number, Value end) {
    Value first = run.order ? run.components.pop_back_val() : Value();
    // Order 0 is one feature; whole blocks of components have no runs.
    Value count = constant(1);
    if (run.order && features.getBlock() == 1)
      count = arith::MinSIOp::create(b, arith::SubIOp::create(b, constant(features.getChannels()), first),
                                     arith::SubIOp::create(b, end, number));
    for (Value component : run.components) {
      Value x = loadTile(vector, at(vector, axis, Index(component)), /*isVector=*/false);
      run.weight = run.weight ? arith::MulFOp::create(b, run.weight, x).getResult() : x;
    }
    auto lanes = scf::ForOp::create(b, constant(0), count, constant(W));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(lanes.getBody()->getTerminator());
    Index lane(lanes.getInductionVar());
    Value product =
        emitRunLanes(tables, run, asValue(add(Index(number), lane)), asValue(subtract(Index(count), lane)),
                     vector, first ? at(vector, axis, add(Index(first), lane)) : Value());
    storeTile(panel, product, at(panel, to, add(Index(run.place), lane)));
    b.setInsertionPointAfter(lanes);
    scf::YieldOp::create(b, ValueRange{arith::AddIOp::create(b, number, count)});
  };
  forOrders(features, start, size, [&](int64_t order, Value begin, Value end) {
    scf::WhileOp::create(
        b, TypeRange{b.getI64Type()}, ValueRange{begin},
        [&](OpBuilder &, Location, ValueRange number) {
          Value more = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, number[0], end);
          scf::ConditionOp::create(b, more, number);
        },
        [&](OpBuilder &, Location, ValueRange number) {
          emitRun(loadRun(tables, order, number[0], start), number[0], end);
        });
  });
}

void KernelEmitter::emitExpand(ExpandOp expand) {
  if (expand.getType().getAxes().size() == 1)
    return emitExpandOne(expand);
  StringAttr lane = plan.laneOf(expand.getResult()), axis = expand.getAxisAttr(), to = expand.getToAttr();
  definePlace(expand.getResult(), lane);
  const View panel = ownView(expand.getResult()), vectors = *findView(expand.getInput(), lane);
  Type element = expand.getType().getElementType();
  int64_t size = expand.getType().getSize(to), count = vectorsOf(expand.getType().getSize(lane));
  Value start = scalars.lookup(expand.getStart());
  auto storeRow = [&](Value place, ArrayRef<Value> row) {
    for (int64_t v = 0; v < count; ++v)
      storeTile(panel, row[v], address(panel, Point{lane, {{to, Index(place)}, {lane, v * W}}}));
  };
  forFeatures(expand.getFeatures(), expand.getWeightValues(), start, size, element,
              [&](const FeatureRun &run) {
                SmallVector<Value> row(count, run.weight ? splat(run.weight) : Value());
                for (Value component : run.components)
                  for (auto [product, x] : llvm::zip(row, loadComponent(vectors, axis, component, count)))
                    product = product ? arith::MulFOp::create(b, product, x).getResult() : x;
                for (Value &product : row)
                  if (!product)
                    product = splat(arith::ConstantOp::create(b, b.getFloatAttr(element, 1.0)));
                storeRow(run.place, row);
              });
  // Past the last feature.
  Value left = arith::SubIOp::create(b, constant(expand.getFeatures().getCount()), start);
  auto rest =
      scf::ForOp::create(b, arith::MinSIOp::create(b, left, constant(size)), constant(size), constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(rest.getBody()->getTerminator());
  storeRow(rest.getInductionVar(), SmallVector<Value>(count, zeroOf(vectorOf(element))));
}

void KernelEmitter::emitContract(ContractOp contract) {
  StringAttr lane = plan.laneOf(contract.getResult()), axis = contract.getAxisAttr();
  definePlace(contract.getResult(), lane);
  const View sums = ownView(contract.getResult());
  const Place *from = plan.placeOf(contract.getC(), lane);
  if (!from || !plan.sharePlace(*from, *plan.placeOf(contract.getResult(), lane)))
    copyTile(contract.getC(), sums);
  const View panel = *findView(contract.getCotangent(), lane), vectors = *findView(contract.getInput(), lane);
  Type element = contract.getType().getElementType();
  int64_t size = contract.getCotangent().getType().getSize(contract.getFrom());
  int64_t count = vectorsOf(contract.getType().getSize(lane));
  forFeatures(contract.getFeatures(), contract.getWeightValues(), scalars.lookup(contract.getStart()), size,
              element, [&](const FeatureRun &run) {
                if (run.order == 0)
                  return;
                SmallVector<Value> cotangent = loadComponent(panel, contract.getFromAttr(), run.place, count);
                if (run.weight)
                  for (Value &x : cotangent)
                    x = arith::MulFOp::create(b, x, splat(run.weight));
                SmallVector<SmallVector<Value>> factors;
                if (run.order > 1)
                  for (Value component : run.components)
                    factors.push_back(loadComponent(vectors, axis, component, count));
                // One component after the other: two may be the same.
                for (auto [i, component] : llvm::enumerate(run.components))
                  for (int64_t v = 0; v < count; ++v) {
                    Value product = cotangent[v];
                    for (size_t j = 0; j < factors.size(); ++j)
                      if (j != i)
                        product = arith::MulFOp::create(b, product, factors[j][v]);
                    Value where = address(sums, Point{lane, {{axis, Index(component)}, {lane, v * W}}});
                    Value before = loadTile(sums, where, /*isVector=*/true);
                    storeTile(sums, arith::AddFOp::create(b, before, product), where);
                  }
              });
}
