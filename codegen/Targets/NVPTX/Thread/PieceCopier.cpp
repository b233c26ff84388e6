// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Thread/PieceCopier.h"
#include "codegen/Targets/NVPTX/ScalarFacts.h"
#include "codegen/Targets/NVPTX/Thread/BufferAddress.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::simt;
using tile::Axis;
using tile::TileType;

namespace {

/// How the block's threads share a slot: neighbouring threads take neighbouring pieces of a row.
struct Pieces {
  int64_t elements;          ///< of one piece
  int64_t threadsPerRow;     ///< a power of two
  int64_t rowsAtOnce;        ///< threads / threadsPerRow
  SmallVector<Digit> digits; ///< of the thread's number
};

} // namespace

static Pieces sharePieces(BufferType buffer, int64_t elements, int64_t threads) {
  int64_t perRow = buffer.getRow().getSize() / elements;
  Pieces pieces{elements, std::min(threads, perRow & -perRow), 0, {}};
  pieces.rowsAtOnce = threads / pieces.threadsPerRow;
  ArrayRef<Axis> axes = buffer.getAxes();
  for (int64_t step = 1; step < pieces.threadsPerRow; step *= 2)
    pieces.digits.push_back({axes.back().name, step * elements, 2});
  StringAttr rows = axes.size() > 1 ? axes[axes.size() - 2].name : StringAttr();
  for (int64_t step = 1; step < pieces.rowsAtOnce; step *= 2)
    pieces.digits.push_back({rows, step, 2});
  return pieces;
}

/// One piece: `guard` (null: true) says whether the source is in the array; else zeros are written.
static void copyPiece(Code code, Value to, Value from, unsigned bytes, unsigned elementBytes, Value guard) {
  OpBuilder &b = code.builder;
  if (bytes < 4) {
    Words words = wordsOf(1, elementBytes);
    code.store(code.load(from, AddressSpace::global, words, guard), to, AddressSpace::shared, words, Value());
    return;
  }
  Value size = guard ? code.select(guard, code.i32(bytes), code.i32(0)) : Value();
  auto cache = bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(b, code.loc, to, from, bytes, cache, size);
}

/// Elements of a piece: as many as are neighbours, aligned, in both memories.
static int64_t pieceElements(const ArrayValues &values, tile::ArrayType array, BufferType buffer,
                             ArrayRef<tile::WindowAxis> window) {
  int64_t bytes = buffer.getElementBytes();
  const tile::WindowAxis &last = window.back();
  if (!values.isContiguous || !array.getAxes().back().extent.isStatic() ||
      last.tileAxis != buffer.getRow().getName())
    return 1;
  int64_t divisor = std::gcd(array.getAxes().back().getSize(), buffer.getRow().getSize());
  divisor = std::gcd(divisor, divisorOf(last.offset));
  int64_t count = 1;
  while (2 * count * bytes <= 16 && divisor % (2 * count) == 0 && values.alignment % (2 * count * bytes) == 0)
    count *= 2;
  return count;
}

void PieceCopier::emitCopy(CopyOp op) {
  OpBuilder &builder = places.builder;
  if (!op.getCondition())
    return emitPieces(op);
  auto branch =
      scf::IfOp::create(builder, op.getLoc(), places.scalar(op.getCondition()), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  return emitPieces(op);
}

void PieceCopier::emitPieces(CopyOp op) {
  OpBuilder &builder = places.builder;
  Code code = places.at(op);
  Value array = op.getArray();
  SharedSlot slot = slots.slotOf(op.getBuffer());
  BufferType buffer = slot.type;
  TileType tile = TileType::get(builder.getContext(), buffer.getAxes(), buffer.getElementType());
  windows.awaitOthers(array, op.getLoc());
  auto axesOfWindow =
      tile::getWindow(op.getArray().getType(), tile, op.getArrayAxes(), op.getTileAxes(), op.getOffsets());
  int64_t elements = pieceElements(windows.valuesOf(array), op.getArray().getType(), buffer, axesOfWindow);
  Pieces pieces = sharePieces(buffer, elements, 32 * places.numWarps());
  auto ownPlace = [&](StringRef axis) { return places.placeOf(pieces.digits, {}, axis); };
  WindowAccess window = windows.openWindow(array, tile, op.getArrayAxes(), op.getTileAxes(), op.getOffsets(),
                                           ownPlace, op.getEnd(), op.getEndAxisAttr());
  BufferAddress address(places, op.getLoc(), slot, ownPlace);
  ArrayRef<Axis> axes = buffer.getAxes();
  StringRef columns = axes.back().getName(), rows = axes.size() > 1 ? axes[axes.size() - 2].getName() : "";
  int64_t numRows = rows.empty() ? 1 : buffer.getSize(rows), numColumns = buffer.getRow().getSize();
  Value row =
      places.atStart([&] { return code.shiftRight(places.thread(), llvm::Log2_64(pieces.threadsPerRow)); });
  // Rows beyond the slot belong to no thread.
  auto copyRows = [&](const WindowAccess &window, BufferAddress &address, int64_t outer, int64_t first) {
    OpBuilder::InsertionGuard guard(builder);
    if (first + pieces.rowsAtOnce > numRows) {
      Value isRow = code.less(row, code.i32(numRows - first));
      auto branch = scf::IfOp::create(builder, op.getLoc(), isRow, /*withElseRegion=*/false);
      builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    for (int64_t column = 0; column < numColumns; column += pieces.threadsPerRow * elements) {
      auto offsetOf = [&](StringRef axis) -> int64_t {
        if (axis == columns)
          return column;
        if (axis == rows)
          return first;
        int64_t rest = outer; // along the other axes, the last of them fastest
        for (const Axis &other : llvm::reverse(axes.drop_back(2))) {
          if (other.getName() == axis)
            return rest % other.getSize();
          rest /= other.getSize();
        }
        return 0;
      };
      copyPiece(code, address.at(offsetOf), windows.pointerAt(window, offsetOf),
                elements * buffer.getElementBytes(), buffer.getElementBytes(),
                windows.guardAt(window, offsetOf));
    }
  };
  // One warp copies a use of a ring: a few rows in each turn of a loop, since it has few registers.
  int64_t strip = std::max<int64_t>(pieces.rowsAtOnce, 8);
  if (op.getRing() && axes.size() == 2 && numRows > strip && numRows % strip == 0) {
    auto loop = scf::ForOp::create(builder, op.getLoc(), code.i64(0), code.i64(numRows), code.i64(strip));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    Value from = loop.getInductionVar();
    for (WindowAccess::AccessAxis &axis : window.axes)
      if (axis.tileAxis == rows) {
        Value elements = axis.stride ? code.mul(from, axis.stride) : from;
        window.pointer = code.offset(window.pointer, code.mul(elements, window.elementBytes));
        if (axis.size)
          axis.first = code.add(axis.first, code.narrow(from));
      }
    int64_t rowBytes = buffer.getSwizzle() ? buffer.getSwizzle() : numColumns * buffer.getElementBytes();
    BufferAddress part(places, op.getLoc(),
                       {buffer.getPart(strip), code.add(slot.bytes, code.mul(code.narrow(from), rowBytes))},
                       ownPlace);
    for (int64_t first = 0; first < strip; first += pieces.rowsAtOnce)
      copyRows(window, part, 0, first);
    return;
  }
  for (int64_t outer = 0, e = buffer.getNumRows() / numRows; outer < e; ++outer)
    for (int64_t first = 0; first < numRows; first += pieces.rowsAtOnce)
      copyRows(window, address, outer, first);
}
