// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// taylor.pairwise: operands and verifier.
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/BodySyntax.h"

#include "llvm/ADT/SetVector.h"

#include <limits>

using namespace mlir;
using namespace taylor;

Type PairwiseOp::getRealType() { return realTypeOf(getContext(), getOperandTypes(), getResultTypes()); }

Value PairwiseOp::getArrayOfSum(int64_t i) {
  auto isWeighted = [](Attribute sum) { return cast<PairSumAttr>(sum).getWeighted(); };
  if (!isWeighted(getSum(i)))
    return {};
  return getWeighted()[llvm::count_if(getSums().getValue().take_front(i), isWeighted)];
}

SmallVector<Value> PairwiseOp::getArrays() {
  return llvm::SmallSetVector<Value, 8>(operand_begin(), operand_end()).takeVector();
}

SmallVector<BlockArgument> PairwiseOp::getProductArguments(int64_t i) {
  SmallVector<BlockArgument> arguments;
  for (Region *region : {&getMaximum(), &getWeight()})
    if (!region->empty())
      arguments.push_back(region->getArgument(i));
  return arguments;
}

SmallVector<BlockArgument> PairwiseOp::getScalarArguments(int64_t i) {
  SmallVector<BlockArgument> arguments;
  for (Region &region : (*this)->getRegions())
    if (!region.empty())
      arguments.push_back(region.getArgument(getNumProducts(region) + i));
  return arguments;
}

