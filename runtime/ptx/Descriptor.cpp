// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/Descriptor.h"
#include "runtime/ptx/Program.h"
#include <algorithm>

namespace taylor::runtime::ptx {

/// An address or offset of 18 bits, of which a descriptor has the upper 14.
static uint32_t fieldOf(uint64_t descriptor, unsigned from) {
  return uint32_t(descriptor >> from & 0x3fff) << 4;
}

SharedMatrix::SharedMatrix(uint64_t descriptor, bool isTransposed, unsigned rows, unsigned columns,
                           unsigned elementBytes)
    : isTransposed(isTransposed), rows(rows), columns(columns), elementBytes(elementBytes),
      start(fieldOf(descriptor, 0)), leading(fieldOf(descriptor, 16)), stride(fieldOf(descriptor, 32)),
      base(descriptor >> 49 & 7) {
  constexpr unsigned lines[] = {16, 128, 64, 32};
  line = lines[descriptor >> 62];
  constexpr uint64_t fields =
      0x3fff | uint64_t(0x3fff) << 16 | uint64_t(0x3fff) << 32 | uint64_t(7) << 49 | uint64_t(3) << 62;
  reserved = descriptor & ~fields;
}

uint32_t SharedMatrix::chunkOf(unsigned row, unsigned column) const {
  unsigned perChunk = 16 / elementBytes, wide = line / 16;
  uint32_t offset;
  if (!isTransposed) {
    column /= perChunk;
    offset = line * (row % 8) + stride * (row / 8) + (line == 16 ? leading : 16) * column;
  } else {
    row /= perChunk;
    offset = line == 16
                 ? stride * row + 16 * (column % 8) + leading * (column / 8)
                 : 16 * (row % wide) + leading * (row / wide) + line * (column % 8) + stride * (column / 8);
  }
  uint32_t address = start + offset;
  return address ^ (address >> 3 & (line - 16));
}

/// A swizzle's pattern of eight lines starts at a multiple of its size, so strides between patterns are
/// multiples too.
std::optional<std::string> SharedMatrix::problemOfStride(const std::string &name, uint32_t bytes) const {
  if (bytes % (8 * line) == 0)
    return std::nullopt;
  return "expected a stride of " + name + " in multiples of " + std::to_string(8 * line) +
         " bytes, but got " + std::to_string(bytes);
}

std::optional<std::string> SharedMatrix::problem(const std::string &name) const {
  if (reserved)
    return "expected a descriptor of " + name + " with zeros in its reserved bits, but got " +
           hexadecimal(reserved);
  if (base)
    return "unsupported base offset " + std::to_string(base) + " in the descriptor of " + name;
  if (line == 16)
    return std::nullopt;
  unsigned length =
      (isTransposed ? rows : columns) * elementBytes; // that the instruction reads along the lines
  uint32_t at = start % (8 * line), room = line - std::min(length, line);
  if (at > room)
    return "expected a descriptor of " + name + " that starts at " +
           (room ? "0 to " + std::to_string(room) : std::string("0")) + " of the " +
           std::to_string(8 * line) + " bytes of a swizzle's pattern, but got " + std::to_string(at);
  if (isTransposed && length > line)
    if (auto found = problemOfStride(name, leading))
      return found;
  if ((isTransposed ? columns : rows) > 8)
    return problemOfStride(name, stride);
  return std::nullopt;
}

} // namespace taylor::runtime::ptx
