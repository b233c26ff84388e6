// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strides of the tensors that the operator allocates: the same rule for real tensors and for traced ones
// (SymInt).
#pragma once
#include <algorithm>
#include <array>
#include <c10/util/SmallVector.h>

namespace taylor {

template <typename Int> using Extents = c10::SmallVector<Int, 8>;

/// Strides of a dense tensor of these sizes whose axes lie in memory in the order of `like`'s strides,
/// largest first; ties keep the axes' order, and the last axis stays innermost. So what comes out of
/// [B,T,H,d] permuted to [B,H,T,d] is [B,T,H,e] permuted, and reshaping it to [B,T,H*e] needs no copy.
template <typename Int, typename Like>
Extents<Int> denseStrides(const Extents<Int> &sizes, const Like &like) {
  size_t rank = sizes.size();
  Extents<Int> strides(rank, Int(1));
  if (rank == 0)
    return strides;
  std::array<size_t, 8> order;
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
