// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/TaylorDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace taylor;

#define GET_TYPEDEF_CLASSES
#include "dialect/Taylor/TaylorTypes.cpp.inc"

void TaylorDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/Taylor/TaylorTypes.cpp.inc"
      >();
}

int64_t ArrayType::find(AxisRef axis) const {
  for (auto [index, name] : llvm::enumerate(getAxes()))
    if (name.getValue() == axis)
      return index;
  return -1;
}

int64_t ArrayType::sizeOf(AxisRef axis) const {
  int64_t index = find(axis);
  return index < 0 ? kUnknown : getSizes()[index];
}

Type ArrayType::getScalarType() const {
  Type type = getElementType();
  if (isa<FloatType>(type) && !type.isF64())
    return Float32Type::get(getContext());
  return type;
}

ArrayType ArrayType::clone(Type elementType) const {
  return get(getContext(), getAxes(), getSizes(), elementType);
}

ArrayType ArrayType::without(ArrayRef<AxisRef> axes) const {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (auto [name, size] : llvm::zip(getAxes(), getSizes()))
    if (!llvm::is_contained(axes, name.getValue())) {
      names.push_back(name);
      sizes.push_back(size);
    }
  return get(getContext(), names, sizes, getElementType());
}

ArrayType ArrayType::renamed(AxisRef from, AxisRef to) const {
  SmallVector<StringAttr> names(getAxes());
  for (StringAttr &name : names)
    if (name.getValue() == from)
      name = StringAttr::get(getContext(), to);
  return get(getContext(), names, getSizes(), getElementType());
}

Type ArrayType::parse(AsmParser &parser) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  SMLoc start = parser.getCurrentLocation();
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    if (failed(parser.parseOptionalKeywordOrString(&name)))
      return parser.emitError(parser.getCurrentLocation(), "expected the name of an axis");
    int64_t size = kUnknown;
    if (succeeded(parser.parseOptionalEqual()) && parser.parseInteger(size))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    sizes.push_back(size);
    return success();
  };
  Type elementType = Float64Type::get(parser.getContext());
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis) ||
      (succeeded(parser.parseOptionalComma()) && parser.parseType(elementType)) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(start); }, parser.getContext(), names, sizes, elementType);
}

void ArrayType::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(llvm::zip(getAxes(), getSizes()), printer, [&](auto axis) {
    printer.printKeywordOrString(std::get<0>(axis).getValue());
    if (std::get<1>(axis) != kUnknown)
      printer << " = " << std::get<1>(axis);
  });
  printer << "]";
  if (!getElementType().isF64())
    printer << ", " << getElementType();
  printer << ">";
}

/// Of an axis: kernels count in 32 bits.
static constexpr int64_t kMostSize = std::numeric_limits<int32_t>::max();

LogicalResult ArrayType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<StringAttr> axes,
                                ArrayRef<int64_t> sizes, Type elementType) {
  llvm::SmallDenseSet<StringRef> seen;
  for (auto [name, size] : llvm::zip(axes, sizes)) {
    StringRef axis = name.getValue();
    if (!seen.insert(axis).second)
      return emitError() << "expected distinct axes, but got '" << axis << "' twice";
    if (size != kUnknown && size <= 0)
      return emitError() << "expected a positive size of axis '" << axis << "', but got " << size;
    if (size > kMostSize)
      return emitError() << "expected a size of axis '" << axis << "' of at most " << kMostSize
                         << ", but got " << size;
    if (isRuntimeAxis(axis) && size != kUnknown)
      return emitError() << "unsupported size of axis '" << axis
                         << "': the sizes of b, h, g, t, u and lag are known at run time only";
    if (!isRoleAxis(axis) && size == kUnknown)
      return emitError() << "requires a size of the free axis '" << axis << "' (write '" << axis
                         << " = 4'); axes without one are b, h, g, t, u, lag, d, e and f";
  }
  if (seen.contains(nameOf(AxisRole::Query)) && seen.contains(nameOf(AxisRole::Key)))
    return emitError() << "unsupported array with both t and u: no T x U buffer is ever materialised; use "
                          "taylor.align to move between key and query tokens";
  if (seen.contains(nameOf(AxisRole::Lag)) &&
      (seen.contains(nameOf(AxisRole::Query)) || seen.contains(nameOf(AxisRole::Key))))
    return emitError() << "unsupported array with lag and "
                       << (seen.contains(nameOf(AxisRole::Query)) ? nameOf(AxisRole::Query)
                                                                  : nameOf(AxisRole::Key))
                       << ": no T x U buffer is ever materialised; a lag belongs to a query and a key";
  if (seen.contains(nameOf(AxisRole::Head)) && seen.contains(nameOf(AxisRole::KeyHead)))
    return emitError() << "unsupported array with both h and g: a key/value head is read at h floordiv (H/G)";
  if (!elementType.isF64() && !elementType.isF32() && !elementType.isBF16() && !elementType.isF16() &&
      !elementType.isInteger(32))
    return emitError() << "expected element type f64, f32, bf16, f16 or i32, but got " << elementType;
  return success();
}
