// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Tile/Extents.h"
#include "dialect/Tile/TileDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tile;

#define GET_ATTRDEF_CLASSES
#include "dialect/Tile/TileAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/Tile/TileTypes.cpp.inc"

void TileDialect::registerTypes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Tile/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/Tile/TileTypes.cpp.inc"
      >();
}

double mlir::tile::identityOf(ReductionKind kind) {
  double infinity = std::numeric_limits<double>::infinity();
  return kind == ReductionKind::sum ? 0 : kind == ReductionKind::max ? -infinity : infinity;
}

void mlir::tile::sortByName(MutableArrayRef<Axis> axes) {
  llvm::sort(axes, [](const Axis &a, const Axis &b) { return a.getName() < b.getName(); });
}

//===----------------------------------------------------------------------===//
// ExtentAttr: `64`, `t`, `ceildiv(t, 64)`, `ceildiv(4, b * g)`
//===----------------------------------------------------------------------===//

ExtentAttr mlir::tile::parseExtent(AsmParser &parser) {
  MLIRContext *context = parser.getContext();
  SMLoc loc = parser.getCurrentLocation();
  auto diagnose = [&] { return parser.emitError(loc); };
  int64_t size = 0;
  OptionalParseResult isNumber = parser.parseOptionalInteger(size);
  if (isNumber.has_value())
    return failed(*isNumber) ? ExtentAttr()
                             : ExtentAttr::getChecked(diagnose, context, StringAttr::get(context, ""), size);
  StringRef role;
  if (parser.parseKeyword(&role))
    return {};
  if (role != "ceildiv")
    return ExtentAttr::getChecked(diagnose, context, StringAttr::get(context, role), int64_t(1));
  if (parser.parseLParen())
    return {};
  isNumber = parser.parseOptionalInteger(size);
  if (isNumber.has_value()) {
    SmallVector<AxisRef, 2> divisors;
    if (failed(*isNumber) || parser.parseComma())
      return {};
    do
      if (parser.parseKeyword(&divisors.emplace_back()))
        return {};
    while (divisors.size() < 2 && succeeded(parser.parseOptionalStar()));
    if (parser.parseRParen())
      return {};
    return ExtentAttr::getChecked(diagnose, context,
                                  StringAttr::get(context, ExtentAttr::getDivisorsText(divisors)), size);
  }
  if (parser.parseKeyword(&role) || parser.parseComma() || parser.parseInteger(size) || parser.parseRParen())
    return {};
  return ExtentAttr::getChecked(diagnose, context, StringAttr::get(context, role), size);
}

void mlir::tile::printExtent(llvm::raw_ostream &stream, ExtentAttr extent) {
  if (extent.isStatic())
    stream << extent.getSize();
  else if (extent.isParts())
    stream << "ceildiv(" << extent.getSize() << ", " << llvm::join(extent.getDivisors(), " * ") << ")";
  else if (extent.getSize() == 1)
    stream << extent.getRole().getValue();
  else
    stream << "ceildiv(" << extent.getRole().getValue() << ", " << extent.getSize() << ")";
}

Attribute ExtentAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  ExtentAttr extent = parseExtent(parser);
  if (!extent || parser.parseGreater())
    return {};
  return extent;
}

void ExtentAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printExtent(printer.getStream(), *this);
  printer << ">";
}

/// Beyond every memory; sums and small multiples of sizes fit 64 bits.
static constexpr int64_t kMostSize = int64_t(1) << 40;

LogicalResult ExtentAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr role,
                                 int64_t size) {
  SmallVector<StringRef, 2> roles;
  role.getValue().split(roles, '*', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef one : roles)
    if (!isRole(one))
      return emitError() << "expected one of the roles b, h, g, t, u, lag, but got '" << one << "'";
  if (size < 1)
    return emitError() << "expected a positive size, but got " << size;
  if (size > kMostSize)
    return emitError() << "expected a size of at most " << kMostSize << ", but got " << size;
  return success();
}

SmallVector<StringRef, 2> ExtentAttr::getDivisors() const {
  SmallVector<StringRef, 2> roles;
  getRole().getValue().split(roles, '*', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return roles;
}

std::string ExtentAttr::getDivisorsText(ArrayRef<AxisRef> roles) { return "*" + llvm::join(roles, "*"); }

int64_t ExtentAttr::evaluate(function_ref<int64_t(StringRef)> sizeOf) const {
  struct Sizes : Integers {
    function_ref<int64_t(StringRef)> sizeOf;
    int64_t size(AxisRef role) const { return sizeOf(role); }
  };
  return evaluateExtent(*this, Sizes{{}, sizeOf});
}

LogicalResult LongestAttr::verify(function_ref<InFlightDiagnostic()> emitError, End, StringAttr role,
                                  int64_t bytes) {
  if (bytes < 0 || (bytes == 0) != role.empty())
    return emitError() << "expected a role and its bytes, or neither, but got '" << role.getValue()
                       << "' and " << bytes;
  if (!role.empty() && !isRole(role))
    return emitError() << "expected one of the roles b, h, g, t, u, lag, but got '" << role.getValue() << "'";
  return success();
}

LogicalResult FeaturesAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t channels,
                                   int64_t first, int64_t last, int64_t block) {
  if (channels < 1)
    return emitError() << "expected a positive number of components, but got " << channels;
  if (first < 0 || last < first)
    return emitError() << "expected orders 0 <= first <= last, but got " << first << " to " << last;
  if (block < 1)
    return emitError() << "expected a positive block, but got " << block;
  std::optional<int64_t> count = taylor::Features{channels, first, last, block}.count();
  if (!count || *count > std::numeric_limits<int32_t>::max())
    return emitError() << "unsupported orders up to " << last << " of " << channels
                       << " components: they pass order 1000, or 2^31 - 1 monomials; use lower orders";
  return success();
}

