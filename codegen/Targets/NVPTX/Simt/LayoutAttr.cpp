// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts: text, checks, arithmetic of digits.
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::simt;
using tile::Axis;
using tile::TileType;

#define GET_ATTRDEF_CLASSES
#include "codegen/Targets/NVPTX/Simt/SimtAttrs.cpp.inc"

void SimtDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "codegen/Targets/NVPTX/Simt/SimtAttrs.cpp.inc"
      >();
}

bool mlir::simt::haveSamePlaces(LayoutAttr a, LayoutAttr b, StringRef but) {
  auto isSame = [&](const Digit &x, const Digit &y) {
    return x == y || ((x.isReplica() || x.isAlong(but)) && (y.isReplica() || y.isAlong(but)));
  };
  return a.getWarps().size() == b.getWarps().size() && llvm::all_of_zip(a.getLanes(), b.getLanes(), isSame) &&
         llvm::all_of_zip(a.getWarps(), b.getWarps(), isSame);
}

//===----------------------------------------------------------------------===//
// Text: lane = [u:2, _, t:1], register = [u:1*2, t:8*2]
//===----------------------------------------------------------------------===//

static ParseResult parseDigits(AsmParser &parser, StringRef keyword, bool withCount,
                               SmallVectorImpl<Digit> &digits) {
  if (parser.parseKeyword(keyword) || parser.parseEqual())
    return failure();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    StringRef name;
    Digit digit;
    if (parser.parseKeyword(&name))
      return failure();
    if (name != "_") {
      digit.axis = parser.getBuilder().getStringAttr(name);
      if (parser.parseColon() || parser.parseInteger(digit.stride))
        return failure();
    }
    if (withCount && (parser.parseStar() || parser.parseInteger(digit.count)))
      return failure();
    digits.push_back(digit);
    return success();
  });
}

