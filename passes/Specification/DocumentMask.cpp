// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Specification/DocumentMask.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace taylor;

static ScanOp runningMaximum(Value array, bool reverse) {
  auto scan = array.getDefiningOp<ScanOp>();
  return scan && scan.getKind() == ScanKind::Max && scan.getReverse() == reverse && !scan.getExclusive()
             ? scan
             : ScanOp();
}

static bool isPosition(Value scalar) {
  auto index = scalar.getDefiningOp<IndexOp>();
  return index && index.getAxis() == AxisRole::Key;
}

std::optional<DocumentCondition> taylor::readDocuments(Value condition,
                                                       function_ref<Value(BlockArgument)> arrayOf) {
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  if (!compare || compare.getPredicate() != arith::CmpFPredicate::OEQ)
    return std::nullopt;
  auto read = [&](Value scalar) -> Value {
    auto argument = dyn_cast<BlockArgument>(scalar);
    return argument ? arrayOf(argument) : Value();
  };
  Value queries = read(compare.getLhs()), keys = read(compare.getRhs());
  if (!queries || !keys)
    return std::nullopt;
  if (!queries.getDefiningOp<AlignOp>())
    std::swap(queries, keys);
  auto align = queries.getDefiningOp<AlignOp>();
  ScanOp numbers = runningMaximum(keys, /*reverse=*/false);
  if (!align || align.getAxis() != AxisRole::Query || align.getArray() != keys || !numbers ||
      numbers.getWithin())
    return std::nullopt;
  return DocumentCondition{keys, queries};
}

std::optional<DocumentCondition> taylor::readDocuments(PairwiseOp op, Value condition) {
  return readDocuments(condition, [&](BlockArgument argument) { return op.getArrayOf(argument); });
}

bool taylor::areStarts(Value numbers) {
  ScanOp scan = runningMaximum(numbers, /*reverse=*/false);
  if (!scan || scan.getWithin())
    return false;
  auto choice = scan.getBody().front().getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  return choice && matchPattern(choice.getTrueValue(), m_AnyZeroFloat()) &&
         isPosition(choice.getFalseValue());
}

bool taylor::areShared(Value numbers) {
  return arrayTypeOf(numbers).without({AxisRole::Batch, AxisRole::Key}).getAxes().empty();
}

bool taylor::boundRanges(Value numbers) { return areStarts(numbers) && areShared(numbers); }

/// Positions from 1: the largest of a document's is where it ends.
static bool isNextPosition(Value scalar) {
  auto sum = scalar.getDefiningOp<arith::AddFOp>();
  return sum && isPosition(sum.getLhs()) && matchPattern(sum.getRhs(), m_OneFloat());
}

Value taylor::buildEnds(OpBuilder &builder, Value numbers) {
  Location loc = numbers.getLoc();
  ArrayType type = arrayTypeOf(numbers);
  auto scan = ScanOp::create(
      builder, loc, type, numbers, numbers, ScanKindAttr::get(builder.getContext(), ScanKind::Max),
      axisAttr(builder, AxisRole::Key), UnitAttr(), builder.getUnitAttr(), builder.getI64IntegerAttr(0));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(addBlock(scan.getBody(), type.getScalarType(), loc));
  Type real = type.getScalarType();
  Value position = IndexOp::create(builder, loc, real, axisAttr(builder, AxisRole::Key));
  Value next = arith::AddFOp::create(builder, loc, position, buildNumber(builder, loc, real, 1.0));
  YieldOp::create(builder, loc, next, ArrayAttr());
  return scan;
}

Value taylor::findEnds(PairwiseOp op, Value numbers) {
  for (Value array : op.getArrays()) {
    ScanOp scan = runningMaximum(array, /*reverse=*/true);
    if (scan && scan.getWithin() == numbers &&
        isNextPosition(scan.getBody().front().getTerminator()->getOperand(0)))
      return array;
  }
  return {};
}
