// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "codegen/Targets/NVPTX/Simt/Verify.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::simt;
using tile::Axis;
using tile::parseIntoType;
using tile::parseName;
using tile::parseNames;
using tile::parseWindow;
using tile::printIntoType;
using tile::printName;
using tile::printNames;
using tile::printWindow;
using tile::TileType;

/// The lines of a text as strings between braces.
static ParseResult parseLines(OpAsmParser &parser, StringAttr &text) {
  std::string lines, line;
  if (parser.parseLBrace())
    return failure();
  while (succeeded(parser.parseOptionalString(&line)))
    lines += line + "\n";
  text = parser.getBuilder().getStringAttr(lines);
  return parser.parseRBrace();
}

static void printLines(OpAsmPrinter &printer, Operation *, StringAttr text) {
  printer << "{";
  printer.increaseIndent();
  StringRef rest = text.getValue();
  while (!rest.empty()) {
    auto [line, after] = rest.split('\n');
    printer.printNewline();
    printer.printString(line);
    rest = after;
  }
  printer.decreaseIndent();
  printer.printNewline();
  printer << "}";
}

#include "codegen/Targets/NVPTX/Simt/SimtDialect.cpp.inc"
#include "codegen/Targets/NVPTX/Simt/SimtEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "codegen/Targets/NVPTX/Simt/SimtTypes.cpp.inc"
#define GET_OP_CLASSES
#include "codegen/Targets/NVPTX/Simt/SimtOps.cpp.inc"

namespace {
/// Layouts are long and few: printed once, at the top.
struct SimtAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, raw_ostream &stream) const override {
    auto layout = dyn_cast<LayoutAttr>(attribute);
    if (!layout)
      return AliasResult::NoAlias;
    if (std::optional<FragmentAxes> axes = getFragmentAxes(layout))
      stream << "fragment_" << axes->rows << "_" << axes->columns;
    else
      stream << "layout";
    return AliasResult::OverridableAlias;
  }
};
} // namespace

void SimtDialect::initialize() {
  registerAttributes();
  addTypes<
#define GET_TYPEDEF_LIST
#include "codegen/Targets/NVPTX/Simt/SimtTypes.cpp.inc"
      >();
  addInterfaces<SimtAliases>();
  addOperations<
#define GET_OP_LIST
#include "codegen/Targets/NVPTX/Simt/SimtOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// !simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>
//===----------------------------------------------------------------------===//

Type BufferType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t slots = 1, swizzle = 0, panel = 0;
  SmallVector<Axis> axes;
  Type elementType;
  auto parseAxis = [&]() -> ParseResult {
    StringRef name;
    int64_t size = 0;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual() || parser.parseInteger(size))
      return failure();
    auto diagnose = [&] { return parser.emitError(place, "axis '") << name << "': "; };
    auto extent = tile::ExtentAttr::getChecked(diagnose, parser.getContext(),
                                               StringAttr::get(parser.getContext(), ""), size);
    if (!extent)
      return failure();
    axes.push_back({StringAttr::get(parser.getContext(), name), extent});
    return success();
  };
  if (parser.parseLess() || parser.parseInteger(slots) || parser.parseKeyword("x") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis) || parser.parseComma() ||
      parser.parseType(elementType))
    return {};
  auto parseNumber = [&](StringRef name, int64_t &number) -> ParseResult {
    if (failed(parser.parseOptionalComma()))
      return success();
    return failure(parser.parseKeyword(name) || parser.parseEqual() || parser.parseInteger(number));
  };
  if (parseNumber("swizzle", swizzle) || parseNumber("panel", panel))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), slots, ArrayRef<Axis>(axes),
                    elementType, swizzle, panel);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << "<" << getSlots() << " x [";
  llvm::interleaveComma(getAxes(), printer,
                        [&](const Axis &axis) { printer << axis.getName() << " = " << axis.getSize(); });
  printer << "], " << getElementType();
  if (getSwizzle())
    printer << ", swizzle = " << getSwizzle();
  if (getPanel())
    printer << ", panel = " << getPanel();
  printer << ">";
}

