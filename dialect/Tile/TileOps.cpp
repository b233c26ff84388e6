// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Tile/TileDialect.h"
#include "dialect/Tile/TileSyntax.h" // IWYU pragma: keep, TileOps.cpp.inc calls it

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::tile;

#define GET_OP_CLASSES
#include "dialect/Tile/TileOps.cpp.inc"

static SmallVector<AxisRef> strings(ArrayAttr names) {
  return llvm::map_to_vector(names.getAsRange<StringAttr>(), [](StringAttr name) { return AxisRef(name); });
}

SmallVector<Axis> mlir::tile::unionAxes(TypeRange tiles) {
  SmallVector<Axis> axes;
  for (Type type : tiles)
    for (const Axis &axis : cast<TileType>(type).getAxes())
      if (llvm::none_of(axes, [&](const Axis &other) { return other.name == axis.name; }))
        axes.push_back(axis);
  return axes;
}

/// Where two tiles share an axis, they agree on its size.
static LogicalResult verifySharedSizes(Operation *op, TypeRange tiles) {
  SmallVector<Axis> axes = unionAxes(tiles);
  for (Type type : tiles)
    for (const Axis &axis : axes) {
      int64_t size = cast<TileType>(type).getSize(axis.getName());
      if (size && size != axis.getSize())
        return op->emitOpError() << "expected size " << axis.getSize() << " for axis '" << axis.getName()
                                 << "' of " << type << ", but got " << size;
    }
  return success();
}

/// Layouts may differ: they are a target's.
static LogicalResult verifyResultType(Operation *op, TileType expected, Type actual) {
  auto tile = dyn_cast<TileType>(actual);
  if (tile && expected.withLayout({}) == tile.withLayout({}))
    return success();
  return op->emitOpError() << "expected result type " << expected << ", but got " << actual;
}

static LogicalResult verifyHasAxes(Operation *op, TileType tile, ArrayAttr names) {
  for (StringRef name : strings(names))
    if (!tile.hasAxis(name))
      return op->emitOpError() << "expected axis '" << name << "' in " << tile;
  return success();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

void ProgramOp::build(OpBuilder &builder, OperationState &state, StringRef name, PlanAttr plan,
                      FormAttr form) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  if (plan)
    state.addAttribute(getPlanAttrName(state.name), plan);
  if (form)
    state.addAttribute(getFormAttrName(state.name), form);
  state.addRegion()->emplaceBlock();
}

std::optional<taylor::FunctionRole> ProgramOp::getRole() {
  return getFormAttr() ? getFormAttr().getFunction() : roleOfName(getSymName());
}

bool ProgramOp::isTwin() {
  return getFormAttr() && getSymName() != taylor::stringifyFunctionRole(getFormAttr().getFunction());
}

LogicalResult ProgramOp::verifyRegions() {
  llvm::SmallDenseSet<StringAttr> names;
  int section = 0; // 0 tensors, 1 workspace, 2 kernels
  for (Operation &op : *getBlock()) {
    int kind = isa<TensorOp>(op) ? 0 : isa<WorkspaceOp>(op) ? 1 : isa<KernelOp>(op) ? 2 : -1;
    if (kind < 0)
      return op.emitOpError(
          "unsupported in a tile.program: expected tile.tensor, tile.workspace or tile.kernel");
    if (kind < section)
      return op.emitOpError("expected tensors first, then workspace, then kernels");
    section = kind;
    StringAttr name = kind == 2 ? cast<KernelOp>(op).getSymNameAttr() : op.getAttrOfType<StringAttr>("name");
    if (!names.insert(name).second)
      return op.emitOpError() << "expected distinct names, but got '" << name.getValue() << "' twice";
  }
  return success();
}

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name, ArrayRef<ExtentAttr> grid) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getGridAttrName(state.name),
                     builder.getArrayAttr(SmallVector<Attribute>(grid.begin(), grid.end())));
  Block &body = state.addRegion()->emplaceBlock();
  for (size_t i = 0; i < grid.size(); ++i)
    body.addArgument(builder.getIndexType(), state.location);
}

