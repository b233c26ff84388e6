// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Thread/ProductEmitter.h"

using namespace mlir;
using namespace mlir::simt;
using tile::TileType;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Accumulator::Accumulator(LayoutAttr layout) : layout(layout), axes(*getFragmentAxes(layout)) {
  hasUpper = llvm::any_of(layout.getRegisters(), [&](const Digit &digit) {
    return digit.isAlong(axes.rows) && digit.stride <= 8 && 8 < digit.stride * digit.count;
  });
  for (int64_t i = 0, e = layout.getNumRegisters(); i < e; ++i) {
    int64_t row = layout.getOffset(i, axes.rows), column = layout.getOffset(i, axes.columns);
    if (column % 2 == 0 && (!hasUpper || row % 16 == 0)) {
      rows.insert(row);
      columns.insert(column);
    }
  }
}

int64_t Accumulator::at(int64_t row, int64_t column) const {
  return layout.findRegister([&](StringRef axis) { return axis == axes.rows ? row : column; });
}

std::array<int64_t, 4> Accumulator::block(int64_t row, int64_t column) const {
  int64_t low = at(row, column), next = at(row, column + 1);
  if (!hasUpper)
    return {low, next, -1, -1};
  return {low, next, at(row + 8, column), at(row + 8, column + 1)};
}

//===----------------------------------------------------------------------===//
// Any product
//===----------------------------------------------------------------------===//

ProductEmitter::ProductEmitter(ThreadPlaces &places, ThreadTiles &tiles, SharedSlots &slots, DotOp op)
    : places(places), tiles(tiles), slots(slots), op(op), code(places.at(op)), sum(layoutOf(op.getType())),
      over(cast<StringAttr>(op.getOver()[0]).getValue()), element(op.getType().getElementType()) {
  a.value = op.getA();
  a.own = sum.axes.rows;
  b.value = op.getB();
  b.own = sum.axes.columns;
}

LogicalResult ProductEmitter::check(int64_t step) {
  auto sizeOver = [&](Type type) {
    auto buffer = dyn_cast<BufferType>(type);
    return buffer ? buffer.getSize(over) : cast<TileType>(type).getSize(over);
  };
  size = sizeOver(a.value.getType());
  if (size != sizeOver(b.value.getType()))
    return op.emitOpError() << "expected operands of one size along '" << over << "', but got "
                            << a.value.getType() << " and " << b.value.getType();
  if (size % step)
    return op.emitOpError() << "requires a multiple of " << step << " elements along '" << over
                            << "', but got " << size;
  if (!element.isF32() && !(element.isF64() && op.getKind() == ProductKind::fma))
    return op.emitOpError() << "unsupported sums of " << element << "; expected f32, or f64 with fma";
  ArrayRef<Digit> registers = sum.layout.getRegisters();
  if (registers.empty() || !registers[0].isAlong(sum.axes.columns) || registers[0].stride != 1 ||
      registers[0].count != 2)
    return op.emitOpError() << "expected two neighbouring columns in the first registers, but got "
                            << op.getType();
  return success();
}

LogicalResult ProductEmitter::open(Operand &operand) {
  LayoutAttr layout = sum.layout;
  if (operand.isTile()) {
    std::optional<FragmentAxes> axes = getFragmentAxes(layoutOf(operand.value.getType()));
    if (axes && axes->rows == operand.own && axes->columns == over)
      return success();
    return op.emitOpError() << "expected an operand with '" << over << "' in lanes 0 and 1 and '"
                            << operand.own << "' in lanes 2 to 4, but got " << operand.value.getType();
  }
  SharedSlot slot = slots.slotOf(operand.value);
  MLIRContext *context = op.getContext();
  StringAttr own = StringAttr::get(context, operand.own), summed = StringAttr::get(context, over);
  if (op.getKind() == ProductKind::mma16) {
    if (!MatrixReader::canRead(slot.type))
      return op.emitOpError() << "requires rows of a multiple of 16 bytes, but got " << slot.type;
    operand.matrices =
        std::make_unique<MatrixReader>(places, op.getLoc(), slot, operand.own, over, layout.getWarps());
    return success();
  }
  SmallVector<Digit> lanes(layout.getLanes());
  if (op.getKind() == ProductKind::tf32)
    lanes = {{summed, 2, 2}, {summed, 4, 2}, {own, 1, 2}, {own, 2, 2}, {own, 4, 2}};
  operand.address = std::make_unique<BufferAddress>(places, op.getLoc(), slot, [&](StringRef axis) {
    return places.placeOf(lanes, layout.getWarps(), axis);
  });
  return success();
}

