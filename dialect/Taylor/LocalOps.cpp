// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations local to rows, tokens and channels: map, reduce, scan, align, normalize, rope, convolve.
#include "dialect/Taylor/BodySyntax.h"
#include "dialect/Taylor/Carried.h"
#include "dialect/Taylor/LocalSyntax.h"
#include "dialect/Taylor/TextParsing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace taylor;

namespace {

/// Broadcasting never loses an axis or changes a size: the result has at least the inferred axes.
LogicalResult verifyWidened(Operation *op, ArrayType inferred) {
  auto result = cast<ArrayType>(op->getResult(0).getType());
  for (auto [axis, size] : llvm::zip(inferred.getAxes(), inferred.getSizes())) {
    StringRef name = axis.getValue();
    if (name == AxisRole::KeyHead && result.has(AxisRole::Head))
      continue;
    if (!result.has(name))
      return op->emitOpError("expected a result with axis '") << name << "', but got " << result;
    if (size != ArrayType::kUnknown && result.sizeOf(name) != ArrayType::kUnknown &&
        result.sizeOf(name) != size)
      return op->emitOpError("expected axis '") << name << "' of size " << size << ", but got " << result;
  }
  return success();
}

LogicalResult verifyLive(Operation *op, OperandRange live, ArrayType result) {
  for (Value count : live)
    for (StringAttr axis : cast<ArrayType>(count.getType()).getAxes())
      if (!result.has(axis) && !(axis == AxisRole::KeyHead && result.has(AxisRole::Head)))
        return op->emitOpError("expected a guard with axes of the operands, but got ") << count.getType();
  return success();
}

auto emitterFor(Operation *op) {
  return [op] { return op->emitOpError(); };
}

} // namespace

//===----------------------------------------------------------------------===//
// MapOp
//===----------------------------------------------------------------------===//

ParseResult MapOp::parse(OpAsmParser &parser, OperationState &result) {
  BodySyntax body(parser, result);
  if (body.parseBody() || body.parseLive() || body.parseTypes())
    return failure();
  result.getOrAddProperties<Properties>().operandSegmentSizes = {body.numArrays(), body.numLive()};
  result.addTypes(body.explicitResult ? body.explicitResult : body.joined);
  return success();
}

void MapOp::print(OpAsmPrinter &printer) {
  SmallVector<Value> order = printBody(printer, getBody(), getArrays());
  FailureOr<ArrayType> inferred = joinBody(emitterFor(*this), getBody(), getArrays());
  printLiveAndTypes(printer, *this, order, getLive(), succeeded(inferred) ? *inferred : ArrayType());
}

LogicalResult MapOp::verify() {
  if (failed(verifyBody(*this, getBody(), getArrays())))
    return failure();
  FailureOr<ArrayType> inferred = joinBody(emitterFor(*this), getBody(), getArrays());
  if (failed(inferred) || failed(verifyWidened(*this, *inferred)))
    return failure();
  return verifyLive(*this, getLive(), getResult().getType());
}

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

namespace {

/// Axes of `array` after reducing over `axes`; `group` turns h into g.
FailureOr<ArrayType> reducedType(EmitError emitError, ArrayType array, ArrayAttr axes) {
  SmallVector<AxisRef> gone;
  bool group = false;
  llvm::SmallDenseSet<StringRef> seen;
  for (StringAttr axis : axes.getAsRange<StringAttr>()) {
    if (!seen.insert(axis.getValue()).second)
      return emitError() << "expected each axis once in over(..), but got '" << axis.getValue() << "' twice";
    if (axis == kGroup) {
      group = true;
      continue;
    }
    if (!array.has(axis))
      return emitError() << "expected an axis of the operands, but got '" << axis.getValue() << "'";
    gone.push_back(axis);
  }
  if (group && !array.has(AxisRole::Head))
    return emitError() << "requires axis h to reduce over the group";
  if (group && seen.contains(nameOf(AxisRole::Head)))
    return emitError() << "expected over(h) or over(group), but got both: h has the heads of all groups";
  ArrayType reduced = array.without(gone);
  return group ? reduced.renamed(AxisRole::Head, AxisRole::KeyHead) : reduced;
}

} // namespace

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  BodySyntax body(parser, result);
  Reduction kind = Reduction::Sum;
  SmallVector<Attribute> axes;
  auto parseAxis = [&]() -> ParseResult {
    StringAttr axis;
    if (parseAxisName(parser, axis))
      return failure();
    axes.push_back(axis);
    return success();
  };
  if (parseEnum<Reduction>(parser, kind, symbolizeReduction, "sum, mean or max") ||
      parser.parseKeyword("over") || parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseAxis) ||
      body.parseBody() || body.parseLive() || body.parseTypes())
    return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {body.numArrays(), body.numLive()};
  properties.kind = ReductionAttr::get(parser.getContext(), kind);
  properties.axes = parser.getBuilder().getArrayAttr(axes);
  FailureOr<ArrayType> reduced =
      reducedType([&] { return parser.emitError(parser.getNameLoc()); }, body.joined, properties.axes);
  if (failed(reduced))
    return failure();
  result.addTypes(body.explicitResult ? body.explicitResult : *reduced);
  return success();
}

