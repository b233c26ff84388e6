// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Thread/BufferAddress.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::simt;
using tile::Axis;

/// a + factor * b, for the places of two axes.
static ThreadOffset sum(Code code, ThreadOffset a, ThreadOffset b, int64_t factor) {
  ThreadOffset result;
  result.value = code.add(a.value, code.mul(b.value, factor));
  result.divisor = std::gcd(a.divisor, b.divisor * factor);
  bool known = a.bits >= 0 && b.bits >= 0 && llvm::isPowerOf2_64(factor) && (a.bits & b.bits * factor) == 0;
  result.bits = known ? a.bits | b.bits * factor : -1;
  return result;
}

BufferAddress::BufferAddress(ThreadPlaces &places, Location loc, SharedSlot slot,
                             llvm::function_ref<ThreadOffset(StringRef)> placeOf)
    : places(places), loc(loc), slot(slot) {
  ArrayRef<Axis> axes = slot.type.getAxes();
  column = placeOf(axes.back().getName());
  places.atStart([&] {
    Code code = places.at(loc);
    row = {code.i32(0), 0, 0};
    int64_t factor = 1;
    for (const Axis &axis : llvm::reverse(axes.drop_back())) {
      row = sum(code, row, placeOf(axis.getName()), factor);
      factor *= axis.getSize();
    }
  });
}

/// Bits below `limit` (a power of two) that the place may have set.
static int64_t lowBits(const ThreadOffset &place, int64_t limit) {
  if (place.bits >= 0)
    return place.bits & (limit - 1);
  return place.divisor % limit == 0 ? 0 : limit - 1;
}

Value BufferAddress::at(llvm::function_ref<int64_t(StringRef)> offsetOf) {
  BufferType type = slot.type;
  ArrayRef<Axis> axes = type.getAxes();
  int64_t rows = 0, factor = 1, columns = offsetOf(axes.back().getName());
  for (const Axis &axis : llvm::reverse(axes.drop_back())) {
    rows += offsetOf(axis.getName()) * factor;
    factor *= axis.getSize();
  }
  Code code = places.at(loc);
  int64_t constant = 0;
  Value pointer;
  if (type.getSwizzle()) {
    pointer = swizzled(rows, columns, constant);
  } else {
    constant = (rows * type.getRow().getSize() + columns) * type.getElementBytes();
    pointer = ownPart(0);
  }
  APInt place;
  if (matchPattern(slot.bytes, m_ConstantInt(&place)))
    return code.offset(pointer, constant + place.getSExtValue());
  return code.offset(code.offset(pointer, slot.bytes), constant);
}

// The number of a chunk of 16 bytes in its line of 128 is flipped by bits of its row's number. Where the
// thread's part and the constant part of a place have no bit in common, their sum is their xor, and the
// constant flips bits of the thread's own chunk. Bits that no row flips are added.
Value BufferAddress::swizzled(int64_t rows, int64_t columns, int64_t &constant) {
  BufferType type = slot.type;
  int64_t width = type.getSwizzle(), bytes = type.getElementBytes(), panel = width / bytes;
  constexpr int64_t rowsOfPattern = 8;
  if ((lowBits(row, rowsOfPattern) & rows) || (lowBits(column, panel) & columns))
    return general(rows, columns);
  int64_t reach = width / 16 - 1;
  for (int64_t flips : type.getRowFlips())
    reach |= flips;
  int64_t inPanel = rows * width + columns % panel * bytes, chunk = inPanel / 16 & reach;
  constant = columns / panel * type.getPanelRows() * width + inPanel - chunk * 16;
  return ownPart(chunk ^ type.getRowFlip(rows));
}

Value BufferAddress::general(int64_t rows, int64_t columns) {
  Code code = places.at(loc);
  return places.atStart([&] {
    ThreadOffset movedRow{code.add(row.value, rows), -1, 1},
        movedColumn{code.add(column.value, columns), -1, 1};
    BufferAddress moved(*this);
    moved.own.clear();
    moved.row = movedRow;
    moved.column = movedColumn;
    return moved.ownPart(0);
  });
}

/// Bytes that a row flips in a place: each bit of its number, shifted to each bit that it flips.
static Value rowFlip(Code code, BufferType type, Value row) {
  constexpr int64_t bitsOfChunk = 3;
  std::map<int64_t, int64_t> rowBits; // by how far they are shifted to the left
  for (auto [bit, flips] : llvm::enumerate(type.getRowFlips()))
    for (int64_t to = 0; to < bitsOfChunk; ++to)
      if (flips >> to & 1)
        rowBits[to + 4 - int64_t(bit)] |= int64_t(1) << bit;
  Value flip = code.i32(0);
  for (auto [distance, bits] : rowBits)
    flip = code.bitXor(flip, code.shiftLeft(code.bitAnd(row, code.i32(bits)), distance));
  return flip;
}

