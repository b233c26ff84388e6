// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strides of the tensors that the operators allocate: the same rule for real tensors and for traced ones
// (SymInt). No header of torch.
#ifndef TAYLOR_RUNTIME_TORCH_LAYOUT_H
#define TAYLOR_RUNTIME_TORCH_LAYOUT_H
#include "runtime/artifact.h"
#include <array>
#include <cstddef>
#include <utility>

namespace taylor {

/// Sizes or strides of one tensor, whose axes are few.
template <typename Int> class Extents {
public:
  Extents() = default;
  Extents(size_t count, const Int &value) {
    for (size_t i = 0; i < count; ++i)
      push_back(value);
  }
  void push_back(Int value) { values[count++] = std::move(value); }
  size_t size() const { return count; }
  const Int *data() const { return values.data(); }
  Int &operator[](size_t i) { return values[i]; }
  const Int &operator[](size_t i) const { return values[i]; }

private:
  std::array<Int, TAYLOR_MAX_RANK> values;
  size_t count = 0;
};

/// Strides of a dense tensor of these sizes whose axes lie in memory in the order of `like`'s strides,
/// largest first; ties keep the axes' order, and the last axis stays innermost. So what comes out of
/// [B,T,H,d] permuted to [B,H,T,d] is [B,T,H,e] permuted, and reshaping it to [B,T,H*e] needs no copy.
template <typename Int, typename Like>
Extents<Int> denseStrides(const Extents<Int> &sizes, const Like &like) {
  size_t rank = sizes.size();
  Extents<Int> strides(rank, Int(1));
  if (rank == 0)
    return strides;
  std::array<size_t, TAYLOR_MAX_RANK> order;
  for (size_t i = 0; i < rank; ++i)
    order[i] = i;
  // Insertion sort: comparisons of traced strides put guards into the trace, so no more than needed.
  if (like.size() == rank)
    for (size_t i = 1; i + 1 < rank; ++i)
      for (size_t j = i; j > 0 && like[order[j - 1]] < like[order[j]]; --j)
        std::swap(order[j - 1], order[j]);
  Int next(1);
  for (size_t i = rank; i-- > 0;) {
    strides[order[i]] = next;
    // As torch does for contiguous tensors, an axis of size 0 counts as 1.
    next = next * (sizes[order[i]] < Int(1) ? Int(1) : sizes[order[i]]);
  }
  return strides;
}

} // namespace taylor

#endif