void ReduceOp::print(OpAsmPrinter &printer) {
  printer << " " << stringifyReduction(getKind()) << " over(";
  llvm::interleaveComma(getAxes().getAsRange<StringAttr>(), printer,
                        [&](StringAttr axis) { printer << axis.getValue(); });
  printer << ")";
  SmallVector<Value> order = printBody(printer, getBody(), getArrays());
  FailureOr<ArrayType> inferred = joinBody(emitterFor(*this), getBody(), getArrays());
  if (succeeded(inferred))
    inferred = reducedType(emitterFor(*this), *inferred, getAxes());
  printLiveAndTypes(printer, *this, order, getLive(), succeeded(inferred) ? *inferred : ArrayType());
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyBody(*this, getBody(), getArrays())))
    return failure();
  FailureOr<ArrayType> joined = joinBody(emitterFor(*this), getBody(), getArrays());
  if (failed(joined) || failed(verifyLive(*this, getLive(), *joined)))
    return failure();
  if (getAxes().empty())
    return emitOpError("requires at least one axis to reduce over");
  FailureOr<ArrayType> inferred = reducedType(emitterFor(*this), *joined, getAxes());
  if (failed(inferred))
    return failure();
  // A specification's own sums over tokens are recurrences and scans; what it hands on to another call is
  // summed over those of one.
  auto spec = (*this)->getParentOfType<SpecOp>();
  if (spec && llvm::none_of(spec.getArgNames().getAsValueRange<StringAttr>(), isCarried))
    for (StringAttr axis : getAxes().getAsRange<StringAttr>())
      if (isTokenAxis(axis) || axis == AxisRole::Batch)
        return emitOpError("unsupported reduction over '")
               << axis.getValue()
               << "' in a specification; sums over tokens are taylor.recurrences or taylor.scan";
  return verifyWidened(*this, *inferred);
}

//===----------------------------------------------------------------------===//
// ScanOp
//===----------------------------------------------------------------------===//

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  BodySyntax body(parser, result);
  auto &properties = result.getOrAddProperties<Properties>();
  ScanKind kind = ScanKind::Sum;
  int64_t amount = 0;
  if (parseEnum<ScanKind>(parser, kind, symbolizeScanKind, "sum, max, shift, high or low"))
    return failure();
  if (kind == ScanKind::Shift &&
      (parser.parseLParen() || parser.parseInteger(amount) || parser.parseRParen()))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("exclusive")))
    properties.exclusive = parser.getBuilder().getUnitAttr();
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    properties.reverse = parser.getBuilder().getUnitAttr();
  if (succeeded(parser.parseOptionalKeyword("lengths")))
    properties.lengths = parser.getBuilder().getUnitAttr();
  SmallVector<Value> within;
  if (failed(parser.parseOptionalKeyword("over")))
    return failure(rejectUnknownWord(parser, {"exclusive", "reverse", "over(..)"}) ||
                   parser.parseKeyword("over"));
  if (parser.parseLParen() || parseAxisName(parser, properties.axis) || parser.parseRParen() ||
      parseWithin(parser, within) || body.parseBody() || body.parseLive() || body.parseTypes())
    return failure();
  if (body.numLive())
    return parser.emitError(parser.getNameLoc(), "unsupported guard live(..) on a scan");
  result.addOperands(within);
  properties.operandSegmentSizes = {body.numArrays(), int32_t(within.size())};
  properties.kind = ScanKindAttr::get(parser.getContext(), kind);
  properties.amount = parser.getBuilder().getI64IntegerAttr(amount);
  result.addTypes(body.explicitResult ? body.explicitResult : body.joined);
  return success();
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << " " << stringifyScanKind(getKind());
  if (isShift())
    printer << "(" << getAmountAttr().getInt() << ")";
  printer << (getExclusive() ? " exclusive" : "") << (getReverse() ? " reverse" : "")
          << (getLengths() ? " lengths" : "") << " over(" << getAxis() << ")";
  printWithin(printer, getWithin());
  SmallVector<Value> order = printBody(printer, getBody(), getArrays());
  FailureOr<ArrayType> inferred = joinBody(emitterFor(*this), getBody(), getArrays());
  printLiveAndTypes(printer, *this, order, {}, succeeded(inferred) ? *inferred : ArrayType());
}

