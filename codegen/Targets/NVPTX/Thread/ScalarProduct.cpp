// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products without matrix instructions, in f32 and f64: the sums of a thread are those of an accumulator of
// mma.m16n8, so that all else in a kernel is the same.
#include "codegen/Targets/NVPTX/Thread/ProductEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::simt;

void ProductEmitter::emitScalars() {
  int64_t step = std::min<int64_t>(size, 128 / element.getIntOrFloatBitWidth());
  SmallVector<int64_t> rows;
  for (int64_t row : sum.rows) {
    rows.push_back(row);
    if (sum.hasUpper)
      rows.push_back(row + 8);
  }
  for (int64_t k = 0; k < size; k += step) {
    int64_t count = std::min(step, size - k);
    SmallVector<SmallVector<Value>> left;
    for (int64_t row : rows)
      left.push_back(readScalars(a, row, k, count));
    for (int64_t column : sum.columns)
      for (int64_t next : {column, column + 1}) {
        SmallVector<Value> right = readScalars(b, next, k, count);
        for (auto [row, numbers] : llvm::zip(rows, left)) {
          Value &total = sum.values[sum.at(row, next)];
          for (auto [x, y] : llvm::zip(numbers, right))
            total = math::FmaOp::create(code.builder, code.loc, x, y, total);
        }
      }
  }
}

SmallVector<Value> ProductEmitter::readScalars(Operand &operand, int64_t own, int64_t k, int64_t count) {
  SmallVector<Value> numbers;
  if (operand.isTile()) {
    for (int64_t i = 0; i < count; ++i)
      numbers.push_back(fetchScalar(operand, own, k + i));
  } else {
    BufferType buffer = operand.buffer();
    int64_t bytes = buffer.getElementBytes(), rowBytes = buffer.getRow().getSize() * bytes;
    // Neighbours in the buffer come in one load where they are aligned.
    int64_t together = 1;
    while (buffer.getRow().getName() == over && 2 * together * bytes <= 16 && count % (2 * together) == 0 &&
           k % (2 * together) == 0 && rowBytes % (2 * together * bytes) == 0)
      together *= 2;
    Words words = wordsOf(together, bytes);
    for (int64_t i = 0; i < count; i += together) {
      Value pointer = operand.address->at([&](StringRef axis) { return axis == over ? k + i : own; });
      llvm::append_range(numbers,
                         elementsOfWords(code, code.load(pointer, AddressSpace::shared, words, Value()),
                                         buffer.getElementType()));
    }
  }
  for (Value &number : numbers)
    number = code.convert(number, element);
  return numbers;
}

/// From the lane that has it: place k % 8 / 2 along the summed axis in lanes 0 and 1, the place along the own
/// axis in lanes 2 to 4. A thread's rows are those of its own lanes 2 to 4, its columns 2 c and 2 c + 1.
Value ProductEmitter::fetchScalar(Operand &operand, int64_t own, int64_t k) {
  LayoutAttr layout = layoutOf(operand.value.getType());
  bool isRows = operand.own == sum.axes.rows;
  Value lane = places.atStart([&] {
    Value base = isRows ? code.bitAnd(places.thread(), code.i32(28))
                        : code.add(code.mul(code.bitAnd(places.thread(), code.i32(3)), 8), own % 2 * 4);
    return code.add(base, k % 8 / 2);
  });
  int64_t place = layout.findRegister([&](StringRef axis) {
    if (axis == over)
      return k / 8 * 8 + k % 2;
    return isRows ? own : own - own % 2;
  });
  return code.fetch(tiles.element(tiles.tileOf(operand.value), place, op.getLoc()), lane);
}
