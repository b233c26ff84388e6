// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places in swizzled buffers: each element has its own, and what a warp accesses at once lies in different
// banks.
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "mlir/IR/Builders.h"
#include <gtest/gtest.h>
#include <set>

using namespace mlir::simt;

namespace {

constexpr int64_t kRows = 16;

/// Buffers of 16 rows: every width of elements, every swizzle, panels side by side.
template <typename Visit> void forEachBuffer(Visit visit) {
  mlir::MLIRContext context;
  context.loadDialect<SimtDialect>();
  mlir::Builder b(&context);
  mlir::Type types[] = {b.getBF16Type(), b.getF32Type(), b.getF64Type()};
  for (mlir::Type type : types)
    for (int64_t width : {32, 64, 128}) {
      int64_t columns = 3 * width / (type.getIntOrFloatBitWidth() / 8);
      using mlir::tile::Axis;
      visit(BufferType::get(
          &context, 1,
          {Axis::get(&context, AxisRole::Query, kRows), Axis::get(&context, AxisRole::Channel, columns)},
          type, width));
    }
}

/// Whether `bytes` at one column of each of the rows touch no bank twice.
bool isFree(BufferType buffer, std::initializer_list<int64_t> rows, int64_t bytes) {
  std::set<int64_t> banks;
  for (int64_t row : rows)
    for (int64_t byte = 0; byte < bytes; byte += 4) {
      int64_t width = buffer.getElementBytes();
      if (!banks.insert((buffer.getByteOffset(row, byte / width) + byte % width) / 4 % 32).second)
        return false;
    }
  return true;
}

TEST(Buffer, GivesEachElementItsOwnPlace) {
  forEachBuffer([](BufferType buffer) {
    std::set<int64_t> places;
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t column = 0; column < buffer.getRow().getSize(); ++column)
        places.insert(buffer.getByteOffset(row, column));
    EXPECT_EQ(int64_t(places.size()), buffer.getSlotBytes() / buffer.getElementBytes());
    EXPECT_EQ(*places.begin(), 0);
    EXPECT_EQ(*places.rbegin(), buffer.getSlotBytes() - buffer.getElementBytes());
  });
}

TEST(Buffer, KeepsFragmentsFreeOfConflicts) {
  forEachBuffer([](BufferType buffer) {
    SCOPED_TRACE(buffer.getElementBytes() * 1000 + buffer.getSwizzle());
    int64_t width = buffer.getSwizzle();
    if (buffer.getElementBytes() == 2) { // ldmatrix
      EXPECT_TRUE(isFree(buffer, {0, 1, 2, 3, 4, 5, 6, 7}, 16));
      EXPECT_TRUE(isFree(buffer, {8, 9, 10, 11, 12, 13, 14, 15}, 16));
    }
    if (buffer.getElementBytes() == 4) {
      EXPECT_TRUE(isFree(buffer, {0, 1, 2, 3}, 32)); // pairs along rows
      EXPECT_TRUE(isFree(buffer, {4, 5, 6, 7}, 32));
      EXPECT_TRUE(isFree(buffer, {0, 2, 4, 6}, 32)); // columns one by one
      EXPECT_TRUE(isFree(buffer, {1, 3, 5, 7}, 32));
    }
    if (buffer.getElementBytes() == 8 && width >= 64)
      for (int64_t row = 0; row < kRows; row += 2)
        EXPECT_TRUE(isFree(buffer, {row, row + 1}, 64));
    if (buffer.getElementBytes() > 2 && width == 128)
      EXPECT_TRUE(isFree(buffer, {0, 1, 2, 3, 4, 5, 6, 7}, 16));
  });
}

} // namespace