LogicalResult KernelOp::verifyRegions() {
  if (getBlock()->getNumArguments() != getGrid().size())
    return emitOpError() << "expected one argument per grid dimension, " << getGrid().size() << ", but got "
                         << getBlock()->getNumArguments();
  for (BlockArgument argument : getBlock()->getArguments())
    if (!argument.getType().isIndex())
      return emitOpError() << "expected arguments of type index, but got " << argument.getType();
  if (getLongestAttr() && getGrid().empty())
    return emitOpError("requires a grid to say which of its blocks takes longest");
  return success();
}

LogicalResult SizeOp::verify() {
  if (isRole(getRole()) || getRole() == kOffset)
    return success();
  return emitOpError() << "expected one of b, h, g, t, u, lag, offset, but got '" << getRole() << "'";
}

LogicalResult RequestedOp::verify() {
  auto tensor = getArray().getDefiningOp<TensorOp>();
  if (tensor && tensor.getOptional())
    return success();
  return emitOpError("requires an optional tile.tensor");
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Between the two axes of a tile that lie along one of the array.
static constexpr StringLiteral kMinus = " - ";

SmallVector<WindowAxis> mlir::tile::getWindow(ArrayType array, TileType tile, ArrayAttr arrayAxes,
                                              ArrayAttr tileAxes, ValueRange offsets) {
  SmallVector<WindowAxis> window;
  for (const Axis &axis : array.getAxes()) {
    StringRef inTile = axis.getName();
    Value offset;
    for (auto [name, renamed, value] :
         llvm::zip(arrayAxes.getAsRange<StringAttr>(), tileAxes.getAsRange<StringAttr>(), offsets))
      if (name == axis.name) {
        inTile = renamed.getValue();
        offset = value;
      }
    auto [plus, minus] = inTile.split(kMinus);
    int64_t size = tile.getSize(plus);
    window.push_back({size ? plus : StringRef(), size ? size : 1, offset, minus});
  }
  return window;
}

LogicalResult mlir::tile::verifyWindow(Operation *op, ArrayType array, TileType tile, ArrayAttr arrayAxes,
                                       ArrayAttr tileAxes, ValueRange offsets) {
  if (arrayAxes.size() != tileAxes.size() || arrayAxes.size() != offsets.size())
    return op->emitOpError("expected one array axis and one tile axis per offset");
  llvm::SmallDenseSet<StringRef> seen;
  for (auto [name, renamed] : llvm::zip(strings(arrayAxes), strings(tileAxes))) {
    if (array.find(name) < 0)
      return op->emitOpError() << "expected an axis of " << array << ", but got '" << name << "'";
    if (!seen.insert(name).second)
      return op->emitOpError() << "expected distinct axes, but got '" << name << "' twice";
    auto [plus, minus] = renamed.split(kMinus);
    for (StringRef axis : {plus, minus})
      if (name != axis && !axis.empty() && !tile.hasAxis(axis))
        return op->emitOpError() << "expected axis '" << axis << "' in " << tile;
    if (plus == minus)
      return op->emitOpError() << "expected two axes of the tile, but got '" << renamed << "'";
  }
  llvm::SmallDenseSet<StringRef> covered, diagonal;
  for (auto [axis, entry] :
       llvm::zip(array.getAxes(), getWindow(array, tile, arrayAxes, tileAxes, offsets))) {
    if (entry.tileAxis.empty()) {
      if (!entry.offset)
        return op->emitOpError() << "requires an element for axis '" << axis.getName()
                                 << "', which the tile does not have";
    } else if (!entry.minusAxis.empty()) {
      diagonal.insert_range(ArrayRef({entry.tileAxis, entry.minusAxis}));
    } else if (!covered.insert(entry.tileAxis).second) {
      return op->emitOpError() << "expected one array axis for axis '" << entry.tileAxis
                               << "' of the tile, but got two";
    }
  }
  for (const Axis &axis : tile.getAxes())
    if (!covered.contains(axis.getName()) && !diagonal.contains(axis.getName()))
      return op->emitOpError() << "expected axis '" << axis.getName() << "' of the tile in " << array;
  Type element = tile.getElementType(), storage = array.getElementType();
  if (isa<FloatType>(element) != isa<FloatType>(storage) || (!isa<FloatType>(element) && element != storage))
    return op->emitOpError() << "expected elements that convert, but got " << storage << " and " << element;
  return success();
}

LogicalResult LookupOp::verify() {
  ArrayType type = getArray().getType();
  if (getPlace().size() != type.getAxes().size())
    return emitOpError() << "expected a place along each axis of " << type << ", but got "
                         << getPlace().size();
  if (!type.getElementType().isF32() && !type.getElementType().isF64())
    return emitOpError() << "expected elements of f32 or f64, but got " << type.getElementType();
  for (Operation *user : getArray().getUsers())
    if (isa<StoreOp, AccumulateOp>(user) &&
        user->getParentOfType<KernelOp>() == (*this)->getParentOfType<KernelOp>())
      return emitOpError("requires an array that its kernel does not write");
  return success();
}

LogicalResult LoadOp::verify() {
  if (bool(getEnd()) != bool(getEndAxis()))
    return emitOpError("expected an axis and its end, or neither");
  if (std::optional<StringRef> axis = getEndAxis(); axis && getArray().getType().find(*axis) < 0)
    return emitOpError() << "expected axis '" << *axis << "' in " << getArray().getType();
  return verifyWindow(*this, getArray().getType(), getResult().getType(), getArrayAxes(), getTileAxes(),
                      getOffsets());
}

template <typename Op> static LogicalResult verifyWrite(Op op) {
  return verifyWindow(op, op.getArray().getType(), op.getTile().getType(), op.getArrayAxes(),
                      op.getTileAxes(), op.getOffsets());
}
LogicalResult StoreOp::verify() { return verifyWrite(*this); }
LogicalResult AccumulateOp::verify() {
  Type element = getArray().getType().getElementType();
  if (getAtomic() && !element.isF32() && !element.isF64())
    return emitOpError() << "expected an array of f32 or f64 for atomic additions, but got " << element;
  return verifyWrite(*this);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

LogicalResult SplatOp::verify() {
  if (getValue().getType() == getType().getElementType())
    return success();
  return emitOpError() << "expected a scalar of type " << getType().getElementType() << ", but got "
                       << getValue().getType();
}

LogicalResult PositionOp::verify() {
  if (getType().getAxes().size() == 1 && getType().getElementType().isIndex())
    return success();
  return emitOpError() << "expected a tile of index with one axis, but got " << getType();
}

void MapOp::build(OpBuilder &builder, OperationState &state, TypeRange results, ValueRange inputs) {
  state.addOperands(inputs);
  state.addTypes(results);
  Block &body = state.addRegion()->emplaceBlock();
  for (Value input : inputs)
    body.addArgument(cast<TileType>(input.getType()).getElementType(), state.location);
}

void MapOp::build(OpBuilder &builder, OperationState &state, ValueRange inputs,
                  function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange)> body) {
  build(builder, state, TypeRange(), inputs);
  Block &block = state.regions.front()->front();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block);
  SmallVector<Value> values = body(builder, state.location, block.getArguments());
  YieldOp::create(builder, state.location, values);
  SmallVector<Axis> axes = unionAxes(inputs.getTypes());
  for (Value value : values)
    state.addTypes(TileType::get(builder.getContext(), axes, value.getType()));
}

