// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vector-Jacobian product of a pairwise operation is a pairwise operation:
//
//   forward   y = rows(w, %b)      derived   p = dot(%dy, %b) is added to dw, and columns(w, %dy) is b's
//   cotangent
//             y = columns(w, %a)             p = dot(%a, %dy)                  rows(w, %dy)        a's
//             y = rows(w), columns(w), total(w)    dw += %dy, a row scalar, column scalar or parameter
//             y = diagonals(w)                     dw += %dy, a scalar of the diagonal
//
//   The region's own derivative at dw gives a cotangent per argument: for s = dot(%a, %b) the outputs
//   rows(ds, %b) and columns(ds, %a), for a scalar its sum over the axes that it lacks.
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/RegionDerivative.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace taylor;

namespace {

/// Collects the operands, region and outputs of the derived operation.
class DerivedPairwise {
public:
  DerivedPairwise(PairwiseOp op, OpBuilder &builder)
      : op(op), builder(builder), arrays(op.getArrays()), products(op.getProducts()),
        scalars(op.getScalars()) {}

  LogicalResult build(ValueRange results, SmallVectorImpl<Value> &cotangents);

private:
  /// How dw of an output is read: a product or a scalar of the derived operation, by number.
  struct Source {
    bool isProduct;
    int64_t number;
  };
  /// An output of the derived operation and the operand it is a cotangent of.
  struct Output {
    PairSumAttr sum;
    Type type;
    int64_t operand;
  };

  int64_t addArray(Value array) {
    auto it = llvm::find(arrays, array);
    if (it != arrays.end())
      return it - arrays.begin();
    arrays.push_back(array);
    return arrays.size() - 1;
  }
  int64_t addScalar(Value array) {
    int64_t number = addArray(array);
    auto it = llvm::find(scalars, number);
    if (it != scalars.end())
      return it - scalars.begin();
    scalars.push_back(number);
    return scalars.size() - 1;
  }
  int64_t addYielded(Value scalar) {
    auto it = llvm::find(yielded, scalar);
    if (it != yielded.end())
      return it - yielded.begin();
    yielded.push_back(scalar);
    return yielded.size() - 1;
  }
  void addOutput(PairOutput kind, Value scalar, int64_t array, int64_t operand) {
    ArrayType type = arrayTypeOf(op.getArrays()[operand]);
    outputs.push_back({PairSumAttr::get(op.getContext(), kind, addYielded(scalar), array),
                       type.clone(op.getRealType()), operand});
  }
  std::optional<Source> addSource(PairSumAttr sum, Value cotangent);
  void copyRegion(Region &from, Region &to, bool hasProducts);
  LogicalResult buildWeight(Region &region, ArrayRef<std::optional<Source>> sources);
  void addOutputs(ArrayRef<Value> argumentCotangents);