static void printDigits(AsmPrinter &printer, ArrayRef<Digit> digits, bool withCount) {
  printer << "[";
  llvm::interleaveComma(digits, printer, [&](const Digit &digit) {
    if (digit.isReplica())
      printer << "_";
    else
      printer << digit.axis.getValue() << ":" << digit.stride;
    if (withCount)
      printer << "*" << digit.count;
  });
  printer << "]";
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Digit> lanes, warps, registers;
  if (parser.parseLess() || parseDigits(parser, "lane", false, lanes) || parser.parseComma() ||
      parseDigits(parser, "warp", false, warps) || parser.parseComma() ||
      parseDigits(parser, "register", true, registers) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), ArrayRef<Digit>(lanes),
                    ArrayRef<Digit>(warps), ArrayRef<Digit>(registers));
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<lane = ";
  printDigits(printer, getLanes(), false);
  printer << ", warp = ";
  printDigits(printer, getWarps(), false);
  printer << ", register = ";
  printDigits(printer, getRegisters(), true);
  printer << ">";
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<Digit> lanes,
                                 ArrayRef<Digit> warps, ArrayRef<Digit> registers) {
  if (lanes.size() != 5)
    return emitError() << "expected the five bits of a lane number, but got " << lanes.size();
  constexpr size_t kMostWarpBits = 5;
  if (warps.size() > kMostWarpBits)
    return emitError() << "expected at most " << kMostWarpBits << " bits of a warp number, but got "
                       << warps.size();
  for (ArrayRef<Digit> digits : {lanes, warps})
    for (const Digit &digit : digits)
      if (!digit.isReplica() && digit.stride < 1)
        return emitError() << "expected a positive stride of axis '" << digit.axis.getValue() << "', but got "
                           << digit.stride;
  // More than any machine shares; so products of all digits' numbers are numbers, too.
  constexpr int64_t kMostElements = 1 << 20;
  int64_t elements = 1;
  for (const Digit &digit : registers) {
    if (digit.isReplica() || digit.count < 1 || digit.stride < 1)
      return emitError() << "expected an axis, a positive stride and a positive count for each digit of a "
                            "register number";
    if (digit.count > kMostElements / elements)
      return emitError() << "expected at most " << kMostElements << " elements of a thread, but got more";
    elements *= digit.count;
  }
  for (ArrayRef<Digit> digits : {lanes, warps, registers})
    for (const Digit &digit : digits)
      if (digit.stride > kMostElements)
        return emitError() << "expected a stride of at most " << kMostElements << " of axis '"
                           << digit.axis.getValue() << "', but got " << digit.stride;
  return success();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

int64_t LayoutAttr::getNumRegisters() const {
  int64_t count = 1;
  for (const Digit &digit : getRegisters())
    count *= digit.count;
  return count;
}

int64_t LayoutAttr::getOffset(int64_t index, StringRef axis) const {
  int64_t offset = 0;
  for (const Digit &digit : getRegisters()) {
    if (digit.isAlong(axis))
      offset += index % digit.count * digit.stride;
    index /= digit.count;
  }
  return offset;
}

int64_t LayoutAttr::findRegister(LayoutAttr from, int64_t index, StringRef moved, int64_t offset) const {
  int64_t found =
      findRegister([&](StringRef axis) { return axis == moved ? offset : from.getOffset(index, axis); });
  return found >= 0 && !moved.empty() && getOffset(found, moved) != offset ? -1 : found;
}

int64_t LayoutAttr::findRegister(function_ref<int64_t(StringRef)> offsetOf) const {
  // Along each axis the offset is peeled off digit by digit, the largest stride first.
  SmallVector<std::pair<Digit, unsigned>> digits;
  for (auto [place, digit] : llvm::enumerate(getRegisters()))
    digits.push_back({digit, place});
  llvm::sort(digits, [](auto &a, auto &b) { return a.first.stride > b.first.stride; });
  llvm::StringMap<int64_t> left;
  SmallVector<int64_t> values(digits.size(), 0);
  for (auto &[digit, place] : digits) {
    StringRef axis = digit.axis.getValue();
    auto [entry, isNew] = left.try_emplace(axis, 0);
    if (isNew)
      entry->second = offsetOf(axis);
    values[place] = std::min(entry->second / digit.stride, digit.count - 1);
    entry->second -= values[place] * digit.stride;
  }
  if (llvm::any_of(left, [](auto &entry) { return entry.second != 0; }))
    return -1;
  int64_t found = 0, weight = 1;
  for (auto [value, digit] : llvm::zip(values, getRegisters())) {
    found += value * weight;
    weight *= digit.count;
  }
  return found;
}

static bool stepsAlong(ArrayRef<Digit> digits, StringRef axis) {
  return llvm::any_of(digits, [&](const Digit &digit) { return digit.isAlong(axis); });
}
bool LayoutAttr::isAcrossWarps(StringRef axis) const { return stepsAlong(getWarps(), axis); }
bool LayoutAttr::isAcrossLanes(StringRef axis) const { return stepsAlong(getLanes(), axis); }

LayoutAttr LayoutAttr::project(ArrayRef<Axis> axes) const {
  auto keeps = [&](const Digit &digit) {
    return llvm::any_of(axes, [&](const Axis &axis) { return digit.isAlong(axis.getName()); });
  };
  auto replicate = [&](ArrayRef<Digit> digits) {
    return llvm::map_to_vector(digits, [&](const Digit &digit) { return keeps(digit) ? digit : Digit(); });
  };
  SmallVector<Digit> registers;
  llvm::copy_if(getRegisters(), std::back_inserter(registers), keeps);
  return get(getContext(), replicate(getLanes()), replicate(getWarps()), registers);
}

std::string LayoutAttr::check(TileType tile) const {
  std::string message;
  llvm::raw_string_ostream stream(message);
  llvm::MapVector<StringAttr, SmallVector<Digit>> ofAxis;
  for (const Axis &axis : tile.getAxes())
    ofAxis[axis.name];
  for (const Digit &digit : llvm::concat<const Digit>(getLanes(), getWarps(), getRegisters())) {
    if (digit.isReplica())
      continue;
    if (!ofAxis.contains(digit.axis)) {
      stream << "expected digits of the tile's axes, but got one of '" << digit.axis.getValue() << "'";
      return message;
    }
    ofAxis[digit.axis].push_back(digit);
  }
  for (auto &[axis, digits] : ofAxis) {
    llvm::sort(digits, [](const Digit &a, const Digit &b) {
      return std::pair(a.stride, a.count) < std::pair(b.stride, b.count);
    });
    int64_t covered = 1;
    for (const Digit &digit : digits) {
      if (digit.count != 1 && digit.stride != covered) {
        stream << "expected a digit of stride " << covered << " along axis '" << axis.getValue()
               << "', but got " << digit.stride;
        return message;
      }
      covered *= digit.count;
    }
    if (covered != tile.getSize(axis)) {
      stream << "expected digits that cover " << tile.getSize(axis) << " elements along axis '"
             << axis.getValue() << "', but got " << covered;
      return message;
    }
  }
  return message;
}

bool mlir::simt::isRenumbering(LayoutAttr from, LayoutAttr to, TileType tile) {
  if (from.getWarps().size() != to.getWarps().size())
    return false;
  // Places of a thread's elements: a bit that steps along an axis must do so in both, unless the source holds
  // all copies of what the bit chooses, which it does where its registers or nothing cover that stride.
  auto held = [&](const Digit &need, const Digit &have) {
    if (have.isReplica())
      return need.isReplica() || llvm::any_of(from.getRegisters(), [&](const Digit &digit) {
               return digit.axis == need.axis && digit.stride <= need.stride &&
                      need.stride < digit.stride * digit.count;
             });
    return need == have;
  };
  return llvm::all_of(llvm::zip(to.getLanes(), from.getLanes()),
                      [&](auto pair) { return held(std::get<0>(pair), std::get<1>(pair)); }) &&
         llvm::all_of(llvm::zip(to.getWarps(), from.getWarps()),
                      [&](auto pair) { return held(std::get<0>(pair), std::get<1>(pair)); });
}
