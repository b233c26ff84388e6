// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether strided views share memory.
#ifndef TAYLOR_RUNTIME_OVERLAP_H
#define TAYLOR_RUNTIME_OVERLAP_H
#include <cstdint>

namespace taylor::runtime {

/// A strided view: element (i0, i1, ..) lies at data + element * sum i_j * strides[j]. Sizes are at least 1,
/// strides at least 0 and counted in elements.
struct View {
  uintptr_t data;
  int64_t element; ///< Bytes of one element.
  int64_t rank;
  const int64_t *sizes;
  const int64_t *strides;
  int64_t extent; ///< Bytes from data to the end of its last element.
};

/// True if the two views may share a byte: exact for views of interleaved buffers (the q, k and v of one
/// packed projection share none), and true where the search would take too long.
bool overlap(const View &a, const View &b);

/// True if two elements of a view may share memory.
bool overlapsItself(const View &view);

} // namespace taylor::runtime

#endif
