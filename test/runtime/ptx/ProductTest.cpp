// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma.mma_async on small integers, exact, against the manual's layouts: canonical layouts of matrices in
// shared memory ("Canonical Layouts", as CuTe shapes and strides with a swizzle), and fragments ("Matrix
// Fragments for wgmma.mma_async.m64nNk16").
#include "Fixture.h"
#include <random>

namespace taylor::runtime::ptx {
namespace {

enum class Kind { BF16, F16, TF32 };
const char *nameOf(Kind kind) { return kind == Kind::BF16 ? "bf16" : kind == Kind::F16 ? "f16" : "tf32"; }
unsigned bytesOf(Kind kind) { return kind == Kind::TF32 ? 4 : 2; }
uint32_t bitsOf(Kind kind, int x) {
  if (kind == Kind::TF32)
    return bits(float(x));
  return kind == Kind::BF16 ? bits(float(x)) >> 16 : std::bit_cast<uint16_t>(_Float16(x));
}

/// One level of a CuTe layout, in elements.
struct Mode {
  unsigned size, stride;
};
unsigned offsetOf(unsigned index, std::initializer_list<Mode> modes) {
  unsigned offset = 0;
  for (const Mode &mode : modes) {
    offset += index % mode.size * mode.stride;
    index /= mode.size;
  }
  return offset;
}

/// A matrix of `rows` (M or N) by k in shared memory.
struct Layout {
  bool isTransposed;  ///< MN-major
  unsigned swizzle;   ///< 0, 32, 64, 128
  unsigned start = 0; ///< bytes
  unsigned leading = 16, stride = 16;