//===----------------------------------------------------------------------===//
// Lists of axes
//===----------------------------------------------------------------------===//

static ParseResult parseAxes(AsmParser &parser, SmallVectorImpl<Axis> &axes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    StringAttr nameAttr = parser.getBuilder().getStringAttr(name);
    if (succeeded(parser.parseOptionalEqual())) {
      ExtentAttr extent = parseExtent(parser);
      axes.push_back({nameAttr, extent});
      return success(bool(extent));
    }
    auto diagnose = [&] {
      return parser.emitError(loc) << "axis '" << name << "' requires a size, as in `" << name << " = 64`: ";
    };
    if (!isRole(name))
      return diagnose() << "it is no role";
    axes.push_back({nameAttr, ExtentAttr::get(nameAttr)});
    return success();
  });
}

static void printAxes(AsmPrinter &printer, ArrayRef<Axis> axes) {
  printer << "[";
  llvm::interleaveComma(axes, printer, [&](const Axis &axis) {
    printer << axis.getName();
    if (axis.extent.getRole() == axis.name && axis.getSize() == 1)
      return;
    printer << " = ";
    printExtent(printer.getStream(), axis.extent);
  });
  printer << "]";
}

static ParseResult parseAxesAndElement(AsmParser &parser, SmallVectorImpl<Axis> &axes, Type &elementType) {
  return failure(parser.parseLess() || parseAxes(parser, axes) || parser.parseComma() ||
                 parser.parseType(elementType));
}

static LogicalResult verifyAxes(function_ref<InFlightDiagnostic()> emitError, ArrayRef<Axis> axes) {
  llvm::SmallDenseSet<StringAttr> seen;
  for (const Axis &axis : axes)
    if (!seen.insert(axis.name).second)
      return emitError() << "expected distinct axes, but got '" << axis.getName() << "' twice";
  return success();
}

//===----------------------------------------------------------------------===//
// TileType
//===----------------------------------------------------------------------===//

Type TileType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Axis> axes;
  Type elementType;
  Attribute layout;
  if (parseAxesAndElement(parser, axes, elementType) ||
      (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout)) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), ArrayRef<Axis>(axes),
                    elementType, layout);
}

void TileType::print(AsmPrinter &printer) const {
  printer << "<";
  printAxes(printer, getAxes());
  printer << ", " << getElementType();
  if (getLayout())
    printer << ", " << getLayout();
  printer << ">";
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<Axis> axes,
                               Type elementType, Attribute) {
  if (failed(verifyAxes(emitError, axes)))
    return failure();
  for (const Axis &axis : axes)
    if (!axis.extent.isStatic())
      return emitError() << "expected a constant size for axis '" << axis.getName() << "' of a tile";
  if (!elementType.isF32() && !elementType.isF64() && !elementType.isBF16() && !elementType.isF16() &&
      !elementType.isInteger(32) && !elementType.isInteger(1) && !elementType.isIndex())
    return emitError() << "expected elements of f32, f64, bf16, f16, i32, i1 or index, but got "
                       << elementType;
  return success();
}

int64_t TileType::getSize(AxisRef name) const {
  for (const Axis &axis : getAxes())
    if (axis.getName() == name)
      return axis.getSize();
  return 0;
}

int64_t TileType::getNumElements() const {
  int64_t count = 1;
  for (const Axis &axis : getAxes())
    count *= axis.getSize();
  return count;
}

TileType TileType::withElement(Type elementType) const {
  return get(getContext(), getAxes(), elementType, getLayout());
}

TileType TileType::withLayout(Attribute layout) const {
  return get(getContext(), getAxes(), getElementType(), layout);
}

TileType TileType::without(ArrayRef<AxisRef> names) const {
  SmallVector<Axis> axes;
  llvm::copy_if(getAxes(), std::back_inserter(axes),
                [&](const Axis &axis) { return !llvm::is_contained(names, axis.getName()); });
  return get(getContext(), axes, getElementType());
}

//===----------------------------------------------------------------------===//
// ArrayType
//===----------------------------------------------------------------------===//

Type mlir::tile::ArrayType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Axis> axes;
  Type elementType;
  if (parseAxesAndElement(parser, axes, elementType) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), ArrayRef<Axis>(axes),
                    elementType);
}

void mlir::tile::ArrayType::print(AsmPrinter &printer) const {
  printer << "<";
  printAxes(printer, getAxes());
  printer << ", " << getElementType() << ">";
}

LogicalResult mlir::tile::ArrayType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<Axis> axes,
                                            Type elementType) {
  if (failed(verifyAxes(emitError, axes)))
    return failure();
  if (!elementType.isF32() && !elementType.isF64() && !elementType.isBF16() && !elementType.isF16() &&
      !elementType.isInteger(32))
    return emitError() << "expected elements of f32, f64, bf16, f16 or i32, but got " << elementType;
  return success();
}

int64_t mlir::tile::ArrayType::find(AxisRef name) const {
  for (auto [i, axis] : llvm::enumerate(getAxes()))
    if (axis.getName() == name)
      return i;
  return -1;
}
