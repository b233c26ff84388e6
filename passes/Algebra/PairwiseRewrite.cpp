// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Algebra/PairwiseRewrite.h"

#include "dialect/Sources.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/RegionDerivative.h"

#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace taylor;

namespace {

/// Adds scalars and all that they are computed from.
void collectSlice(ValueRange scalars, llvm::SmallDenseSet<Value> &slice) {
  walkSources(scalars, [&](Value part) { return slice.insert(part).second; });
}

/// Clones the operations of a block that `slice` holds.
void cloneSlice(OpBuilder &builder, Block &block, const llvm::SmallDenseSet<Value> &slice,
                IRMapping &values) {
  for (Operation &op : block.without_terminator())
    if (slice.contains(op.getResult(0)))
      builder.clone(op, values);
}

/// Builds the operation that `clonePairwise` returns.
class Subset {
public:
  Subset(PairwiseOp op, ArrayRef<bool> keep)
      : op(op), keep(keep), usedProducts(op.getNumProducts()), usedScalars(op.getScalars().size()) {}
  PairwiseOp build(OpBuilder &builder);

private:
  void findUses();
  void markArguments(Region &region, const llvm::SmallDenseSet<Value> &slice, bool withProducts);
  int64_t addArray(int64_t old);
  void copyRegion(Region &from, Region &to, ArrayRef<Value> yielded, const llvm::SmallDenseSet<Value> &slice,
                  bool withProducts, bool withMaximum);

  PairwiseOp op;
  ArrayRef<bool> keep;
  llvm::SmallBitVector usedProducts, usedScalars;
  bool usesMaximum = false;
  SmallVector<Value> arrays, yielded;
  SmallVector<int64_t> products, scalars;
  llvm::SmallDenseSet<Value> weightSlice, visibleSlice, maximumSlice;
};

void Subset::markArguments(Region &region, const llvm::SmallDenseSet<Value> &slice, bool withProducts) {
  unsigned count = withProducts ? op.getNumProducts() : 0;
  for (BlockArgument argument : region.getArguments()) {
    if (!slice.contains(argument))
      continue;
    unsigned number = argument.getArgNumber();
    if (number < count)
      usedProducts.set(number);
    else if (number - count < op.getScalars().size())
      usedScalars.set(number - count);
  }
}

void Subset::findUses() {
  Operation *yield = op.getWeight().front().getTerminator();
  for (auto [index, kept] : llvm::enumerate(keep)) {
    PairSumAttr sum = op.getSum(index);
    if (!kept)
      continue;
    if (sum.getKind() == PairOutput::Maximum) {
      usesMaximum = true;
      continue;
    }
    Value scalar = yield->getOperand(sum.getYielded());
    if (!llvm::is_contained(yielded, scalar))
      yielded.push_back(scalar);
    collectSlice(scalar, weightSlice);
  }
  if (op.hasMaximum())
    usesMaximum |= weightSlice.contains(op.getWeight().getArguments().back());
  auto collectYield = [](Region &region, llvm::SmallDenseSet<Value> &slice) {
    if (!region.empty())
      collectSlice(region.front().getTerminator()->getOperands(), slice);
  };
  collectYield(op.getVisible(), visibleSlice);
  if (usesMaximum)
    collectYield(op.getMaximum(), maximumSlice);
  markArguments(op.getWeight(), weightSlice, true);
  markArguments(op.getVisible(), visibleSlice, false);
  markArguments(op.getMaximum(), maximumSlice, true);
}

int64_t Subset::addArray(int64_t old) {
  Value array = op.getArrays()[old];
  auto it = llvm::find(arrays, array);
  if (it != arrays.end())
    return it - arrays.begin();
  arrays.push_back(array);
  return arrays.size() - 1;
}

void Subset::copyRegion(Region &from, Region &to, ArrayRef<Value> yielded,
                        const llvm::SmallDenseSet<Value> &slice, bool withProducts, bool withMaximum) {
  OpBuilder builder(op.getContext());
  Block *block = addBlock(to, {}, op.getLoc());
  builder.setInsertionPointToStart(block);
  IRMapping values;
  unsigned count = withProducts ? op.getNumProducts() : 0;
  for (BlockArgument argument : from.getArguments()) {
    unsigned number = argument.getArgNumber();
    bool used = number < count                            ? usedProducts.test(number)
                : number - count < op.getScalars().size() ? usedScalars.test(number - count)
                                                          : withMaximum;
    if (used)
      values.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
  }
  cloneSlice(builder, from.front(), slice, values);
  SmallVector<Value> results =
      llvm::map_to_vector(yielded, [&](Value value) { return values.lookupOrDefault(value); });
  YieldOp::create(builder, op.getLoc(), results, ArrayAttr());
}

PairwiseOp Subset::build(OpBuilder &builder) {
  findUses();
  for (unsigned i : usedProducts.set_bits())
    products.append({addArray(op.getProducts()[2 * i]), addArray(op.getProducts()[2 * i + 1])});
  for (unsigned i : usedScalars.set_bits())
    scalars.push_back(addArray(op.getScalars()[i]));
  SmallVector<Attribute> sums;
  SmallVector<Type> types;
  Operation *yield = op.getWeight().front().getTerminator();
  for (auto [index, kept] : llvm::enumerate(keep)) {
    if (!kept)
      continue;
    PairSumAttr sum = op.getSum(index);
    int64_t number = 0, array = -1;
    if (sum.getKind() != PairOutput::Maximum)
      number = llvm::find(yielded, yield->getOperand(sum.getYielded())) - yielded.begin();
    if (sum.getArray() >= 0)
      array = addArray(sum.getArray());
    sums.push_back(PairSumAttr::get(op.getContext(), sum.getKind(), number, array));
    types.push_back(op.getResult(index).getType());
  }
  auto result = PairwiseOp::create(builder, op.getLoc(), types, arrays, products, scalars,
                                   builder.getArrayAttr(sums), op.getChunk());
  copyRegion(op.getWeight(), result.getWeight(), yielded, weightSlice, true, usesMaximum);
  auto yieldedBy = [](Region &region) {
    return SmallVector<Value>(region.front().getTerminator()->getOperands());
  };
  if (!op.getVisible().empty())
    copyRegion(op.getVisible(), result.getVisible(), yieldedBy(op.getVisible()), visibleSlice, false, false);
  if (usesMaximum)
    copyRegion(op.getMaximum(), result.getMaximum(), yieldedBy(op.getMaximum()), maximumSlice, true, false);
  return result;
}

} // namespace