LogicalResult MapOp::verifyRegions() {
  if (getInputs().empty())
    return emitOpError("requires an operand; a constant tile is a tile.splat");
  if (failed(verifySharedSizes(*this, getInputs().getTypes())))
    return failure();
  SmallVector<Axis> axes = unionAxes(getInputs().getTypes());
  if (getBlock()->getNumArguments() != getInputs().size())
    return emitOpError() << "expected " << getInputs().size() << " region arguments, but got "
                         << getBlock()->getNumArguments();
  for (auto [argument, input] : llvm::zip(getBlock()->getArguments(), getInputs()))
    if (argument.getType() != cast<TileType>(input.getType()).getElementType())
      return emitOpError() << "expected a region argument of type "
                           << cast<TileType>(input.getType()).getElementType() << ", but got "
                           << argument.getType();
  auto yield = cast<YieldOp>(getBlock()->getTerminator());
  if (yield.getValues().size() != getNumResults())
    return emitOpError() << "expected " << getNumResults() << " yielded scalars, but got "
                         << yield.getValues().size();
  for (auto [value, result] : llvm::zip(yield.getValues(), getResultTypes()))
    if (failed(verifyResultType(*this, TileType::get(getContext(), axes, value.getType()), result)))
      return failure();
  for (Operation &op : getBlock()->without_terminator()) {
    for (Value operand : op.getOperands())
      if (isa<TileType, ArrayType>(operand.getType()))
        return op.emitOpError("unsupported in a tile.map: a tile; pass it as an operand of the map");
    if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op.getDialect()) ||
        op.getNumResults() != 1 || !isPure(&op) || op.getNumRegions())
      return op.emitOpError(
          "unsupported in a tile.map: expected pure ops of arith and math with one result each");
  }
  return success();
}