namespace {

StringRef productChannel(ArrayType row, ArrayType column) {
  for (StringAttr axis : row.getAxes())
    if (!isRuntimeAxis(axis) && column.has(axis))
      return axis;
  return "";
}

LogicalResult verifyOperands(PairwiseOp op) {
  int64_t weighted = llvm::count_if(op.getSums().getAsRange<PairSumAttr>(),
                                    [](PairSumAttr sum) { return sum.getWeighted(); });
  if (int64_t(op.getWeighted().size()) != weighted)
    return op.emitOpError("expected one array per weighted sum, but got ")
           << op.getWeighted().size() << " for " << weighted;
  if (op.getProducts().size() % 2)
    return op.emitOpError("expected two arrays per product, but got ") << op.getProducts().size();
  for (int64_t i = 0; i < op.getNumProducts(); ++i) {
    ArrayType row = arrayTypeOf(op.getProduct(i).first), column = arrayTypeOf(op.getProduct(i).second);
    if (!row.has(AxisRole::Query) || !column.has(AxisRole::Key))
      return op.emitOpError("expected dot(..) of an array with t and an array with u, but got ")
             << row << " and " << column;
    StringRef channel = productChannel(row, column);
    if (channel.empty())
      return op.emitOpError("expected dot(..) of arrays that share a channel axis, but got ")
             << row << " and " << column;
    if (row.sizeOf(channel) != column.sizeOf(channel))
      return op.emitOpError("expected one size of channel '")
             << channel << "', but got " << row << " and " << column;
    for (ArrayType array : {row, column})
      for (StringAttr axis : array.getAxes())
        if (!isRuntimeAxis(axis) && axis != channel)
          return op.emitOpError("unsupported second channel axis '")
                 << axis.getValue() << "' of an array in dot(..), which sums over '" << channel
                 << "' alone: " << array;
  }
  for (Value scalar : op.getScalars())
    if (ArrayType type = arrayTypeOf(scalar); hasChannel(type))
      return op.emitOpError("unsupported channel axis of a scalar: ")
             << type << "; a channel may occur only in dot(..) and in outputs";
  return success();
}

LogicalResult verifyRegion(PairwiseOp op, Region &region, StringRef name, bool withProducts,
                           bool withMaximum) {
  if (region.empty())
    return success();
  if (failed(verifyPairScalars(op, region)))
    return failure();
  SmallVector<Type> expected;
  if (withProducts)
    expected.append(op.getNumProducts(), op.getRealType());
  llvm::append_range(expected, scalarTypesOf(op.getScalars()));
  if (withMaximum)
    expected.push_back(op.getRealType());
  if (region.getArgumentTypes() != TypeRange(expected))
    return op.emitOpError("expected arguments of the ")
           << name << " region of types " << expected << ", but got " << region.getArgumentTypes();
  // A maximum may have a floor, its second number.
  unsigned most = name == "visible" ? 1 : name == "maximum" ? 2 : std::numeric_limits<unsigned>::max();
  if (unsigned count = region.front().back().getNumOperands(); count < 1 || count > most)
    return op.emitOpError("expected ") << (most == 1   ? "one condition"
                                           : most == 2 ? "one number, or two with a floor,"
                                                       : "at least one number")
                                       << " from the " << name << " region, but got " << count;
  for (Value value : region.front().getTerminator()->getOperands()) {
    bool isCondition = value.getType().isInteger(1);
    if (name == "visible" && !isCondition)
      return op.emitOpError("expected a condition in visible(..), such as u <= t, but got a number");
    if (name != "visible" && isCondition)
      return op.emitOpError("expected numbers from the ")
             << name << " region, but got a condition; write select(condition, 1.0, 0.0)";
    if (name != "visible" && value.getType() != op.getRealType())
      return op.emitOpError("expected numbers of type ")
             << op.getRealType() << " from the " << name << " region, but got " << value.getType();
  }
  return success();
}

LogicalResult verifyOutput(PairwiseOp op, unsigned number) {
  PairSumAttr sum = op.getSum(number);
  ArrayType result = arrayTypeOf(op.getResult(number));
  if (result.getScalarType() != op.getRealType())
    return op.emitOpError("expected outputs that are computed in ")
           << op.getRealType() << ", as the pairs are, but got " << result;
  bool columns = sum.getKind() == PairOutput::Columns, diagonals = sum.getKind() == PairOutput::Diagonals;
  AxisRef own = columns     ? AxisRole::Key
                : diagonals ? AxisRole::Lag
                            : AxisRole::Query,
          other = columns ? AxisRole::Query : AxisRole::Key;
  if (AxisRef token = tokenAxis(result); sum.getKind() != PairOutput::Total && !token.empty() && token != own)
    return op.emitOpError("expected an output of ")
           << stringifyPairOutput(sum.getKind()) << " without axis '" << token << "', but got " << result;
  if (diagonals && !result.has(own))
    return op.emitOpError("expected an output of diagonals with axis 'lag', but got ")
           << result << "; a sum over all pairs is total(..)";
  bool maximum = sum.getKind() == PairOutput::Maximum;
  if (maximum && !op.hasMaximum())
    return op.emitOpError("requires a maximum region for the output maximum");
  if (!maximum &&
      (sum.getYielded() < 0 || sum.getYielded() >= op.getWeight().front().getTerminator()->getNumOperands()))
    return op.emitOpError("expected an output of a yielded scalar, but got number ") << sum.getYielded();
  if (!sum.getWeighted()) {
    if (hasChannel(result))
      return op.emitOpError("expected an output without channel axis, but got ") << result;
    return success();
  }
  if (sum.getKind() != PairOutput::Rows && !columns)
    return op.emitOpError("expected rows or columns contracted with an operand");
  ArrayType array = arrayTypeOf(op.getArrayOfSum(number));
  if (!array.has(other))
    return op.emitOpError("expected ") << stringifyPairOutput(sum.getKind()) << "(w, array) with axis '"
                                       << other << "' of the array, but got " << array;
  for (StringAttr axis : array.getAxes())
    if (!isRuntimeAxis(axis) && !result.has(axis))
      return op.emitOpError("expected the channel axis '")
             << axis.getValue() << "' in the output, but got " << result;
  for (auto [axis, size] : llvm::zip(result.getAxes(), result.getSizes()))
    if (!isRuntimeAxis(axis) && (!array.has(axis) || array.sizeOf(axis) != size))
      return op.emitOpError("expected the channel axes of ") << array << " in the output, but got " << result;
  return success();
}

} // namespace

LogicalResult PairwiseOp::verify() {
  if (failed(verifyOperands(*this)) || failed(verifyRegion(*this, getVisible(), "visible", false, false)) ||
      failed(verifyRegion(*this, getMaximum(), "maximum", true, false)) ||
      failed(verifyRegion(*this, getWeight(), "weight", true, hasMaximum())))
    return failure();
  if (getSums().size() != getResults().size())
    return emitOpError("expected one sum per result, but got ")
           << getSums().size() << " for " << getResults().size();
  for (unsigned number : llvm::seq(getNumResults()))
    if (failed(verifyOutput(*this, number)))
      return failure();
  return success();
}
