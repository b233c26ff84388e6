// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Overlap.h"
#include "runtime/artifact.h"
#include <algorithm>

namespace taylor::runtime {
namespace {

/// One term c * stride, low <= c <= high, of the distance between two elements, in bytes.
struct Term {
  int64_t stride, low, high;
};

/// Is `distance` a sum of the terms [first, count)? Strides descend, so few multiples of the first stride
/// leave a rest that the others can reach. Gives up (true) when `budget` nodes have been visited.
bool reachable(const Term *terms, int count, int first, int64_t distance, int &budget) {
  if (first == count)
    return distance == 0;
  if (--budget < 0)
    return true;
  __int128 restLow = 0, restHigh = 0;
  for (int i = first + 1; i < count; ++i) {
    restLow += __int128(terms[i].stride) * terms[i].low;
    restHigh += __int128(terms[i].stride) * terms[i].high;
  }
  const Term &term = terms[first];
  // Multiples c with restLow <= distance - c * stride <= restHigh.
  auto floorDivide = [](__int128 a, __int128 b) { return a / b - (a % b != 0 && a < 0); };
  __int128 low = -floorDivide(-(distance - restHigh), term.stride);
  __int128 high = floorDivide(distance - restLow, term.stride);
  low = std::max<__int128>(low, term.low);
  high = std::min<__int128>(high, term.high);
  for (__int128 c = low; c <= high; ++c)
    if (reachable(terms, count, first + 1, int64_t(distance - c * term.stride), budget))
      return true;
  return false;
}

} // namespace

bool overlap(const View &a, const View &b) {
  if (a.data >= b.data + b.extent || b.data >= a.data + a.extent)
    return false;
  Term terms[2 * TAYLOR_MAX_RANK + 2];
  int count = 0;
  auto add = [&](int64_t stride, int64_t low, int64_t high) {
    if (stride == 0 || low == high)
      return;
    for (int i = 0; i < count; ++i)
      if (terms[i].stride == stride) {
        terms[i].low += low;
        terms[i].high += high;
        return;
      }
    terms[count++] = {stride, low, high};
  };
  // Address in b minus address in a: byte x of an element plus the axes.
  for (int64_t i = 0; i < b.rank; ++i)
    add(b.strides[i] * b.element, 0, b.sizes[i] - 1);
  for (int64_t i = 0; i < a.rank; ++i)
    add(a.strides[i] * a.element, -(a.sizes[i] - 1), 0);
  add(1, -(a.element - 1), b.element - 1);
  std::sort(terms, terms + count, [](const Term &x, const Term &y) { return x.stride > y.stride; });
  int budget = 4096;
  return reachable(terms, count, 0, int64_t(a.data) - int64_t(b.data), budget);
}

bool overlapsItself(const View &view) {
  // Sorted by stride, each axis must step over all that the smaller ones span.
  int64_t order[TAYLOR_MAX_RANK];
  int64_t rank = 0;
  for (int64_t i = 0; i < view.rank; ++i)
    if (view.sizes[i] > 1)
      order[rank++] = i;
  std::sort(order, order + rank, [&](int64_t x, int64_t y) { return view.strides[x] < view.strides[y]; });
  int64_t span = 1;
  for (int64_t i = 0; i < rank; ++i) {
    if (view.strides[order[i]] < span)
      return true;
    span += view.strides[order[i]] * (view.sizes[order[i]] - 1);
  }
  return false;
}

} // namespace taylor::runtime