  /// The manual's canonical layout; the last mode is without end. T elements are 16 bytes.
  unsigned addressOf(unsigned row, unsigned column, unsigned elementBytes) const {
    constexpr unsigned endless = 1 << 20;
    const unsigned T = 16 / elementBytes, W = swizzle / 16, LBO = leading / elementBytes,
                   SBO = stride / elementBytes;
    unsigned offset;
    if (isTransposed && !swizzle) // ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))
      offset = offsetOf(row, {{T, 1}, {1, T}, {endless, SBO}}) + offsetOf(column, {{8, T}, {endless, LBO}});
    else if (isTransposed) // ((T,W,m),(8,k)):((1,T,LBO),(WT,SBO))
      offset =
          offsetOf(row, {{T, 1}, {W, T}, {endless, LBO}}) + offsetOf(column, {{8, W * T}, {endless, SBO}});
    else if (!swizzle) // ((8,m),(T,2k)):((1T,SBO),(1,LBO))
      offset = offsetOf(row, {{8, T}, {endless, SBO}}) + offsetOf(column, {{T, 1}, {endless, LBO}});
    else // ((8,m),(T,2k)):((WT,SBO),(1,T))
      offset = offsetOf(row, {{8, W * T}, {endless, SBO}}) + offsetOf(column, {{T, 1}, {endless, T}});
    unsigned address = start + offset * elementBytes; // Swizzle<B,4,3>: bits 7.. into bits 4..
    unsigned b = swizzle == 128 ? 3 : swizzle == 64 ? 2 : swizzle == 32 ? 1 : 0;
    return address ^ (address >> 3 & ((1u << b) - 1) << 4);
  }
  uint64_t descriptor() const {
    uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    return start >> 4 | uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 | mode << 62;
  }
};

/// Strides with a gap after each block, so that a wrong one meets nothing written.
Layout layoutFor(bool isTransposed, unsigned swizzle, unsigned rows, unsigned start) {
  Layout layout{isTransposed, swizzle, start};
  if (!swizzle) { // core matrices of 128 bytes
    layout.stride = 128 + 16;
    layout.leading = layout.stride * ((rows + 7) / 8) + 32;
  } else if (isTransposed) {
    unsigned pattern = 8 * swizzle;
    layout.leading = 3 * pattern;
    layout.stride = layout.leading * ((2 * rows + swizzle - 1) / swizzle) + pattern;
  } else {
    layout.stride = 16 * swizzle;
  }
  return layout;
}

struct Product {
  Kind kind = Kind::BF16;
  unsigned columns = 8;
  bool isLeftInRegisters = true;
  Layout left{false, 0}, right{false, 0};
  bool negatesLeft = false, negatesRight = false;
  std::string adds = "1"; ///< scale-d
};

constexpr unsigned sharedBytes = 98304;

/// Copies the image of shared memory, then one wgmma per entry of `instructions`, then stores the sums.
std::string kernelOf(const Product &p) {
  unsigned sums = p.columns / 2;
  std::string list, text = header;
  for (unsigned i = 0; i < sums; ++i)
    list += (i ? ", %c" : "%c") + std::to_string(i);
  text +=
      ".extern .shared .align 1024 .b8 s[];\n.visible .entry k(.param .u64 image, .param .u64 fragments, "
      ".param "
      ".u64 sums, .param .u64 left, .param .u64 right)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<8>, %x<4>, %f<4>, "
      "%c<128>;\n.reg .b64 %d<8>;\nmov.u32 %r0, %tid.x;\nld.param.u64 %d0, [image];\nld.param.u64 %d1, "
      "[left];\nld.param.u64 %d2, [right];\nmul.wide.u32 %d3, %r0, 16;\nadd.s64 %d0, %d0, %d3;\nmov.u32 %r1, "
      "s;\nshl.b32 %r2, %r0, 4;\nadd.u32 %r1, %r1, %r2;\nmov.u32 %r3, 0;\nCOPY:\nld.global.v4.b32 {%x0, %x1, "
      "%x2, %x3}, [%d0];\nst.shared.v4.b32 [%r1], {%x0, %x1, %x2, %x3};\nadd.s64 %d0, %d0, 2048;\nadd.u32 "
      "%r1, "
      "%r1, 2048;\nadd.u32 %r3, %r3, 2048;\nsetp.lt.u32 %p0, %r3, " +
      std::to_string(sharedBytes) +
      ";\n@%p0 bra COPY;\nfence.proxy.async.shared::cta;\nbar.sync 0;\nld.param.u64 %d4, "
      "[fragments];\nadd.s64 "
      "%d4, %d4, %d3;\nld.global.v4.b32 {%f0, %f1, %f2, %f3}, [%d4];\nld.param.u64 %d5, "
      "[sums];\nmul.wide.u32 "
      "%d6, %r0, " +
      std::to_string(4 * sums) + ";\nadd.s64 %d5, %d5, %d6;\n";
  for (unsigned i = 0; i < sums; ++i)
    text += "ld.global.b32 %c" + std::to_string(i) + ", [%d5+" + std::to_string(4 * i) + "];\n";
  text += "setp.eq.u32 %p1, %r0, %r0;\nsetp.ne.u32 %p2, %r0, "
          "%r0;\nwgmma.fence.sync.aligned;\nwgmma.mma_async.sync."
          "aligned.m64n" +
          std::to_string(p.columns) + (p.kind == Kind::TF32 ? "k8" : "k16") + ".f32." + nameOf(p.kind) + "." +
          nameOf(p.kind) + " {" + list + "}, " + (p.isLeftInRegisters ? "{%f0, %f1, %f2, %f3}" : "%d1") +
          ", %d2, " + p.adds + (p.negatesLeft ? ", -1" : ", 1") + (p.negatesRight ? ", -1" : ", 1");
  if (p.kind != Kind::TF32)
    text += (p.isLeftInRegisters   ? ""
             : p.left.isTransposed ? ", 1"
                                   : ", 0") +
            std::string(p.right.isTransposed ? ", 1" : ", 0");
  text += ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  for (unsigned i = 0; i < sums; ++i)
    text += "st.global.b32 [%d5+" + std::to_string(4 * i) + "], %c" + std::to_string(i) + ";\n";
  return text + "ret;\n}\n";
}

/// Where the i-th element of a lane's fragment lies in the 16 rows of its warp.
struct Place {
  unsigned row, column;
};
Place leftPlace(Kind kind, unsigned lane, unsigned i) {
  unsigned g = lane >> 2, t = lane % 4;
  if (kind == Kind::TF32)
    return {i % 2 == 0 ? g : g + 8, i < 2 ? t : t + 4};
  return {(i < 2 || (4 <= i && i < 6)) ? g : g + 8, t * 2 + (i & 1) + (i < 4 ? 0 : 8)};
}
Place sumPlace(unsigned lane, unsigned i) {
  return {(lane >> 2) + (i % 4 < 2 ? 0 : 8), 8 * (i / 4) + (lane % 4) * 2 + (i & 1)};
}

std::string describe(const Product &p) {
  auto matrix = [](const Layout &l) {
    return std::string(l.isTransposed ? " MN-major" : " K-major") + " swizzle " + std::to_string(l.swizzle);
  };
  return "n" + std::to_string(p.columns) + " " + nameOf(p.kind) +
         (p.isLeftInRegisters ? " registers" : matrix(p.left)) + matrix(p.right);
}

void check(Product p) {
  unsigned k = p.kind == Kind::TF32 ? 8 : 16, e = bytesOf(p.kind), per = 4 / e, sums = p.columns / 2;
  std::mt19937 random(p.columns + 1000 * p.right.swizzle);
  auto draw = [&] { return int(random() % 9) - 4; };
  std::vector<std::vector<int>> a(64, std::vector<int>(k)), b(p.columns, std::vector<int>(k)),
      c(64, std::vector<int>(p.columns));
  for (auto *matrix : {&a, &b, &c})
    for (auto &row : *matrix)
      for (int &x : row)
        x = draw();
  struct alignas(16) Chunk {
    std::byte bytes[16];
  };
  std::vector<Chunk> image(sharedBytes / 16), fragments(128);
  std::memset(image.data(), 0x7f, sharedBytes); // large numbers and NaN where no matrix lies
  auto put = [&](const Layout &layout, const auto &matrix) {
    for (unsigned r = 0; r < matrix.size(); ++r)
      for (unsigned q = 0; q < k; ++q) {
        unsigned at = layout.addressOf(r, q, e);
        ASSERT_LE(at + e, sharedBytes);
        uint32_t x = bitsOf(p.kind, matrix[r][q]);
        std::memcpy(reinterpret_cast<std::byte *>(image.data()) + at, &x, e);
      }
  };
  if (!p.isLeftInRegisters)
    put(p.left, a);
  put(p.right, b);
  std::vector<float> out(128 * sums);
  for (unsigned t = 0; t < 128; ++t) {
    for (unsigned i = 0; i < 4 * per; ++i) {
      Place at = leftPlace(p.kind, t % 32, i);
      uint32_t x = bitsOf(p.kind, a[16 * (t / 32) + at.row][at.column]);
      std::memcpy(fragments[t].bytes + i * e, &x, e);
    }
    for (unsigned i = 0; i < sums; ++i) {
      Place at = sumPlace(t % 32, i);
      out[t * sums + i] = float(c[16 * (t / 32) + at.row][at.column]);
    }
  }
  struct {
    const void *image, *fragments, *sums;
    uint64_t left, right;
  } parameters{image.data(), fragments.data(), out.data(), p.left.descriptor(), p.right.descriptor()};
  MemoryRange memory[] = {{image.data(), sharedBytes, "image", false},
                          {fragments.data(), 2048, "fragments", false},
                          {out.data(), 4 * out.size(), "sums"}};
  RunReport report = launch(parse(kernelOf(p)), "k", {}, {128}, sharedBytes,
                            std::as_bytes(std::span(&parameters, 1)), memory, {.profile = true});
  ASSERT_FALSE(report.fault) << describe(p) << ": " << report.fault->message;
  EXPECT_EQ(report.profile.issued[Profile::Matrix], 4u);
  bool adds = p.adds == "1" || p.adds == "%p1";
  int sign = p.negatesLeft != p.negatesRight ? -1 : 1;
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned i = 0; i < sums; ++i) {
      Place at = sumPlace(t % 32, i);
      unsigned row = 16 * (t / 32) + at.row;
      int expected = adds ? c[row][at.column] : 0;
      for (unsigned q = 0; q < k; ++q)
        expected += sign * a[row][q] * b[at.column][q];
      ASSERT_EQ(out[t * sums + i], float(expected)) << describe(p) << " thread " << t << " d" << i;
    }
}

constexpr unsigned swizzles[] = {0, 32, 64, 128};
constexpr unsigned rightStart = 24576; // after the left matrix

TEST(PtxProduct, EveryNumberOfColumns) { // with each layout of b in turn
  unsigned turn = 0;
  for (unsigned n = 8; n <= 256; n += 8)
    for (Kind kind : {Kind::BF16, Kind::F16, Kind::TF32}) {
      bool isTransposed = kind != Kind::TF32 && turn / 4 % 2;
      check(
          {.kind = kind, .columns = n, .right = layoutFor(isTransposed, swizzles[turn % 4], n, rightStart)});
      ++turn;
    }
}

TEST(PtxProduct, EveryLayoutOfB) {
  for (unsigned n : {8, 24, 64, 128, 256})
    for (bool isTransposed : {false, true})
      for (unsigned swizzle : swizzles)
        check({.columns = n, .right = layoutFor(isTransposed, swizzle, n, rightStart)});
}

TEST(PtxProduct, EveryLayoutOfAAndB) {
  for (bool leftTransposed : {false, true})
    for (unsigned leftSwizzle : swizzles)
      for (bool rightTransposed : {false, true})
        for (unsigned rightSwizzle : swizzles)
          for (Kind kind : {Kind::BF16, Kind::F16})
            check({.kind = kind,
                   .columns = 40,
                   .isLeftInRegisters = false,
                   .left = layoutFor(leftTransposed, leftSwizzle, 64, 0),
                   .right = layoutFor(rightTransposed, rightSwizzle, 40, rightStart)});
}

TEST(PtxProduct, Tf32) { // 32 bits: K-major alone
  for (unsigned leftSwizzle : swizzles)
    for (unsigned rightSwizzle : swizzles)
      check({.kind = Kind::TF32,
             .columns = 16,
             .isLeftInRegisters = false,
             .left = layoutFor(false, leftSwizzle, 64, 0),
             .right = layoutFor(false, rightSwizzle, 16, rightStart)});
}

TEST(PtxProduct, NextStepsOfK) { // K-major: 32 bytes further in a line; MN-major: 16 lines further
  for (unsigned swizzle : {64u, 128u})
    for (unsigned step = 32; step < swizzle; step += 32) {
      Layout left = layoutFor(false, swizzle, 64, step),
             right = layoutFor(false, swizzle, 48, rightStart + step);
      // The next elements of K lie 32 bytes further before the swizzle, which goes by the whole address.
      check({.columns = 48, .isLeftInRegisters = false, .left = left, .right = right});
    }
  for (unsigned swizzle : {32u, 64u, 128u})
    check({.columns = 48, .right = layoutFor(true, swizzle, 48, rightStart + 16 * swizzle)});
}

TEST(PtxProduct, Scales) {
  Layout right = layoutFor(false, 128, 32, rightStart), left = layoutFor(false, 128, 64, 0);
  for (const char *adds : {"0", "1", "%p1", "%p2"})
    check({.columns = 32, .right = right, .adds = adds});
  for (Kind kind : {Kind::BF16, Kind::TF32})
    for (bool negatesLeft : {false, true})
      for (bool negatesRight : {false, true})
        for (bool isLeftInRegisters : {false, true})
          check({.kind = kind,
                 .columns = 32,
                 .isLeftInRegisters = isLeftInRegisters,
                 .left = left,
                 .right = right,
                 .negatesLeft = negatesLeft,
                 .negatesRight = negatesRight});
}

TEST(PtxProduct, Messages) {
  auto of = [](const std::string &line) {
    return errorOf(header + ".entry k() {\n.reg .b32 %c<4>, %f<4>;\n.reg .b64 %d;\n" + line + "\n}\n");
  };
  std::string four = " {%c0, %c1, %c2, %c3}",
              begin = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16" + four;
  EXPECT_EQ(of(begin + ", %d, %d, 1, 1, 1, 0, 1;"), "");
  EXPECT_EQ(of(begin + ", {%f0, %f1, %f2, %f3}, %d, 1, 1, 1, 1;"), "");
  EXPECT_EQ(of(begin + ", %d, %d, 1, 2, 1, 0, 1;"),
            "t.ptx:7:86: expected a scale of a of 1 or -1, but got 2");
  EXPECT_EQ(of(begin + ", %d, %d, 1, 1, 0, 0, 1;"),
            "t.ptx:7:89: expected a scale of b of 1 or -1, but got 0");
  EXPECT_EQ(of(begin + ", %d, %d, 1, 1, 1, 2, 1;"),
            "t.ptx:7:92: expected a transposition of a of 0 or 1, but got 2");
  EXPECT_EQ(of(begin + ", %d, %d, 1, 1, 1, 0, -1;"),
            "t.ptx:7:95: expected a transposition of b of 0 or 1, but got -1");
  EXPECT_EQ(of("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16" + four + ", %d, %d, 1, 1, 1, 0, 0;"),
            "t.ptx:7:54: expected 8 operands, but got 4");
  for (const char *shape : {"m64n12k16.f32.bf16.bf16", "m64n264k16.f32.bf16.bf16", "m64n8k8.f32.bf16.bf16",
                            "m64n8k16.f16.f16.f16", "m64n8k32.f32.e4m3.e4m3", "m64n8k16.f32.bf16.f16"})
    EXPECT_EQ(of("wgmma.mma_async.sync.aligned." + std::string(shape) + four + ", %d, %d, 1, 1, 1, 0, 0;"),
              "t.ptx:7:1: unsupported instruction 'wgmma.mma_async.sync.aligned." + std::string(shape) + "'");
}

} // namespace
} // namespace taylor::runtime::ptx