LogicalResult ProductEmitter::emit() {
  if (op.getKind() == ProductKind::wgmma)
    return op.emitOpError("expected a simt.start; run taylor-simt-start-products before");
  int64_t step = op.getKind() == ProductKind::mma16 ? 16 : op.getKind() == ProductKind::tf32 ? 8 : 1;
  if (failed(check(std::min<int64_t>(step, 8))) || failed(open(a)) || failed(open(b)))
    return failure();
  if (op.getC())
    sum.values = tiles.tileOf(op.getC()).parts;
  else
    sum.values.assign(sum.layout.getNumRegisters(), code.zero(element));
  if (op.getKind() == ProductKind::fma)
    emitScalars();
  else
    emitMatrices(step);
  tiles.setTile(op, sum.values);
  return success();
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

void ProductEmitter::emitMatrices(int64_t step) {
  for (int64_t k = 0; k < size; k += step) {
    depth = std::min(step, size - k);
    SmallVector<SmallVector<Value>> rows;
    for (int64_t row : sum.rows)
      rows.push_back(readRows(a, row, k));
    // Two blocks of columns are one ldmatrix.
    ArrayRef<int64_t> columns = sum.columns.getArrayRef();
    while (!columns.empty()) {
      ArrayRef<int64_t> some = columns.take_front(2);
      SmallVector<Value> read = readColumns(b, some, k);
      size_t words = read.size() / some.size();
      for (auto [i, column] : llvm::enumerate(some))
        for (auto [row, left] : llvm::zip(sum.rows, rows))
          multiply(left, ArrayRef<Value>(read).slice(words * i, words), row, column);
      columns = columns.drop_front(some.size());
    }
  }
}

SmallVector<Value> ProductEmitter::readRows(Operand &operand, int64_t row, int64_t k) {
  Value none = code.i32(0);
  if (op.getKind() == ProductKind::tf32) {
    SmallVector<Value> low = readTF32(operand, row, k);
    SmallVector<Value> high = sum.hasUpper ? readTF32(operand, row + 8, k) : SmallVector<Value>{none, none};
    return {low[0], high[0], low[1], high[1]};
  }
  SmallVector<MatrixReader::Block> blocks;
  for (int64_t along = k; along < k + depth; along += 8) {
    blocks.push_back({row, along});
    if (sum.hasUpper)
      blocks.push_back({row + 8, along});
  }
  SmallVector<Value> words = readHalves(operand, blocks);
  if (!sum.hasUpper) // rows 8 to 15, which the instruction has and the sum has not
    for (size_t place = 1; place <= words.size(); place += 2)
      words.insert(words.begin() + place, none);
  return words;
}

SmallVector<Value> ProductEmitter::readColumns(Operand &operand, ArrayRef<int64_t> columns, int64_t k) {
  SmallVector<Value> words;
  if (op.getKind() == ProductKind::tf32) {
    for (int64_t column : columns)
      llvm::append_range(words, readTF32(operand, column, k));
    return words;
  }
  SmallVector<MatrixReader::Block> blocks;
  for (int64_t column : columns)
    for (int64_t along = k; along < k + depth; along += 8)
      blocks.push_back({column, along});
  return readHalves(operand, blocks);
}

SmallVector<Value> ProductEmitter::readHalves(Operand &operand, ArrayRef<MatrixReader::Block> blocks) {
  if (!operand.isTile())
    return operand.matrices->read(blocks);
  LayoutAttr layout = layoutOf(operand.value.getType());
  ThreadRegisters registers = tiles.tileOf(operand.value);
  SmallVector<Value> words;
  for (const MatrixReader::Block &block : blocks) {
    int64_t place =
        layout.findRegister([&](StringRef axis) { return axis == over ? block.across : block.down; });
    words.push_back(code.bitcast(registers.parts[place / 2], code.builder.getI32Type()));
  }
  return words;
}

// The k of the instruction, c and c + 4 in lane c, are places 2 c and 2 c + 1 of the tile: the order of
// products in a sum is free as long as both operands have the same one, and so accumulators are operands here
// too.
SmallVector<Value> ProductEmitter::readTF32(Operand &operand, int64_t own, int64_t k) {
  SmallVector<Value> numbers;
  auto offsetOf = [&](int64_t along) {
    return [this, along, own](StringRef axis) { return axis == over ? along : own; };
  };
  if (operand.isTile()) {
    LayoutAttr layout = layoutOf(operand.value.getType());
    for (int64_t along : {k, k + 1})
      numbers.push_back(tiles.tileOf(operand.value).parts[layout.findRegister(offsetOf(along))]);
  } else if (operand.buffer().getRow().getName() == over) {
    numbers = code.load(operand.address->at(offsetOf(k)), AddressSpace::shared, {32, 2}, Value());
  } else {
    for (int64_t along : {k, k + 1})
      llvm::append_range(
          numbers, code.load(operand.address->at(offsetOf(along)), AddressSpace::shared, {32, 1}, Value()));
  }
  for (Value &number : numbers)
    number = NVVM::ConvertFloatToTF32Op::create(code.builder, code.loc, code.builder.getI32Type(),
                                                code.bitcast(number, code.builder.getF32Type()),
                                                NVVM::FPRoundingMode::RNA);
  return numbers;
}

void ProductEmitter::multiply(ArrayRef<Value> rows, ArrayRef<Value> columns, int64_t row, int64_t column) {
  OpBuilder &builder = code.builder;
  Type f32 = builder.getF32Type();
  std::array<int64_t, 4> places = sum.block(row, column);
  SmallVector<Value> sums;
  for (int64_t place : places)
    sums.push_back(place < 0 ? code.zero(f32) : sum.values[place]);
  bool isTF32 = op.getKind() == ProductKind::tf32;
  auto operandElement = [](Type type) {
    auto buffer = dyn_cast<BufferType>(type);
    return buffer ? buffer.getElementType() : cast<TileType>(type).getElementType();
  };
  bool isF16 = operandElement(a.value.getType()).isF16();
  auto type = isTF32 ? NVVM::MMATypes::tf32 : isF16 ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
  auto typed = [&](ArrayRef<Value> words) {
    Type word = isF16 ? Type(VectorType::get(2, builder.getF16Type())) : builder.getI32Type();
    return llvm::map_to_vector(words, [&](Value value) { return code.bitcast(value, word); });
  };
  Type result = LLVM::LLVMStructType::getLiteral(builder.getContext(), {f32, f32, f32, f32});
  int64_t shape[] = {16, 8, depth};
  Value product =
      NVVM::MmaOp::create(builder, code.loc, result, typed(rows), typed(columns), sums, shape, std::nullopt,
                          std::nullopt, std::array<NVVM::MMATypes, 2>{type, type},
                          std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  for (auto [i, place] : llvm::enumerate(places))
    if (place >= 0)
      sum.values[place] = LLVM::ExtractValueOp::create(builder, code.loc, product, i);
}