PairwiseOp taylor::clonePairwise(OpBuilder &builder, PairwiseOp op, ArrayRef<bool> keep) {
  return Subset(op, keep).build(builder);
}

Value taylor::arrayOf(BlockArgument argument) {
  Operation *op = argument.getOwner()->getParentOp();
  if (auto pairs = dyn_cast<PairwiseOp>(op))
    return pairs.getArrayOf(argument);
  return isa<SpecOp, FunctionOp>(op) ? Value() : op->getOperand(argument.getArgNumber()); // arrays come first
}

std::optional<double> taylor::numberOf(Value scalar) {
  FloatAttr number;
  return matchPattern(scalar, m_Constant(&number)) ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

bool taylor::readsProduct(PairwiseOp op, Value scalar) {
  return llvm::any_of(collectScalars(scalar), [&](Value part) {
    auto argument = dyn_cast<BlockArgument>(part);
    return argument && int64_t(argument.getArgNumber()) < op.getNumProducts();
  });
}

Value taylor::addScalarOperand(PairwiseOp op, Value array) {
  int64_t count = op.getNumProducts();
  int64_t number = llvm::find(op.getArrays(), array) - op.getArrays().begin();
  SmallVector<int64_t> scalars(op.getScalars());
  if (auto it = llvm::find(scalars, number); it != scalars.end())
    return op.getWeight().getArgument(count + (it - scalars.begin()));
  if (number == static_cast<int64_t>(op.getArrays().size()))
    op.getArraysMutable().append(array);
  Type type = arrayTypeOf(array).getScalarType();
  if (!op.getVisible().empty())
    op.getVisible().front().insertArgument(scalars.size(), type, op.getLoc());
  if (op.hasMaximum())
    op.getMaximum().front().insertArgument(count + scalars.size(), type, op.getLoc());
  Value argument = op.getWeight().front().insertArgument(count + scalars.size(), type, op.getLoc());
  scalars.push_back(number);
  op.setScalars(scalars);
  return argument;
}

ArrayType taylor::rowType(PairwiseOp op) {
  MLIRContext *context = op.getContext();
  AxisRef t = AxisRole::Query;
  ArrayType rows = joinAxes({}, op.getRealType(), t);
  for (Value array : op.getArrays()) {
    ArrayType type = arrayTypeOf(array);
    SmallVector<AxisRef> gone = {AxisRole::Key, AxisRole::Query, AxisRole::Lag};
    for (StringAttr axis : type.getAxes())
      if (!isRuntimeAxis(axis))
        gone.push_back(axis);
    FailureOr<ArrayType> joined =
        joinArrays([&] { return op.emitError(); }, context, {rows, type.without(gone)}, {}, op.getRealType());
    rows = joined.value_or(rows);
  }
  return rows.renamed(AxisRole::KeyHead, AxisRole::Head);
}

PairwiseOp taylor::replaceTotals(OpBuilder &builder, PairwiseOp op) {
  ArrayType ofRows = rowType(op);
  builder.setInsertionPoint(op);
  auto rows = cast<PairwiseOp>(builder.clone(*op));
  SmallVector<Attribute> sums(op.getSums().begin(), op.getSums().end());
  for (auto [index, result] : llvm::enumerate(op.getResults())) {
    Value sum = rows.getResult(index);
    if (PairSumAttr total = op.getSum(index); total.getKind() == PairOutput::Total) {
      sums[index] = PairSumAttr::get(op.getContext(), PairOutput::Rows, total.getYielded(), total.getArray());
      sum.setType(ofRows);
      ArrayType type = arrayTypeOf(result);
      SmallVector<AxisRef> axes;
      for (StringAttr axis : ofRows.getAxes())
        if (!type.has(axis))
          axes.push_back(axis == AxisRole::Head && type.has(AxisRole::KeyHead) ? StringRef(kGroup)
                                                                               : axis.getValue());
      sum = buildReduce(builder, op.getLoc(), Reduction::Sum, axes, sum, {},
                        [](OpBuilder &, Location, ValueRange x) { return x[0]; });
    }
    result.replaceAllUsesWith(sum);
  }
  rows.setSumsAttr(builder.getArrayAttr(sums));
  op.erase();
  return rows;
}

PairwiseOp taylor::addMaximum(OpBuilder &builder, PairwiseOp op, Value exponent, double floor) {
  SmallVector<Type> types(op.getResultTypes());
  types.push_back(rowType(op));
  SmallVector<Attribute> sums(op.getSums().begin(), op.getSums().end());
  sums.push_back(PairSumAttr::get(op.getContext(), PairOutput::Maximum, 0, -1));
  auto result = PairwiseOp::create(builder, op.getLoc(), types, op.getArrays(), op.getProducts(),
                                   op.getScalars(), builder.getArrayAttr(sums), op.getChunk());
  {
    OpBuilder::InsertionGuard guard(builder);
    Block &weight = op.getWeight().front();
    Block *block = addBlock(result.getMaximum(), weight.getArgumentTypes(), op.getLoc());
    builder.setInsertionPointToStart(block);
    IRMapping values;
    values.map(weight.getArguments(), block->getArguments());
    llvm::SmallDenseSet<Value> slice;
    collectSlice(exponent, slice);
    cloneSlice(builder, weight, slice, values);
    Value x = values.lookupOrDefault(exponent);
    SmallVector<Value> yielded = {x};
    if (std::isfinite(floor))
      yielded.push_back(buildNumber(builder, op.getLoc(), x.getType(), floor));
    YieldOp::create(builder, op.getLoc(), yielded, ArrayAttr());
  }
  result.getVisible().takeBody(op.getVisible());
  result.getWeight().takeBody(op.getWeight());
  result.getWeight().front().addArgument(op.getRealType(), op.getLoc());
  op.replaceAllUsesWith(result.getResults().drop_back());
  op.erase();
  return result;
}

PairwiseOp taylor::replaceMaximum(OpBuilder &builder, PairwiseOp op, Value maximum) {
  SmallVector<Attribute> sums;
  SmallVector<Type> types;
  for (auto [sum, result] : llvm::zip(op.getSums().getAsRange<PairSumAttr>(), op.getResults()))
    if (sum.getKind() != PairOutput::Maximum) {
      sums.push_back(sum);
      types.push_back(result.getType());
    }
  SmallVector<Value> arrays(op.getArrays());
  SmallVector<int64_t> scalars(op.getScalars());
  scalars.push_back(arrays.size());
  arrays.push_back(maximum);
  auto result = PairwiseOp::create(builder, op.getLoc(), types, arrays, op.getProducts(), scalars,
                                   builder.getArrayAttr(sums), op.getChunk());
  result.getVisible().takeBody(op.getVisible());
  if (!result.getVisible().empty())
    result.getVisible().front().addArgument(op.getRealType(), op.getLoc());
  // The maximum was the last argument; now that is the last scalar.
  result.getWeight().takeBody(op.getWeight());
  auto next = result.getResults().begin();
  for (auto [sum, old] : llvm::zip(op.getSums().getAsRange<PairSumAttr>(), op.getResults()))
    old.replaceAllUsesWith(sum.getKind() == PairOutput::Maximum ? maximum : Value(*next++));
  op.erase();
  return result;
}