LogicalResult ScanOp::verify() {
  if (failed(verifyBody(*this, getBody(), getArrays())))
    return failure();
  FailureOr<ArrayType> inferred = joinBody(emitterFor(*this), getBody(), getArrays());
  if (failed(inferred) || failed(verifyWidened(*this, *inferred)))
    return failure();
  if (getAxis() != AxisRole::Query && getAxis() != AxisRole::Key)
    return emitOpError("expected a scan over t or u, but got '") << getAxis() << "'";
  if (!inferred->has(getAxis()))
    return emitOpError("requires axis '")
           << getAxis() << "' of an operand, but got " << *inferred
           << "; taylor.align reads an array over u at queries, and one over t at keys";
  if (isShift() && (getAmountAttr().getInt() < 0 || getExclusive()))
    return emitOpError("expected shift(n) with n >= 0, and not exclusive, but got ")
           << (getExclusive() ? "exclusive shift(" : "shift(") << getAmountAttr().getInt() << ")";
  if (isPart() && (!(*this)->getParentOfType<FunctionOp>() || !getResult().getType().getScalarType().isF32()))
    return emitOpError("expected one part of a running sum, '")
           << stringifyScanKind(getKind()) << "', over an array of f32 in a taylor.function, but got "
           << getResult().getType() << "; the whole of it is 'sum'";
  if (getLengths() && (getKind() != ScanKind::Max || !getReverse() || getExclusive() || !getWithin()))
    return emitOpError("requires 'max reverse' and within(..) for 'lengths', which counts the tokens of each "
                       "document; a specification says size(u)");
  if (getWithin())
    return verifyNumbers(*this, "documents", getWithin().getType(), getAxis(), getResult().getType());
  return success();
}

double ScanOp::getIdentity() {
  return getKind() == ScanKind::Max ? -std::numeric_limits<double>::infinity() : 0.0;
}

//===----------------------------------------------------------------------===//
// AlignOp
//===----------------------------------------------------------------------===//

