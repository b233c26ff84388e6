// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Thread/BufferTiles.h"
#include "codegen/Targets/NVPTX/Thread/BufferAddress.h"
#include <numeric>

using namespace mlir;
using namespace mlir::simt;

/// Registers whose numbers are neighbours in the buffer and lie together in at most 16 aligned bytes.
static int64_t neighboursIn(BufferType buffer, LayoutAttr layout) {
  int64_t bytes = buffer.getElementBytes();
  int64_t divisor = std::gcd(leadingRegisters(layout, buffer.getRow().getName()), buffer.getRow().getSize());
  int64_t count = 1;
  while (2 * count * bytes <= 16 && divisor % (2 * count) == 0)
    count *= 2;
  return count;
}

/// The axes of a fragment of 16-bit numbers that ldmatrix can fill.
static std::optional<FragmentAxes> matrixAxes(BufferType buffer, LayoutAttr layout) {
  std::optional<FragmentAxes> axes = getFragmentAxes(layout);
  ArrayRef<Digit> registers = layout.getRegisters();
  if (!axes || !MatrixReader::canRead(buffer) || registers.empty() || !registers[0].isAlong(axes->columns) ||
      registers[0].stride != 1 || registers[0].count != 2)
    return std::nullopt;
  return axes;
}

void BufferTiles::emitRead(ReadOp op) {
  Code code = places.at(op);
  SharedSlot slot = slots.slotOf(op.getBuffer());
  LayoutAttr layout = layoutOf(op.getType());
  Type element = op.getType().getElementType();
  SmallVector<Value> values;
  if (std::optional<FragmentAxes> axes = matrixAxes(slot.type, layout)) {
    MatrixReader reader(places, op.getLoc(), slot, axes->rows, axes->columns, layout.getWarps());
    SmallVector<MatrixReader::Block> blocks;
    for (int64_t i = 0, e = layout.getNumRegisters(); i < e; i += 2)
      blocks.push_back({layout.getOffset(i, axes->rows), layout.getOffset(i, axes->columns)});
    tiles.setTile(op, elementsOfWords(code, reader.read(blocks), element));
    return;
  }
  BufferAddress address(places, op.getLoc(), slot,
                        [&](StringRef axis) { return places.placeOf(layout, axis); });
  int64_t together = neighboursIn(slot.type, layout);
  Words words = wordsOf(together, slot.type.getElementBytes());
  bool alone =
      leavesOddWords(leadingRegisters(layout, slot.type.getRow().getName()), slot.type.getElementBytes());
  for (int64_t i = 0, e = layout.getNumRegisters(); i < e; i += together) {
    Value pointer = address.at([&](StringRef axis) { return layout.getOffset(i, axis); });
    llvm::append_range(
        values,
        elementsOfWords(code, code.load(pointer, AddressSpace::shared, words, Value(), alone), element));
  }
  tiles.setTile(op, values);
}

void BufferTiles::emitWrite(WriteOp op) {
  Code code = places.at(op);
  SharedSlot slot = slots.slotOf(op.getBuffer());
  LayoutAttr layout = layoutOf(op.getTile().getType());
  BufferAddress address(places, op.getLoc(), slot,
                        [&](StringRef axis) { return places.placeOf(layout, axis); });
  int64_t together = neighboursIn(slot.type, layout);
  Words words = wordsOf(together, slot.type.getElementBytes());
  Value guard = places.isWriter(layout);
  ThreadRegisters registers = tiles.tileOf(op.getTile());
  for (int64_t i = 0, e = layout.getNumRegisters(); i < e; i += together) {
    SmallVector<Value> elements;
    for (int64_t k = 0; k < together; ++k)
      elements.push_back(tiles.element(registers, i + k, op.getLoc()));
    Value pointer = address.at([&](StringRef axis) { return layout.getOffset(i, axis); });
    code.store(wordsOfElements(code, elements, words), pointer, AddressSpace::shared, words, guard);
  }
}