void DotOp::build(OpBuilder &builder, OperationState &state, Value a, Value b, ArrayRef<AxisRef> over,
                  Value c, Value where) {
  SmallVector<Axis> axes = unionAxes({a.getType(), b.getType()});
  llvm::erase_if(axes, [&](const Axis &axis) { return llvm::is_contained(over, axis.getName()); });
  Type element = cast<TileType>(a.getType()).getElementType();
  if (element.isBF16() || element.isF16())
    element = builder.getF32Type();
  build(builder, state, c ? c.getType() : TileType::get(builder.getContext(), axes, element), a, b, c, where,
        axesAttr(builder, over), /*exact=*/UnitAttr());
}

LogicalResult DotOp::verify() {
  TileType a = getA().getType(), b = getB().getType();
  if (failed(verifyHasAxes(*this, a, getOver())) || failed(verifyHasAxes(*this, b, getOver())) ||
      failed(verifySharedSizes(*this, {a, b})))
    return failure();
  if (getOver().empty())
    return emitOpError("requires an axis to sum over");
  SmallVector<AxisRef> over = strings(getOver());
  TileType aFree = a.without(over), bFree = b.without(over);
  for (const Axis &axis : aFree.getAxes())
    if (bFree.hasAxis(axis.getName()))
      return emitOpError() << "expected axis '" << axis.getName()
                           << "' in one operand only, or among those summed over";
  Type element = getType().getElementType();
  if (!element.isF32() && !element.isF64())
    return emitOpError() << "expected f32 or f64 results, but got " << element;
  for (TileType operand : {a, b})
    if (!isa<FloatType>(operand.getElementType()) || (operand.getElementType().isF64() && !element.isF64()))
      return emitOpError() << "expected operands that convert to " << element << ", but got " << operand;
  if (Value where = getWhere()) {
    auto mask = cast<TileType>(where.getType());
    if (!mask.getElementType().isInteger(1))
      return emitOpError() << "expected truth values after 'where', but got " << mask;
    if (failed(verifySharedSizes(*this, {a, b, mask})))
      return failure();
    for (const Axis &axis : mask.getAxes())
      if (!a.hasAxis(axis.getName()) && !b.hasAxis(axis.getName()))
        return emitOpError() << "expected axes of the operands after 'where', but got " << mask;
  }
  return verifyResultType(*this, TileType::get(getContext(), unionAxes({aFree, bFree}), element), getType());
}

void ReduceOp::build(OpBuilder &builder, OperationState &state, ReductionKind kind, Value input,
                     ArrayRef<AxisRef> over) {
  build(builder, state, cast<TileType>(input.getType()).without(over), kind, input, axesAttr(builder, over));
}

LogicalResult ReduceOp::verify() {
  TileType input = getInput().getType();
  if (failed(verifyHasAxes(*this, input, getOver())))
    return failure();
  if (getOver().empty())
    return emitOpError("requires an axis to reduce over");
  if (input.getElementType().isInteger(1))
    return emitOpError() << "expected numbers, but got " << input;
  return verifyResultType(*this, input.without(strings(getOver())), getType());
}

LogicalResult ScanOp::verify() {
  if (!getType().hasAxis(getAxis()))
    return emitOpError() << "expected axis '" << getAxis() << "' in " << getType();
  if (!isa<FloatType>(getType().getElementType()))
    return emitOpError() << "expected floating-point elements, but got " << getType();
  return success();
}

/// `type` with another size of one axis.
static TileType withSize(TileType type, StringRef name, int64_t size) {
  SmallVector<Axis> axes(type.getAxes());
  for (Axis &axis : axes)
    if (axis.getName() == name)
      axis.extent = ExtentAttr::get(type.getContext(), size);
  return TileType::get(type.getContext(), axes, type.getElementType());
}

