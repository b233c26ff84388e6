// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Algebra/PairwiseRewrite.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/RegionDerivative.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cmath>

using namespace mlir;
using namespace taylor;

/// Erases scalars of a region that nothing reads.
static void eraseUnread(Region &region) {
  for (Block &block : region)
    for (Operation &scalar : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&scalar))
        scalar.erase();
}

/// Erases an operand's arguments of the regions if nothing reads them.
static bool eraseUnread(ArrayRef<BlockArgument> arguments) {
  if (!llvm::all_of(arguments, [](Value argument) { return argument.use_empty(); }))
    return false;
  for (BlockArgument argument : arguments)
    argument.getOwner()->eraseArgument(argument.getArgNumber());
  return true;
}

void taylor::dropUnread(PairwiseOp op) {
  Block &weight = op.getWeight().front();
  Operation *yield = weight.getTerminator();
  llvm::SetVector<Value> yielded;
  SmallVector<Attribute> sums;
  bool usesMaximum = false;
  for (PairSumAttr sum : op.getSums().getAsRange<PairSumAttr>()) {
    int64_t number = 0;
    if (sum.getKind() == PairOutput::Maximum) {
      usesMaximum = true;
    } else {
      Value scalar = yield->getOperand(sum.getYielded());
      yielded.insert(scalar);
      number = llvm::find(yielded, scalar) - yielded.begin();
    }
    sums.push_back(PairSumAttr::get(op.getContext(), sum.getKind(), number, sum.getWeighted()));
  }
  op.setSumsAttr(ArrayAttr::get(op.getContext(), sums));
  yield->setOperands(yielded.getArrayRef());
  for (Region &region : op->getRegions())
    eraseUnread(region);
  if (op.hasMaximum() && !usesMaximum && weight.getArguments().back().use_empty()) {
    weight.eraseArgument(weight.getNumArguments() - 1);
    op.getMaximum().getBlocks().clear();
  }
  for (int64_t i = op.getNumProducts(); i-- > 0;)
    if (eraseUnread(op.getProductArguments(i)))
      op.getProductsMutable().erase(2 * i, 2);
  for (int64_t i = op.getScalars().size(); i-- > 0;)
    if (eraseUnread(op.getScalarArguments(i)))
      op.getScalarsMutable().erase(i);
}

PairwiseOp taylor::clonePairwise(OpBuilder &builder, PairwiseOp op, ArrayRef<bool> keep) {
  SmallVector<Attribute> sums;
  SmallVector<Type> types;
  SmallVector<Value> weighted;
  for (auto [index, kept] : llvm::enumerate(keep)) {
    if (!kept)
      continue;
    sums.push_back(op.getSum(index));
    types.push_back(op.getResult(index).getType());
    if (Value array = op.getArrayOfSum(index))
      weighted.push_back(array);
  }
  auto result = PairwiseOp::create(builder, op.getLoc(), types, op.getProducts(), op.getScalars(), weighted,
                                   builder.getArrayAttr(sums), op.getChunk());
  IRMapping values;
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), result->getRegions()))
    from.cloneInto(&to, values);
  dropUnread(result);
  return result;
}

void taylor::dividePairwise(PairwiseOp op, ArrayRef<unsigned> group) {
  OpBuilder builder(op);
  for (unsigned part : llvm::seq_inclusive(0u, *llvm::max_element(group))) {
    SmallVector<bool> keep = llvm::map_to_vector(group, [&](unsigned of) { return of == part; });
    if (!llvm::is_contained(keep, true))
      continue;
    auto next = clonePairwise(builder, op, keep).getResults().begin();
    for (auto [kept, result] : llvm::zip_equal(keep, op.getResults()))
      if (kept)
        result.replaceAllUsesWith(*next++);
  }
  op.erase();
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

Value taylor::addScalarOperand(PairwiseOp op, Value array, Region *of) {
  unsigned number = llvm::find(op.getScalars(), array) - op.getScalars().begin();
  if (number == op.getScalars().size()) {
    for (Region &region : op->getRegions())
      if (!region.empty())
        region.insertArgument(op.getNumProducts(region) + number, arrayTypeOf(array).getScalarType(),
                              op.getLoc());
    op.getScalarsMutable().append(array);
  }
  Region &region = of ? *of : op.getWeight();
  return region.getArgument(op.getNumProducts(region) + number);
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
      sums[index] = PairSumAttr::get(op.getContext(), PairOutput::Rows, total.getYielded(), false);
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
  sums.push_back(PairSumAttr::get(op.getContext(), PairOutput::Maximum, 0, false));
  auto result = PairwiseOp::create(builder, op.getLoc(), types, op.getProducts(), op.getScalars(),
                                   op.getWeighted(), builder.getArrayAttr(sums), op.getChunk());
  {
    OpBuilder::InsertionGuard guard(builder);
    Block &weight = op.getWeight().front();
    Block *block = addBlock(result.getMaximum(), weight.getArgumentTypes(), op.getLoc());
    builder.setInsertionPointToStart(block);
    IRMapping values;
    values.map(weight.getArguments(), block->getArguments());
    cloneScalars(builder, weight, values);
    Value x = values.lookupOrDefault(exponent);
    SmallVector<Value> yielded = {x};
    if (std::isfinite(floor))
      yielded.push_back(buildNumber(builder, op.getLoc(), x.getType(), floor));
    YieldOp::create(builder, op.getLoc(), yielded, ArrayAttr());
    eraseUnread(result.getMaximum());
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
  SmallVector<Value> scalars(op.getScalars());
  scalars.push_back(maximum);
  auto result = PairwiseOp::create(builder, op.getLoc(), types, op.getProducts(), scalars, op.getWeighted(),
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
