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

void KernelEmitter::forFeatures(FeaturesAttr features, ArrayRef<double> weights, Value start, int64_t size,
                                Type element, function_ref<void(const FeatureRun &)> body) {
  // [feature][component], components of the highest order wide; and a weight per feature.
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
  Value componentTable = table(
      name, i32,
      DenseIntElementsAttr::get(RankedTensorType::get({count * width}, i32), ArrayRef<int32_t>(components)));
  Value weightTable;
  if (weighted) {
    SmallVector<APFloat> numbers;
    for (double factor : factors) {
      APFloat number(factor);
      bool lost;
      number.convert(cast<FloatType>(element).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      numbers.push_back(number);
    }
    weightTable = table(name + ".weights", element,
                        DenseFPElementsAttr::get(RankedTensorType::get({count}, element), numbers));
  }
  int64_t first = 0;
  for (int64_t order = features.getLast(); order >= features.getFirst(); --order) {
    int64_t past = first + *features.get().countOf(order);
    // The part of the panel [start, start + size) that is of this order.
    Value begin = arith::MaxSIOp::create(b, start, constant(first));
    Value end = arith::MinSIOp::create(b, arith::AddIOp::create(b, start, constant(size)), constant(past));
    auto loop = scf::ForOp::create(b, begin, end, constant(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    Value number = loop.getInductionVar();
    FeatureRun run;
    run.order = order;
    run.place = arith::SubIOp::create(b, number, start);
    Value row = gep(componentTable, i32, multiply(Index(number), width));
    for (int64_t i = 0; i < order; ++i)
      run.components.push_back(arith::ExtSIOp::create(b, b.getI64Type(), load(i32, gep(row, i32, i))));
    if (weightTable)
      run.weight = load(element, gep(weightTable, element, Index(number)));
    body(run);
    first = past;
  }
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

/// Of one vector: a number after the other.
void KernelEmitter::emitExpandOne(ExpandOp expand) {
  StringAttr axis = expand.getAxisAttr(), to = expand.getToAttr();
  definePlace(expand.getResult(), to);
  const View panel = ownView(expand.getResult()), vector = *findView(expand.getInput(), axis);
  Type element = expand.getType().getElementType();
  int64_t size = expand.getType().getSize(to);
  Value start = scalars.lookup(expand.getStart());
  Value zero = arith::ConstantOp::create(b, b.getFloatAttr(element, 0.0));
  auto at = [&](const View &view, StringAttr along, Value place) {
    return address(view, Point{along, {{along, Index(place)}}});
  };
  // Past the last feature too: whole vectors of them are read.
  auto clear = scf::ForOp::create(b, constant(0), constant(llvm::alignTo(size, W)), constant(W));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(clear.getBody()->getTerminator());
    storeTile(panel, splat(zero), at(panel, to, clear.getInductionVar()));
  }
  forFeatures(expand.getFeatures(), expand.getWeightValues(), start, size, element,
              [&](const FeatureRun &run) {
                Value product = run.weight;
                for (Value component : run.components) {
                  Value x = loadTile(vector, at(vector, axis, component), /*isVector=*/false);
                  product = product ? arith::MulFOp::create(b, product, x).getResult() : x;
                }
                if (!product)
                  product = arith::ConstantOp::create(b, b.getFloatAttr(element, 1.0));
                store(product, at(panel, to, run.place));
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
