// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What cp.async.bulk.tensor knows of a tensor in global memory. CUDA's CUtensorMap is opaque, and only a
// driver makes it; the interpreter has a format of its own, of the same size and alignment:
//
//   bytes   0 to   7   "TAYLORTM"
//   bytes   8 to  15   address of the first element
//   bytes  16 to  55   elements of each of 5 dimensions, the contiguous one first, 64 bits each
//   bytes  56 to  87   bytes from one element to the next along dimensions 1 to 4, 64 bits each
//   bytes  88 to 107   elements of the box along each dimension, 32 bits each
//   bytes 108 to 112   step along each dimension, 8 bits each
//   bytes 113 to 116   rank, type, bytes of an element, bytes of a swizzled line (0: no swizzle), 8 bits each
//   bytes 117 to 127   zero
//
// Dimensions past the rank have one element.
#ifndef TAYLOR_RUNTIME_PTX_TENSORMAP_H
#define TAYLOR_RUNTIME_PTX_TENSORMAP_H
#include "runtime/TensorMapArguments.h"
#include <array>
#include <cstddef>
#include <cstdint>

namespace taylor::runtime::ptx {

/// Of an element.
unsigned bytesOf(TensorType);

struct alignas(64) TensorMap {
  std::array<char, 8> magic;
  uint64_t address;
  std::array<uint64_t, 5> sizes;
  std::array<uint64_t, 4> strides;
  std::array<uint32_t, 5> box;
  std::array<uint8_t, 5> steps;
  uint8_t rank, type, elementBytes, swizzle;
  std::array<uint8_t, 11> zero;

  bool isValid() const;
  /// Elements of the box along a dimension.
  unsigned boxSize(unsigned dimension) const {
    return (box[dimension] + steps[dimension] - 1) / steps[dimension];
  }
  unsigned lineBytes() const { return boxSize(0) * elementBytes; }
  unsigned boxBytes() const;
};
static_assert(sizeof(TensorMap) == 128 && offsetof(TensorMap, strides) == 56 &&
              offsetof(TensorMap, rank) == 113);

/// Throws taylor::runtime::Error where a rule of cuTensorMapEncodeTiled is broken (CUDA Driver API, "Tensor
/// Map Object Management"): `expected X, but got Y`.
TensorMap makeTensorMap(const TensorMapArguments &);

} // namespace taylor::runtime::ptx

#endif
