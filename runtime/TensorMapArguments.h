// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a tensor map is made of, by whichever device: the driver (Launch.cpp) or the interpreter
// (ptx/TensorMap.h).
#ifndef TAYLOR_RUNTIME_TENSORMAPARGUMENTS_H
#define TAYLOR_RUNTIME_TENSORMAPARGUMENTS_H
#include <array>
#include <cstdint>

namespace taylor::runtime {

/// As CUtensorMapDataType numbers them; packed types of 4 and 6 bits are left out.
enum class TensorType : uint8_t {
  UInt8,
  UInt16,
  UInt32,
  Int32,
  UInt64,
  Int64,
  Float16,
  Float32,
  Float64,
  BFloat16,
  Float32Flushed,
  TFloat32,
  TFloat32Flushed
};

/// The arguments of cuTensorMapEncodeTiled that matter here. It has no interleave and fills with zeros what
/// lies outside.
struct TensorMapArguments {
  TensorType type;
  unsigned rank;
  uint64_t address;
  std::array<uint64_t, 5> sizes;   ///< elements, the contiguous dimension first
  std::array<uint64_t, 4> strides; ///< bytes, of dimensions from 1
  std::array<uint32_t, 5> box;
  std::array<uint32_t, 5> steps = {1, 1, 1, 1, 1};
  unsigned swizzle = 0; ///< 0, 32, 64, 128
};

} // namespace taylor::runtime

#endif
