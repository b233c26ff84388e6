// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Monomials of vectors, and their adjoint. Vectors lie in shared memory, since any component may be the next;
// which components a feature has stands in a table in global memory.
//
//   expand     each thread the elements of its registers: P[f, t] = weight[f] * prod x[component[f][i], t]
//   contract   each thread all sums of its tokens, feature by feature:
//                sums[component[f][i], t] += dP[f, t] * weight[f] * prod over j != i of x[component[f][j], t]
#include "codegen/NVPTX/Thread/BufferAddress.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::simt;
using tile::Axis;

namespace {

/// What is known of each feature, and of one more that stands for all past the last.
class FeatureTable {
public:
  /// The tables are globals of the module in which `code` writes.
  FeatureTable(Code code, tile::FeaturesAttr features, std::optional<ArrayAttr> weights, FloatType number);

  /// Components of a feature, an i32 each; `missing` for those that one of a lower order does not have.
  /// `feature`: i32.
  SmallVector<Value> components(Code code, Value feature) const;
  Value weight(Code code, Value feature) const;

  static constexpr int32_t missing = -1;
  /// Components of the highest order, at least 1.
  int64_t width;
  /// Number of features.
  int64_t count = 0;

private:
  Value makeGlobal(Code code, const Twine &name, DenseElementsAttr values);
  Value entry(Code code, Value table, Value index, int64_t bytes) const {
    return code.offset(table, code.mul(code.widen(index), bytes));
  }

  FloatType number;
  Value componentTable, weightTable;
};

} // namespace

FeatureTable::FeatureTable(Code code, tile::FeaturesAttr features, std::optional<ArrayAttr> weights,
                           FloatType number)
    : width(std::max<int64_t>(features.getLast(), 1)), number(number) {
  SmallVector<double> ofOrder = tile::numbersOf(weights);
  SmallVector<int32_t> components;
  SmallVector<APFloat> factors;
  auto addWeight = [&](double weight) {
    APFloat value(weight);
    bool lost;
    value.convert(number.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    factors.push_back(value);
  };
  features.get().forEach([&](const taylor::Features::Feature &feature) {
    components.append(width - feature.order, missing);
    // What fills up a block multiplies anything, by 0.
    for (int64_t component : feature.components)
      components.push_back(component < features.getChannels() ? int32_t(component) : 0);
    double weight = feature.multiplicity == 0 ? 0 : 1;
    if (!ofOrder.empty())
      weight = feature.multiplicity * ofOrder[feature.order - features.getFirst()];
    addWeight(weight);
    ++count;
  });
  components.append(width, missing);
  addWeight(0);
  OpBuilder &builder = code.builder;
  std::string name = ("taylor_features_" + Twine(features.getChannels()) + "_" + Twine(features.getFirst()) +
                      "_" + Twine(features.getLast()) + "_" + Twine(features.getBlock()))
                         .str();
  componentTable =
      makeGlobal(code, name,
                 DenseIntElementsAttr::get(
                     RankedTensorType::get({int64_t(components.size())}, builder.getI32Type()), components));
  weightTable =
      makeGlobal(code, name + "_weights",
                 DenseFPElementsAttr::get(RankedTensorType::get({int64_t(factors.size())}, number), factors));
}

Value FeatureTable::makeGlobal(Code code, const Twine &name, DenseElementsAttr values) {
  OpBuilder &builder = code.builder;
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  // Tables of one name differ in their weights: the first free number.
  std::string symbol;
  LLVM::GlobalOp global;
  for (int64_t i = 0;; ++i) {
    symbol = (name + "_" + Twine(i)).str();
    global = module.lookupSymbol<LLVM::GlobalOp>(symbol);
    if (!global || global.getValueOrNull() == values)
      break;
  }
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(values.getElementType(), values.getNumElements());
    global = LLVM::GlobalOp::create(builder, code.loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                    symbol, values, /*alignment=*/16, unsigned(Space::global));
  }
  return LLVM::AddressOfOp::create(builder, code.loc, global);
}

SmallVector<Value> FeatureTable::components(Code code, Value feature) const {
  Value first = entry(code, componentTable, code.mul(feature, width), 4);
  SmallVector<Value> numbers;
  for (int64_t i = 0; i < width; ++i)
    numbers.push_back(code.load(code.offset(first, 4 * i), Space::global, Words{32, 1}, Value()).front());
  return numbers;
}

Value FeatureTable::weight(Code code, Value feature) const {
  unsigned bits = number.getIntOrFloatBitWidth();
  Value pointer = entry(code, weightTable, feature, bits / 8);
  return code.bitcast(code.load(pointer, Space::global, Words{bits, 1}, Value()).front(), number);
}

/// Numbers of 16 bits are multiplied in f32.
static FloatType numberTypeOf(Type element) {
  return element.isF64() ? cast<FloatType>(element) : cast<FloatType>(Float32Type::get(element.getContext()));
}

static Value multiply(Code code, Value a, Value b) {
  return !a ? b : !b ? a : arith::MulFOp::create(code.builder, code.loc, a, b).getResult();
}

Value KernelEmitter::addressIn(Slot slot, Location loc, llvm::function_ref<Value(StringRef)> placeOf) {
  Code code = at(loc);
  ArrayRef<Axis> axes = slot.type.getAxes();
  Value row = code.i32(0);
  int64_t factor = 1;
  for (const Axis &axis : llvm::reverse(axes.drop_back())) {
    row = code.add(row, code.mul(placeOf(axis.getName()), factor));
    factor *= axis.getSize();
  }
  Value place = placeInSlot(code, slot.type, row, placeOf(axes.back().getName()));
  return code.offset(sharedBase, code.add(place, slot.bytes));
}

