// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What extents, grids and strides mean, over numbers of any kind: the interpreter counts with integers, a
// pass makes operations that count, and a target code.
#ifndef TAYLOR_DIALECT_TILE_EXTENTS_H
#define TAYLOR_DIALECT_TILE_EXTENTS_H

#include "dialect/Tile/TileTypes.h"
#include <algorithm>

namespace mlir::tile {

/// Integers as numbers. Other classes of numbers have the same members, and each one that knows the sizes of
/// a call has `Number size(AxisRef role)`. No number is negative here but the size "offset".
struct Integers {
  using Number = int64_t;
  int64_t constant(int64_t value) const { return value; }
  int64_t add(int64_t a, int64_t b) const { return a + b; }
  int64_t mul(int64_t a, int64_t b) const { return a * b; }
  int64_t divide(int64_t a, int64_t b) const { return a / b; }
  int64_t rest(int64_t a, int64_t b) const { return a % b; }
  int64_t ceilDivide(int64_t a, int64_t b) const { return llvm::divideCeil(uint64_t(a), uint64_t(b)); }
  int64_t atLeastOne(int64_t a) const { return std::max<int64_t>(a, 1); }
};

/// The size of role lag: T + U, and both margins.
template <typename Numbers> typename std::decay_t<Numbers>::Number lagSize(Numbers &&numbers) {
  return numbers.add(numbers.add(numbers.size(AxisRole::Query), numbers.size(AxisRole::Key)),
                     numbers.constant(2 * kLagMargin));
}

/// An extent for given run-time sizes.
template <typename Numbers>
typename std::decay_t<Numbers>::Number evaluateExtent(ExtentAttr extent, Numbers &&numbers) {
  if (extent.isStatic())
    return numbers.constant(extent.getSize());
  if (!extent.isParts()) {
    auto size = numbers.size(extent.getRole());
    return extent.getSize() == 1 ? size : numbers.ceilDivide(size, numbers.constant(extent.getSize()));
  }
  SmallVector<StringRef, 2> roles = extent.getDivisors();
  auto divisor = numbers.size(roles.front());
  for (StringRef role : llvm::drop_begin(roles))
    divisor = numbers.mul(divisor, numbers.size(role));
  return numbers.ceilDivide(numbers.constant(extent.getSize()), numbers.atLeastOne(divisor));
}

/// Elements of an array of these sizes, or blocks of a grid of these extents.
template <typename Numbers, typename Range>
typename std::decay_t<Numbers>::Number countOf(const Range &sizes, Numbers &&numbers) {
  auto count = numbers.constant(1);
  for (auto size : sizes)
    count = numbers.mul(count, size);
  return count;
}

/// Elements from one to the next along each axis of an array in row-major order. `pitch`: from row to row,
/// where it is not the last size.
template <typename Numbers, typename Number = typename std::decay_t<Numbers>::Number>
SmallVector<Number> rowMajorStrides(ArrayRef<Number> sizes, Numbers &&numbers,
                                    std::optional<Number> pitch = std::nullopt) {
  SmallVector<Number> strides(sizes.size());
  Number stride = numbers.constant(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = pitch && i + 1 == sizes.size() ? *pitch : numbers.mul(stride, sizes[i]);
  }
  return strides;
}

/// Calls `visit(i, place)` for the places of a block in a grid, by its number: the last extent is the fastest
/// and comes first. `extentOf(i)` gives extents from 1 on.
template <typename Numbers, typename Extents, typename Visit,
          typename Number = typename std::decay_t<Numbers>::Number>
void forPlacesInGrid(Number number, unsigned rank, Extents extentOf, Visit visit, Numbers &&numbers) {
  for (unsigned i = rank; i-- > 1;) {
    Number extent = extentOf(i), place = numbers.rest(number, extent);
    number = numbers.divide(number, extent);
    visit(i, place);
  }
  if (rank > 0)
    visit(0u, number);
}

} // namespace mlir::tile
#endif