LogicalResult AlignOp::verify() {
  if (getAxis() != AxisRole::Query && getAxis() != AxisRole::Key)
    return emitOpError("expected to align to t or u, but got '") << getAxis() << "'";
  AxisRef from = getAxis() == AxisRole::Query ? AxisRole::Key : AxisRole::Query;
  if (!getArray().getType().has(from))
    return emitOpError("requires axis '") << from << "' of its operand, but got " << getArray().getType();
  // Storage of 16 bits is read in the type that is computed in.
  ArrayType result = getResult().getType();
  if (result != getArray().getType().renamed(from, getAxis()).clone(result.getElementType()))
    return emitOpError("expected a result with '") << from << "' renamed to '" << getAxis() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// NormalizeOp
//===----------------------------------------------------------------------===//

LogicalResult NormalizeOp::verify() {
  ArrayType array = getArray().getType();
  if (!array.has(getAxis()))
    return emitOpError("requires axis '")
           << getAxis() << "' of its operand, but got " << array << "; name another with over(..)";
  if (isTokenAxis(getAxis()) || getAxis() == AxisRole::Batch)
    return emitOpError("unsupported norm over '")
           << getAxis() << "'; a norm reduces channels, heads or a free axis";
  if (getEpsilon().isNegative())
    return emitOpError("expected epsilon >= 0, but got ") << formatNumber(getEpsilon().convertToDouble());
  if (getKind() == Norm::L2 && (getWeight() || getBias()))
    return emitOpError("unsupported weight or bias of an l2 norm; multiply its result with taylor.map");
  SmallVector<ArrayType> arrays;
  for (Type type : getOperandTypes())
    arrays.push_back(cast<ArrayType>(type));
  FailureOr<ArrayType> joined =
      joinArrays(emitterFor(*this), getContext(), arrays, {}, realTypeOf(getContext(), getOperandTypes()));
  return failure(failed(joined) || failed(verifyResult(*this, *joined)));
}

//===----------------------------------------------------------------------===//
// RopeOp
//===----------------------------------------------------------------------===//

StringRef RopeOp::getChannel() {
  ArrayType array = getArray().getType();
  if (array.has(AxisRole::Channel))
    return nameOf(AxisRole::Channel);
  StringRef channel;
  for (StringAttr axis : array.getAxes())
    if (!isRuntimeAxis(axis))
      channel = channel.empty() ? axis.getValue() : StringRef("?");
  return channel == "?" ? "" : channel;
}

LogicalResult RopeOp::verify() {
  ArrayType array = getArray().getType();
  if (!array.has(AxisRole::Query) && !array.has(AxisRole::Key))
    return emitOpError("requires a token axis t or u, but got ") << array;
  StringRef channel = getChannel();
  if (channel.empty())
    return emitOpError("requires one channel axis, but got ") << array;
  if (int64_t size = array.sizeOf(channel); size != ArrayType::kUnknown && size % 2)
    return emitOpError("expected an even number of channels to rotate in pairs, but got ")
           << channel << " = " << size;
  if (!(getTheta().convertToDouble() > 0))
    return emitOpError("expected theta > 0, but got ") << formatNumber(getTheta().convertToDouble());
  if (failed(verifyResult(*this, array.clone(array.getScalarType()))))
    return failure();
  if (!getPositions())
    return success();
  return verifyNumbers(*this, "positions", getPositions().getType(), getToken(), array);
}

LogicalResult RopeOp::verifySizes() {
  if (int64_t size = getArray().getType().sizeOf(getChannel()); size % 2 != 0)
    return emitError() << "requires an even size of axis '" << getChannel() << "' to rotate, but got "
                       << size;
  return success();
}

//===----------------------------------------------------------------------===//
// ConvolveOp
//===----------------------------------------------------------------------===//

StringRef ConvolveOp::getTapAxis() {
  for (StringAttr axis : getTaps().getType().getAxes())
    if (!isRoleAxis(axis) && !getArray().getType().has(axis))
      return axis;
  return "";
}

int64_t ConvolveOp::getNumTaps() { return getTaps().getType().sizeOf(getTapAxis()); }

LogicalResult ConvolveOp::verify() {
  if (!getArray().getType().has(AxisRole::Query) && !getArray().getType().has(AxisRole::Key))
    return emitOpError("requires a token axis t or u, but got ") << getArray().getType();
  if (getTapAxis().empty())
    return emitOpError("requires one free axis of taps, such as j = 4, but got ") << getTaps().getType();
  constexpr int64_t kMostTaps = 64;
  if (getNumTaps() > kMostTaps)
    return emitOpError("expected at most ")
           << kMostTaps << " taps, for which kernels have code one by one, but got " << getNumTaps();
  for (StringAttr axis : getTaps().getType().getAxes())
    if (axis != getTapAxis() && !getArray().getType().has(axis))
      return emitOpError("expected taps over axes of the array, but got axis '") << axis.getValue() << "'";
  if (failed(verifyResult(*this, getArray().getType().clone(getArray().getType().getScalarType()))))
    return failure();
  if (getWithin())
    return verifyNumbers(*this, "documents", getWithin().getType(),
                         getArray().getType().has(AxisRole::Query) ? AxisRole::Query : AxisRole::Key,
                         getArray().getType());
  return success();
}