  PairwiseOp op;
  OpBuilder &builder;
  SmallVector<Value> arrays;
  SmallVector<int64_t> products, scalars;
  SmallVector<Value> yielded;
  SmallVector<Output> outputs;
  /// Cotangents of the results, in order, null where zero.
  SmallVector<Value> given;
};

std::optional<DerivedPairwise::Source> DerivedPairwise::addSource(PairSumAttr sum, Value cotangent) {
  if (!cotangent || sum.getKind() == PairOutput::Maximum)
    return std::nullopt;
  if (sum.getArray() < 0)
    return Source{false, addScalar(cotangent)};
  int64_t array = addArray(cotangent);
  if (sum.getKind() == PairOutput::Rows)
    products.append({array, sum.getArray()});
  else
    products.append({sum.getArray(), array});
  return Source{true, static_cast<int64_t>(products.size() / 2 - 1)};
}

/// Arguments of a region of the derived operation: all products (where the region sees them), then all
/// scalars. The old ones come first among each.
static void mapArguments(Block &from, Block &to, IRMapping &values, unsigned oldProducts,
                         unsigned newProducts, unsigned oldScalars, unsigned newScalars) {
  for (unsigned i = 0; i < oldProducts; ++i)
    values.map(from.getArgument(i), to.getArgument(i));
  for (unsigned i = 0; i < oldScalars; ++i)
    values.map(from.getArgument(oldProducts + i), to.getArgument(newProducts + i));
  if (from.getNumArguments() > oldProducts + oldScalars)
    values.map(from.getArguments().back(), to.getArgument(newProducts + newScalars));
}

void DerivedPairwise::copyRegion(Region &from, Region &to, bool hasProducts) {
  if (from.empty())
    return;
  Type real = op.getRealType();
  unsigned oldProducts = hasProducts ? op.getNumProducts() : 0,
           newProducts = hasProducts ? products.size() / 2 : 0;
  SmallVector<Type> types(newProducts, real);
  for (int64_t scalar : scalars)
    types.push_back(arrayTypeOf(arrays[scalar]).getScalarType());
  Block *block = addBlock(to, types, op.getLoc());
  IRMapping values;
  mapArguments(from.front(), *block, values, oldProducts, newProducts, op.getScalars().size(),
               scalars.size());
  OpBuilder inner = OpBuilder::atBlockEnd(block);
  for (Operation &scalar : from.front())
    inner.clone(scalar, values);
}

LogicalResult DerivedPairwise::buildWeight(Region &region, ArrayRef<std::optional<Source>> sources) {
  Type real = op.getRealType();
  unsigned newProducts = products.size() / 2;
  SmallVector<Type> types(newProducts, real);
  for (int64_t scalar : scalars)
    types.push_back(arrayTypeOf(arrays[scalar]).getScalarType());
  if (op.hasMaximum())
    types.push_back(real);
  Block *block = addBlock(region, types, op.getLoc());
  // The region has no parent yet to ask for a context.
  OpBuilder inner(op.getContext());
  inner.setInsertionPointToEnd(block);

  Block &old = op.getWeight().front();
  IRMapping values;
  mapArguments(old, *block, values, op.getNumProducts(), newProducts, op.getScalars().size(), scalars.size());
  cloneScalars(inner, old, values);

  Operation *yield = old.getTerminator();
  SmallVector<Value> dw(yield->getNumOperands());
  for (auto [i, source] : llvm::enumerate(sources)) {
    if (!source)
      continue;
    Value term = block->getArgument(source->isProduct ? source->number : newProducts + source->number);
    Value &sum = dw[op.getSum(i).getYielded()];
    sum = sum ? arith::AddFOp::create(inner, op.getLoc(), sum, term).getResult() : term;
  }
  FailureOr<SmallVector<Value>> argumentCotangents = differentiateScalars(inner, old, values, dw);
  if (failed(argumentCotangents))
    return failure();

  // b's cotangent in rows(w, %b), a's in columns(w, %a): w itself, recomputed.
  for (auto [i, cotangent] : llvm::enumerate(given)) {
    PairSumAttr sum = op.getSum(i);
    if (!sources[i] || sum.getArray() < 0)
      continue;
    addOutput(sum.getKind() == PairOutput::Rows ? PairOutput::Columns : PairOutput::Rows,
              values.lookupOrDefault(yield->getOperand(sum.getYielded())), addArray(cotangent),
              sum.getArray());
  }
  addOutputs(*argumentCotangents);
  YieldOp::create(inner, op.getLoc(), yielded, ArrayAttr());
  return success();
}

void DerivedPairwise::addOutputs(ArrayRef<Value> argumentCotangents) {
  for (int64_t i = 0; i < op.getNumProducts(); ++i) {
    Value ds = argumentCotangents[i];
    if (!ds)
      continue;
    int64_t row = op.getProducts()[2 * i], column = op.getProducts()[2 * i + 1];
    addOutput(PairOutput::Rows, ds, column, row);
    addOutput(PairOutput::Columns, ds, row, column);
  }
  for (auto [i, operand] : llvm::enumerate(op.getScalars())) {
    Value dx = argumentCotangents[op.getNumProducts() + i];
    ArrayType type = arrayTypeOf(op.getArrays()[operand]);
    if (!dx || !isa<FloatType>(type.getElementType()))
      continue;
    PairOutput kind = type.has(AxisRole::Query) ? PairOutput::Rows
                      : type.has(AxisRole::Key) ? PairOutput::Columns
                      : type.has(AxisRole::Lag) ? PairOutput::Diagonals
                                                : PairOutput::Total;
    addOutput(kind, dx, -1, operand);
  }
}

LogicalResult DerivedPairwise::build(ValueRange results, SmallVectorImpl<Value> &cotangents) {
  given.assign(results.begin(), results.end());
  SmallVector<std::optional<Source>> sources;
  for (auto [i, cotangent] : llvm::enumerate(results))
    sources.push_back(addSource(op.getSum(i), cotangent));

  // The outputs are known once the weight is differentiated, so its region is built first.
  Region weight;
  if (failed(buildWeight(weight, sources)))
    return failure();
  cotangents.assign(op.getArrays().size(), Value());
  if (outputs.empty())
    return success();
  SmallVector<Type> types = llvm::map_to_vector(outputs, [](const Output &output) { return output.type; });
  SmallVector<Attribute> sums =
      llvm::map_to_vector(outputs, [](const Output &output) { return Attribute(output.sum); });
  auto derived = PairwiseOp::create(builder, op.getLoc(), types, arrays, products, scalars,
                                    builder.getArrayAttr(sums), op.getChunk());
  copyRegion(op.getVisible(), derived.getVisible(), /*hasProducts=*/false);
  copyRegion(op.getMaximum(), derived.getMaximum(), /*hasProducts=*/true);
  derived.getWeight().takeBody(weight);
  for (auto [output, result] : llvm::zip_equal(outputs, derived.getResults())) {
    Value &sum = cotangents[output.operand];
    sum = sum ? buildSum(builder, op.getLoc(), sum, result) : Value(result);
  }
  return success();
}

} // namespace

LogicalResult PairwiseOp::buildVectorJacobianProduct(OpBuilder &builder, ValueRange results,
                                                     SmallVectorImpl<Value> &cotangents) {
  return DerivedPairwise(*this, builder).build(results, cotangents);
}