LogicalResult LaunchAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t warps,
                                 int64_t shared) {
  if (warps < 1 || shared < 0)
    return emitError() << "expected at least one warp and no less than 0 bytes of shared memory, but got "
                       << warps << " and " << shared;
  return success();
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t slots,
                                 ArrayRef<Axis> axes, Type elementType, int64_t swizzle, int64_t panel) {
  if (slots < 1)
    return emitError() << "expected at least one slot, but got " << slots;
  if (axes.empty())
    return emitError() << "expected at least one axis";
  if (failed(TileType::verify(emitError, axes, elementType, {})))
    return failure();
  if (!elementType.isIntOrFloat() || elementType.getIntOrFloatBitWidth() % 8)
    return emitError() << "expected elements of whole bytes, but got " << elementType;
  constexpr int64_t kMostBytes = 1 << 20;
  int64_t bytes = elementType.getIntOrFloatBitWidth() / 8;
  for (const Axis &axis : axes)
    bytes = axis.getSize() <= kMostBytes ? std::min(bytes * axis.getSize(), kMostBytes + 1) : kMostBytes + 1;
  if (slots > kMostBytes || bytes * slots > kMostBytes)
    return emitError() << "expected at most " << kMostBytes
                       << " bytes, more than any machine shares, but got more; use smaller tiles";
  if (swizzle && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "expected swizzle = 32, 64 or 128, but got " << swizzle;
  int64_t rowBytes = axes.back().getSize() * elementType.getIntOrFloatBitWidth() / 8;
  if (swizzle && rowBytes % swizzle)
    return emitError() << "expected rows of a multiple of " << swizzle << " bytes, but got " << rowBytes;
  int64_t rows = 1;
  for (const Axis &axis : axes.drop_back())
    rows *= axis.getSize();
  if (swizzle && rows * swizzle % 128)
    return emitError() << "expected rows of a multiple of 128 bytes together for swizzle = " << swizzle
                       << ", but got " << rows << " rows";
  if (panel && (!swizzle || panel < axes.front().getSize()))
    return emitError() << "expected panel, the rows of the whole, of a part of a swizzled buffer, but got "
                       << panel;
  return success();
}

int64_t BufferType::getSize(StringRef name) const {
  for (const Axis &axis : getAxes())
    if (axis.getName() == name)
      return axis.getSize();
  return 0;
}

int64_t BufferType::getNumRows() const {
  int64_t rows = 1;
  for (const Axis &axis : getAxes().drop_back())
    rows *= axis.getSize();
  return rows;
}

int64_t BufferType::getSlotBytes() const { return getNumRows() * getRow().getSize() * getElementBytes(); }

int64_t BufferType::getByteOffset(int64_t row, int64_t column) const {
  int64_t byte = column * getElementBytes();
  if (!getSwizzle())
    return row * getRow().getSize() * getElementBytes() + byte;
  int64_t width = getSwizzle(), panel = byte / width;
  return ((panel * getPanelRows() + row) * width + byte % width) ^ getRowFlip(row) * 16;
}

std::array<int64_t, 3> BufferType::getRowFlips() const {
  // Rows that share a line stand side by side without a flip: start(r) xor that place. A line that rows share
  // has their low bits in its high ones.
  int64_t width = getSwizzle();
  if (getElementBytes() > 2)
    return width == 128  ? std::array<int64_t, 3>{4, 2, 5}
           : width == 64 ? std::array<int64_t, 3>{0, 2, 5}
                         : std::array<int64_t, 3>{6, 6, 5};
  return width == 128  ? std::array<int64_t, 3>{1, 2, 4}
         : width == 64 ? std::array<int64_t, 3>{0, 1, 2}
                       : std::array<int64_t, 3>{0, 0, 1};
}

int64_t BufferType::getRowFlip(int64_t row) const {
  int64_t flip = 0;
  for (auto [bit, flips] : llvm::enumerate(getRowFlips()))
    if (row >> bit & 1)
      flip ^= flips;
  return flip;
}

BufferType BufferType::getPart(int64_t rows) const {
  SmallVector<Axis> axes(getAxes());
  axes.front() = Axis::get(getContext(), axes.front().getName(), rows);
  return get(getContext(), 1, axes, getElementType(), getSwizzle(), getSwizzle() ? getPanelRows() : 0);
}

BufferType BufferType::getSlot() const {
  return get(getContext(), 1, getAxes(), getElementType(), getSwizzle(), getPanel());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult SlotOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, ValueRange operands,
                                       DictionaryAttr, OpaqueProperties, RegionRange,
                                       SmallVectorImpl<Type> &types) {
  auto buffer = dyn_cast<BufferType>(operands.front().getType()); // read before operands are verified
  if (!buffer)
    return emitOptionalError(loc, "expected a slot of a buffer, but got ", operands.front().getType());
  types.push_back(buffer.getSlot());
  return success();
}

LogicalResult PartOp::verify() {
  BufferType whole = getBuffer().getType(), part = getType();
  ArrayRef<Axis> axes = whole.getAxes();
  int64_t from = getFrom(), size = part.getAxes().front().getSize();
  if (axes.size() > 2 || whole.getSlots() != 1 || from % 8 || size < 1)
    return emitOpError()
           << "expected part of one slot of a buffer with one or two axes, from a multiple of 8";
  if (from < 0 || from + size > axes.front().getSize())
    return emitOpError() << "expected rows within " << whole << ", but got " << size << " from " << from;
  if (part != whole.getPart(size))
    return emitOpError() << "expected " << whole.getPart(size) << ", but got " << part;
  return success();
}

TileType mlir::simt::tileOf(BufferType buffer) {
  return TileType::get(buffer.getContext(), buffer.getAxes(), buffer.getElementType());
}

LogicalResult mlir::simt::verifyOneSlot(Operation *op, BufferType buffer) {
  if (buffer.getSlots() == 1)
    return success();
  return op->emitOpError() << "expected one slot of a buffer, but got " << buffer;
}

LogicalResult mlir::simt::verifyLayout(Operation *op, TileType tile) {
  LayoutAttr layout = layoutOf(tile);
  if (!layout)
    return op->emitOpError() << "expected a tile with a layout, but got " << tile;
  std::string message = layout.check(tile);
  if (!message.empty())
    return op->emitOpError() << message << " in " << tile;
  return success();
}

static LogicalResult verifyTransfer(Operation *op, BufferType buffer, TileType tile) {
  if (failed(verifyOneSlot(op, buffer)) || failed(verifyLayout(op, tile)))
    return failure();
  if (tileOf(buffer) == tile.withLayout({}))
    return success();
  return op->emitOpError() << "expected the same axes and elements, but got " << buffer << " and " << tile;
}

LogicalResult ReadOp::verify() { return verifyTransfer(*this, getBuffer().getType(), getType()); }
LogicalResult WriteOp::verify() { return verifyTransfer(*this, getBuffer().getType(), getTile().getType()); }

LogicalResult RelayoutOp::verify() {
  TileType from = getInput().getType(), to = getType();
  if (failed(verifyLayout(*this, from)) || failed(verifyLayout(*this, to)))
    return failure();
  if (from.withLayout({}) != to.withLayout({}))
    return emitOpError() << "expected tiles that differ in their layout alone, but got " << from << " and "
                         << to;
  if (!isRenumbering(layoutOf(from), layoutOf(to), from))
    return emitOpError("requires a buffer: a thread needs elements that it does not hold");
  return success();
}

/// Axes that remain, and `warp` where warps hold different parts; null without a layout.
static TileType typeOfReduceWarp(TileType input, ArrayRef<AxisRef> over) {
  LayoutAttr layout = layoutOf(input);
  if (!layout)
    return {};
  MLIRContext *context = input.getContext();
  TileType rest = input.without(over);
  LayoutAttr projected = layout.project(rest.getAxes());
  SmallVector<Digit> warps(projected.getWarps());
  int64_t parts = 1;
  for (auto [digit, before] : llvm::zip(warps, layout.getWarps()))
    if (digit.isReplica() && !before.isReplica()) {
      digit = {StringAttr::get(context, kWarpAxis), parts, 2};
      parts *= 2;
    }
  SmallVector<Axis> axes(rest.getAxes());
  axes.push_back(Axis::get(context, kWarpAxis, parts));
  return TileType::get(context, axes, input.getElementType(),
                       LayoutAttr::get(context, projected.getLanes(), warps, projected.getRegisters()));
}

void ReduceWarpOp::build(OpBuilder &builder, OperationState &state, tile::ReductionKind kind, Value input,
                         ArrayRef<AxisRef> over) {
  build(builder, state, typeOfReduceWarp(cast<TileType>(input.getType()), over), kind, input,
        axesAttr(builder, over));
}

LogicalResult ReduceWarpOp::verify() {
  TileType input = getInput().getType();
  if (failed(verifyLayout(*this, input)))
    return failure();
  SmallVector<AxisRef> over;
  for (auto name : getOver().getAsRange<StringAttr>()) {
    if (!input.hasAxis(name))
      return emitOpError() << "expected axis '" << name.getValue() << "' in " << input;
    over.push_back(name.getValue());
  }
  TileType expected = typeOfReduceWarp(input, over);
  if (expected != getType())
    return emitOpError() << "expected result type " << expected << ", but got " << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

LogicalResult ExpandOp::verify() {
  BufferType input = getInput().getType();
  if (failed(verifyOneSlot(*this, input)) || failed(verifyLayout(*this, getType())))
    return failure();
  return tile::verifyPanel(*this, tileOf(input), getAxis(), getType().withLayout({}), getTo(), getFeatures(),
                           getWeights());
}

LogicalResult ContractOp::verify() {
  BufferType input = getInput().getType(), sums = getSums().getType();
  TileType cotangent = getCotangent().getType();
  for (BufferType buffer : {input, sums})
    if (failed(verifyOneSlot(*this, buffer)))
      return failure();
  if (failed(verifyLayout(*this, cotangent)) ||
      failed(tile::verifyPanel(*this, tileOf(input), getAxis(), cotangent.withLayout({}), getFrom(),
                               getFeatures(), getWeights())))
    return failure();
  if (input != sums)
    return emitOpError() << "expected sums that lie as the vectors do, in " << input << ", but got " << sums;
  if (input.getAxes().size() != 2)
    return emitOpError() << "expected one axis beside '" << getAxis() << "', but got " << input;
  return success();
}
