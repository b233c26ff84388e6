// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/TensorMap.h"
#include "runtime/Error.h"
#include "runtime/ptx/Program.h"

namespace taylor::runtime::ptx {

constexpr std::array<char, 8> kMapMagic = {'T', 'A', 'Y', 'L', 'O', 'R', 'T', 'M'};

unsigned bytesOf(TensorType t) {
  constexpr unsigned bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return size_t(t) < std::size(bytes) ? bytes[size_t(t)] : 0;
}

bool TensorMap::isValid() const {
  if (magic != kMapMagic || rank < 1 || rank > 5 || !elementBytes ||
      elementBytes != bytesOf(TensorType(type)))
    return false;
  for (unsigned d = 0; d < 5; ++d)
    if (box[d] < 1 || box[d] > 256 || steps[d] < 1 || steps[d] > 8)
      return false;
  return swizzle == 0 || swizzle == lineBytes();
}

unsigned TensorMap::boxBytes() const {
  unsigned bytes = elementBytes;
  for (unsigned d = 0; d < rank; ++d)
    bytes *= boxSize(d);
  return bytes;
}

static void checkDimension(const TensorMapArguments &a, unsigned d, unsigned elementBytes) {
  std::string of = " of dimension " + std::to_string(d);
  if (a.sizes[d] < 1 || a.sizes[d] > uint64_t(1) << 32)
    fail("expected 1 to 4294967296 elements", of, ", but got ", a.sizes[d]);
  if (a.box[d] < 1 || a.box[d] > 256)
    fail("expected a box of 1 to 256 elements", of, ", but got ", a.box[d]);
  if (a.steps[d] < 1 || a.steps[d] > 8)
    fail("expected a step of 1 to 8 elements", of, ", but got ", a.steps[d]);
  if (d == 0)
    return;
  uint64_t stride = a.strides[d - 1], least = d == 1 ? a.sizes[0] * elementBytes : 16;
  if (stride % 16)
    fail("expected a stride", of, " in multiples of 16 bytes, but got ", stride);
  if (stride != 0 && (stride < least || stride >= uint64_t(1) << 40))
    fail("expected a stride", of, " of 0, or from ", least, " to below 2^40 bytes, but got ", stride);
}

TensorMap makeTensorMap(const TensorMapArguments &a) {
  unsigned bytes = bytesOf(a.type);
  if (!bytes)
    fail("unsupported type ", unsigned(a.type), " of a tensor map");
  if (a.rank < 1 || a.rank > 5)
    fail("expected a rank of 1 to 5, but got ", a.rank);
  if (a.address % 16)
    fail("expected a tensor at a multiple of 16 bytes, but got ", hexadecimal(a.address));
  for (unsigned d = 0; d < a.rank; ++d)
    checkDimension(a, d, bytes);
  unsigned line = a.box[0] * bytes;
  if (line % 16)
    fail("expected a box in multiples of 16 bytes along dimension 0, but got ", line);
  if (a.swizzle != 0 && a.swizzle != 32 && a.swizzle != 64 && a.swizzle != 128)
    fail("expected a swizzle of 0, 32, 64 or 128 bytes, but got ", a.swizzle);
  if (a.swizzle && line > a.swizzle)
    fail("expected a box of at most ", a.swizzle, " bytes along dimension 0, which is its swizzle, but got ",
         line);
  // The manual says nothing of where shorter lines lie.
  if (a.swizzle && line < a.swizzle)
    fail("unsupported box of ", line, " bytes along dimension 0 in a swizzle of ", a.swizzle);
  TensorMap map{kMapMagic,      a.address,          {}, {}, {}, {}, uint8_t(a.rank), uint8_t(a.type),
                uint8_t(bytes), uint8_t(a.swizzle), {}};
  for (unsigned d = 0; d < 5; ++d) {
    bool isUsed = d < a.rank;
    map.sizes[d] = isUsed ? a.sizes[d] : 1;
    map.box[d] = isUsed ? a.box[d] : 1;
    map.steps[d] = isUsed && d > 0 ? uint8_t(a.steps[d]) : 1; // the first one is ignored
    if (isUsed && d > 0)
      map.strides[d - 1] = a.strides[d - 1];
  }
  return map;
}

} // namespace taylor::runtime::ptx
