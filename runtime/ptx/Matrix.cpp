// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ldmatrix, stmatrix and mma.sync (PTX ISA, "Warp Level Matrix Instructions"). With g = lane / 4 and t = lane
// % 4:
//
//   16-bit A (16 x k): registers hold pairs of columns 2t, 2t+1: rows g, g+8, then the same 8 columns further
//   right 16-bit B (k x 8):  pairs of rows 2t, 2t+1 of column g, then 8 rows further down 32-bit A: (g, t),
//   (g+8, t), (g, t+4), (g+8, t+4);  B: (t, g), (t+4, g) C, D (16 x 8):     (g, 2t), (g, 2t+1), (g+8, 2t),
//   (g+8, 2t+1)
#include "runtime/ptx/Block.h"
#include "runtime/ptx/Handlers.h"
#include "runtime/ptx/Report.h"

namespace taylor::runtime::ptx {
namespace {

/// The rows of one 8 x 8 matrix of 16-bit elements; lanes 8j to 8j+7 have the addresses of matrix j.
using Matrix = std::array<std::array<uint16_t, 8>, 8>;

template <bool store> void matrices(Warp &w, const Instruction &i, uint32_t mask) {
  BlockMemory &memory = w.block.memory;
  const Operand &base = i.operands[store ? 0 : i.vector];
  const Operand *values = &i.operands[store ? 1 : 0];
  std::array<Matrix, 4> data;
  if (store)
    for (unsigned j = 0; j < i.vector; ++j)
      for (unsigned l = 0; l < 32; ++l)
        for (unsigned k = 0; k < 2; ++k) {
          unsigned row = l / 4, column = 2 * (l % 4) + k;
          data[j][i.transposed ? column : row][i.transposed ? row : column] =
              uint16_t(w.cells<uint32_t>(values[j])[l] >> 16 * k);
        }
  for (unsigned j = 0; j < i.vector; ++j) {
    std::array<uint64_t, 32> addresses{};
    for (unsigned r = 0; r < 8; ++r) {
      unsigned l = 8 * j + r;
      Space space = i.space;
      uint64_t address = w.raw(base, l) + uint64_t(i.offset);
      if (bytesOf(base.type) == 4)
        address = uint32_t(address);
      std::byte *row = memory.locate(w, i, l, space, address, 16, store);
      if (space != Space::Shared)
        raise(w, i, FaultKind::OutOfBounds, l, address, "expected an address in shared memory");
      memory.checkShared(w, i, l, address, 16, store);
      if (store)
        std::memcpy(row, data[j][r].data(), 16);
      else
        std::memcpy(data[j][r].data(), row, 16);
      addresses[r] = address;
    }
    memory.countConflicts(addresses, 0xff, 16); // eight rows are one pass
    memory.countBytes(Space::Shared, store, 128);
  }
  if (!store)
    for (unsigned j = 0; j < i.vector; ++j)
      for (unsigned l = 0; l < 32; ++l) {
        unsigned g = l / 4, t = l % 4;
        uint32_t low = i.transposed ? data[j][2 * t][g] : data[j][g][2 * t];
        uint32_t high = i.transposed ? data[j][2 * t + 1][g] : data[j][g][2 * t + 1];
        w.cells<uint32_t>(values[j])[l] = high << 16 | low;
      }
}

/// D (16 x 8) = A (16 x k) B (k x 8) + C in fp32. Operands: 4 of D, then A, B, 4 of C.
template <typename T, unsigned k> void mma(Warp &w, const Instruction &i, uint32_t) {
  constexpr bool tf32 = std::is_same_v<T, float>;
  constexpr unsigned perRegister = tf32 ? 1 : 2, left = 16 * k / 32 / perRegister, right = left / 2;
  float a[16][k], b[k][8], c[16][8];
  auto element = [](uint32_t bits, unsigned half) {
    if constexpr (tf32)
      return truncateToTf32(bits);
    else
      return toFloat(T{uint16_t(bits >> 16 * half)});
  };
  for (unsigned x = 0; x < left; ++x) {
    const uint32_t *source = w.cells<uint32_t>(i.operands[4 + x]);
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned h = 0; h < perRegister; ++h) {
        unsigned row = l / 4 + 8 * (x % 2), column = perRegister * (l % 4) + h + 4 * perRegister * (x / 2);
        a[row][column] = element(source[l], h);
      }
  }
  for (unsigned x = 0; x < right; ++x) {
    const uint32_t *source = w.cells<uint32_t>(i.operands[4 + left + x]);
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned h = 0; h < perRegister; ++h)
        b[perRegister * (l % 4) + h + 4 * perRegister * x][l / 4] = element(source[l], h);
  }
  for (unsigned x = 0; x < 4; ++x) {
    const uint32_t *source = w.cells<uint32_t>(i.operands[4 + left + right + x]);
    for (unsigned l = 0; l < 32; ++l)
      c[l / 4 + 8 * (x / 2)][2 * (l % 4) + x % 2] = std::bit_cast<float>(source[l]);
  }
  for (unsigned m = 0; m < 16; ++m)
    for (unsigned q = 0; q < k; ++q)
      for (unsigned n = 0; n < 8; ++n)
        c[m][n] += a[m][q] * b[q][n];
  for (unsigned x = 0; x < 4; ++x) {
    uint32_t *target = w.cells<uint32_t>(i.operands[x]);
    for (unsigned l = 0; l < 32; ++l)
      target[l] = std::bit_cast<uint32_t>(c[l / 4 + 8 * (x / 2)][2 * (l % 4) + x % 2]);
  }
}

} // namespace

Handler matrixHandler(const Instruction &i) {
  switch (i.op) {
  case Op::Ldmatrix:
    return matrices<false>;
  case Op::Stmatrix:
    return matrices<true>;
  case Op::Mma:
    switch (i.from) {
    case Type::BF16:
      return i.vector == 16 ? mma<BHalf, 16> : mma<BHalf, 8>;
    case Type::F16:
      return i.vector == 16 ? mma<Half, 16> : mma<Half, 8>;
    case Type::TF32:
      return i.vector == 8 ? mma<float, 8> : mma<float, 4>;
    default:
      return nullptr;
    }
  default:
    return nullptr;
  }
}

} // namespace taylor::runtime::ptx
