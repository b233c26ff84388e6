// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix in shared memory as wgmma finds it by a descriptor (PTX ISA, "Shared Memory Matrix Layout",
// "Matrix Descriptor Format").
#ifndef TAYLOR_RUNTIME_PTX_DESCRIPTOR_H
#define TAYLOR_RUNTIME_PTX_DESCRIPTOR_H
#include <cstdint>
#include <optional>
#include <string>

namespace taylor::runtime::ptx {

/// An operand of wgmma: `rows` of M or N by `columns` of K, in chunks of 16 bytes. K-major chunks go along K,
/// MN-major ones (the transposition bit) along the rows. With r, c counted in chunks where they are
/// contiguous, LBO and SBO the leading and the stride offset, L the bytes of a swizzled line (32, 64, 128)
/// and W = L / 16:
///
///   K-major   no swizzle   16 (r % 8) + SBO (r / 8) + LBO c
///             swizzled     L (r % 8) + SBO (r / 8) + 16 c
///   MN-major  no swizzle   SBO r + 16 (c % 8) + LBO (c / 8)
///             swizzled     16 (r % W) + LBO (r / W) + L (c % 8) + SBO (c / 8)
///
/// and a swizzle exchanges bits of the address: bit 4 + k ^= bit 7 + k for k below 1, 2, 3.
class SharedMatrix {
public:
  SharedMatrix(uint64_t descriptor, bool isTransposed, unsigned rows, unsigned columns,
               unsigned elementBytes);
  /// What the manual forbids or the interpreter lacks, or nothing. `name`: of the operand.
  std::optional<std::string> problem(const std::string &name) const;
  /// The chunk with an element.
  uint32_t chunkOf(unsigned row, unsigned column) const;
  /// The first chunk's element in a row and column is f(address, row, column); over rows from `first` up to
  /// `last`.
  template <typename F> void forChunks(unsigned first, unsigned last, F f) const {
    unsigned perChunk = 16 / elementBytes;
    for (unsigned r = first; r < last; r += isTransposed ? perChunk : 1)
      for (unsigned c = 0; c < columns; c += isTransposed ? 1 : perChunk)
        f(chunkOf(r, c), r, c);
  }
  bool isTransposed;
  unsigned rows, columns, elementBytes;

private:
  std::optional<std::string> problemOfStride(const std::string &name, uint32_t stride) const;
  uint32_t start, leading, stride; ///< bytes
  unsigned base, line;             ///< line: bytes of a swizzled line, 16 without swizzle
  uint64_t reserved;
};

} // namespace taylor::runtime::ptx

#endif