LogicalResult SliceOp::verify() {
  TileType input = getInput().getType();
  int64_t size = input.getSize(getAxis());
  if (!size)
    return emitOpError() << "expected axis '" << getAxis() << "' in " << input;
  int64_t offset = getOffset(), count = getSize(), stride = getStride();
  if (offset < 0 || offset >= size || count < 1 || stride < 1 || count - 1 > (size - 1 - offset) / stride)
    return emitOpError() << "expected elements within 0 to " << size << " of axis '" << getAxis()
                         << "', but got " << count << " from " << offset << " by " << stride;
  return verifyResultType(*this, withSize(input, getAxis(), getSize()), getType());
}

LogicalResult ConcatOp::verify() {
  TileType a = getA().getType(), b = getB().getType();
  int64_t sizeA = a.getSize(getAxis()), sizeB = b.getSize(getAxis());
  if (!sizeA || !sizeB || withSize(a, getAxis(), sizeB) != b.withLayout({}))
    return emitOpError() << "expected tiles that agree in all axes but '" << getAxis() << "', but got " << a
                         << " and " << b;
  if (getInterleaved() && sizeA != sizeB)
    return emitOpError() << "expected equal sizes to interleave, but got " << sizeA << " and " << sizeB;
  // Before a type of it is made: the sum may be more than an axis holds.
  if (getType().getSize(getAxis()) != sizeA + sizeB)
    return emitOpError() << "expected size " << sizeA + sizeB << " of axis '" << getAxis() << "', but got "
                         << getType();
  return verifyResultType(*this, withSize(a, getAxis(), sizeA + sizeB), getType());
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

LogicalResult mlir::tile::verifyPanel(Operation *op, TileType vectors, AxisRef axis, TileType panel,
                                      StringRef to, FeaturesAttr features, std::optional<ArrayAttr> weights) {
  if (vectors.getSize(axis) != features.getChannels())
    return op->emitOpError() << "expected " << features.getChannels() << " components along axis '" << axis
                             << "', but got " << vectors;
  if (axis != to && vectors.hasAxis(to))
    return op->emitOpError() << "expected no axis '" << to << "' in " << vectors;
  if (!panel.hasAxis(to))
    return op->emitOpError() << "expected axis '" << to << "' in " << panel;
  SmallVector<Axis> axes(vectors.getAxes());
  for (Axis &one : axes)
    if (one.getName() == axis)
      one = Axis::get(op->getContext(), to, panel.getSize(to));
  int64_t orders = features.getLast() - features.getFirst() + 1;
  if (weights && int64_t(weights->size()) != orders)
    return op->emitOpError() << "expected a weight per order, " << orders << ", but got " << weights->size();
  if (!isa<FloatType>(vectors.getElementType()))
    return op->emitOpError() << "expected floating-point elements, but got " << vectors;
  auto expected = TileType::get(op->getContext(), axes, vectors.getElementType());
  if (expected != panel.withLayout({}))
    return op->emitOpError() << "expected features of type " << expected << ", but got " << panel;
  return success();
}

SmallVector<double> mlir::tile::numbersOf(std::optional<ArrayAttr> numbers) {
  if (!numbers)
    return {};
  return llvm::map_to_vector(numbers->getAsValueRange<FloatAttr>(),
                             [](const APFloat &number) { return number.convertToDouble(); });
}
SmallVector<double> ExpandOp::getWeightValues() { return numbersOf(getWeights()); }
SmallVector<double> ContractOp::getWeightValues() { return numbersOf(getWeights()); }

LogicalResult ExpandOp::verify() {
  return verifyPanel(*this, getInput().getType(), getAxis(), getType(), getTo(), getFeatures(), getWeights());
}

LogicalResult ContractOp::verify() {
  TileType input = getInput().getType();
  if (failed(verifyPanel(*this, input, getAxis(), getCotangent().getType(), getFrom(), getFeatures(),
                         getWeights())) ||
      failed(verifyResultType(*this, input.withLayout({}), getType())))
    return failure();
  return verifyResultType(*this, input.withLayout({}), getC().getType());
}