Value mlir::simt::placeInSlot(Code code, BufferType type, Value row, Value column, int64_t flip) {
  int64_t width = type.getSwizzle(), bytes = type.getElementBytes();
  if (!width) {
    int64_t rowBytes = type.getRow().getSize() * bytes;
    return code.add(code.mul(row, rowBytes), code.mul(column, bytes));
  }
  int64_t panel = width / bytes;
  Value byte = code.mul(code.bitAnd(column, code.i32(panel - 1)), bytes);
  byte = code.bitXor(byte, code.bitXor(rowFlip(code, type, row), code.i32(flip * 16)));
  Value place = code.bitXor(code.mul(row, width), byte);
  Value panels = code.shiftRight(column, llvm::Log2_64(panel));
  return code.add(place, code.mul(panels, type.getPanelRows() * width));
}

Value BufferAddress::ownPart(int64_t flip) {
  Value &known = own[flip];
  if (known)
    return known;
  return known = places.atStart([&] {
    Code code = places.at(loc);
    return code.offset(places.sharedBase(), placeInSlot(code, slot.type, row.value, column.value, flip));
  });
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

bool MatrixReader::canRead(BufferType buffer) {
  int64_t rowBytes = buffer.getRow().getSize() * buffer.getElementBytes();
  return buffer.getAxes().size() == 2 && buffer.getElementBytes() == 2 && rowBytes % 16 == 0;
}

BufferAddress &MatrixReader::addressOf(ArrayRef<Digit> steps) {
  for (auto &[known, address] : addresses)
    if (ArrayRef<Digit>(known) == steps)
      return *address;
  // Lanes 8 m to 8 m + 7 give the addresses of the rows of block m.
  StringAttr rows = slot.type.getAxes().front().name;
  SmallVector<Digit> lanes;
  for (int64_t bit = 0; bit < 3; ++bit)
    lanes.push_back({rows, int64_t(1) << bit, 2});
  llvm::append_range(lanes, steps);
  lanes.resize(5);
  auto placeOf = [&](StringRef axis) { return places.placeOf(lanes, warps, axis); };
  addresses.push_back({llvm::to_vector(steps), std::make_unique<BufferAddress>(places, loc, slot, placeOf)});
  return *addresses.back().second;
}

SmallVector<Value> MatrixReader::read(ArrayRef<Block> blocks) {
  MLIRContext *context = places.builder.getContext();
  bool isTransposed = across != slot.type.getRow().getName();
  // The step from block a to block b, along one axis.
  auto stepTo = [&](const Block &a, const Block &b) -> std::optional<Digit> {
    int64_t alongDown = b.down - a.down, alongAcross = b.across - a.across;
    if (alongDown > 0 && alongAcross == 0)
      return Digit{StringAttr::get(context, down), alongDown, 2};
    if (alongAcross > 0 && alongDown == 0)
      return Digit{StringAttr::get(context, across), alongAcross, 2};
    return std::nullopt;
  };
  SmallVector<Value> words;
  while (!blocks.empty()) {
    SmallVector<Digit> steps;
    if (blocks.size() >= 2)
      if (std::optional<Digit> first = stepTo(blocks[0], blocks[1])) {
        steps.push_back(*first);
        if (blocks.size() >= 4)
          if (std::optional<Digit> second = stepTo(blocks[0], blocks[2]);
              second && stepTo(blocks[2], blocks[3]) == first)
            steps.push_back(*second);
      }
    unsigned count = 1u << steps.size();
    Value pointer = addressOf(steps).at([&](StringRef axis) {
      return axis == down ? blocks[0].down : axis == across ? blocks[0].across : 0;
    });
    OpBuilder &builder = places.builder;
    Type word = builder.getI32Type();
    Type type = count == 1 ? word : LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(count, word));
    auto shape = NVVM::LdStMatrixShapeAttr::get(context, 8, 8);
    Value loaded = NVVM::LdMatrixOp::create(builder, loc, type, pointer, count,
                                            isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape,
                                            NVVM::LdStMatrixEltType::B16);
    for (unsigned i = 0; i < count; ++i)
      words.push_back(count == 1 ? loaded : LLVM::ExtractValueOp::create(builder, loc, loaded, i));
    blocks = blocks.drop_front(count);
  }
  return words;
}