Value KernelEmitter::readFrom(Slot slot, Location loc, llvm::function_ref<Value(StringRef)> placeOf) {
  Code code = at(loc);
  Type element = slot.type.getElementType();
  Words words = wordsOf(1, slot.type.getElementBytes());
  Value pointer = addressIn(slot, loc, placeOf);
  Value value = elementsOfWords(code, code.load(pointer, Space::shared, words, Value()), element).front();
  return code.convert(value, numberTypeOf(element));
}

LogicalResult KernelEmitter::emitExpand(ExpandOp op) {
  Code code = at(op);
  Slot slot = slotOf(op.getInput());
  LayoutAttr layout = layoutOf(op.getType());
  StringRef axis = op.getAxis(), to = op.getTo();
  FloatType number = numberTypeOf(op.getType().getElementType());
  FeatureTable table(code, op.getFeatures(), op.getWeights(), number);
  Value one = arith::ConstantOp::create(builder, op.getLoc(), builder.getFloatAttr(number, 1.0));
  Value first = code.add(code.narrow(scalar(op.getStart())), placeOf(layout, to).value);
  // Features of the thread, by their distance from its first: several registers have the same.
  struct Entry {
    SmallVector<Value> components;
    Value weight;
  };
  std::map<int64_t, Entry> entries;
  auto entryAt = [&](int64_t offset) -> const Entry & {
    auto [found, isNew] = entries.try_emplace(offset);
    if (isNew) {
      Value feature = code.add(first, offset), past = code.i32(table.count);
      feature = code.select(code.less(feature, past), feature, past);
      found->second = {table.components(code, feature), table.weight(code, feature)};
    }
    return found->second;
  };
  SmallVector<Value> values;
  for (int64_t i = 0, e = layout.getNumRegisters(); i < e; ++i) {
    const Entry &entry = entryAt(layout.getOffset(i, to));
    Value product = entry.weight;
    for (Value component : entry.components) {
      Value isMissing = code.less(component, code.i32(0));
      Value known = code.select(isMissing, code.i32(0), component);
      Value x = readFrom(slot, op.getLoc(), [&](StringRef name) {
        return name == axis ? known : code.add(placeOf(layout, name).value, layout.getOffset(i, name));
      });
      product = multiply(code, product, code.select(isMissing, one, x));
    }
    values.push_back(code.convert(product, op.getType().getElementType()));
  }
  setTile(op, values);
  return success();
}

LogicalResult KernelEmitter::emitContract(ContractOp op) {
  Location loc = op.getLoc();
  Code code = at(op);
  Slot cotangents = slotOf(op.getCotangent()), vectors = slotOf(op.getInput()), sums = slotOf(op.getSums());
  StringRef axis = op.getAxis(), from = op.getFrom();
  Axis tokens = sums.type.getAxes().front();
  if (tokens.getName() == axis)
    tokens = sums.type.getAxes().back();
  Type element = sums.type.getElementType();
  FeatureTable table(code, op.getFeatures(), op.getWeights(), numberTypeOf(element));
  Words words = wordsOf(1, sums.type.getElementBytes());
  Value start = code.narrow(scalar(op.getStart()));
  Value end = code.add(start, cotangents.type.getSize(from));
  OpBuilder::InsertionGuard guard(builder);
  auto loop = [&](Value begin, Value end, int64_t step) {
    auto made = scf::ForOp::create(builder, loc, begin, end, code.i32(step));
    builder.setInsertionPoint(made.getBody()->getTerminator());
    return made.getInductionVar();
  };
  Value token = loop(thread, code.i32(tokens.getSize()), 32 * numWarps);
  int64_t first = 0;
  for (int64_t order = op.getFeatures().getFirst(); order <= op.getFeatures().getLast(); ++order) {
    // The part of the panel [start, end) that is of this order.
    int64_t past = first + *op.getFeatures().get().countOf(order);
    Value begin = arith::MaxSIOp::create(builder, loc, start, code.i32(first));
    Value last = arith::MinSIOp::create(builder, loc, end, code.i32(past));
    first = past;
    if (order == 0)
      continue;
    OpBuilder::InsertionGuard insideOrder(builder);
    Value feature = loop(begin, last, 1);
    auto at = [&](StringRef along, Value place) {
      return [&, along, place](StringRef name) { return name == along ? place : token; };
    };
    Value cotangent = multiply(code, readFrom(cotangents, loc, at(from, code.sub(feature, start))),
                               table.weight(code, feature));
    SmallVector<Value> components = table.components(code, feature), factors;
    components.erase(components.begin(), components.end() - order);
    for (Value component : components)
      factors.push_back(order > 1 ? readFrom(vectors, loc, at(axis, component)) : Value());
    // One component after the other: two may be the same.
    for (auto [i, component] : llvm::enumerate(components)) {
      Value product = cotangent;
      for (auto [j, factor] : llvm::enumerate(factors))
        if (i != j)
          product = multiply(code, product, factor);
      Value before = readFrom(sums, loc, at(axis, component));
      Value after = arith::AddFOp::create(builder, loc, before, product);
      code.store(wordsOfElements(code, code.convert(after, element), words),
                 addressIn(sums, loc, at(axis, component)), Space::shared, words, Value());
    }
  }
  return success();
}
