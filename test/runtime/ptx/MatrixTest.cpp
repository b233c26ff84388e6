// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mma.sync, ldmatrix and stmatrix against the fragment layouts of the PTX manual ("Matrix Fragments for
// mma.m16n8k16", "... k8",
// "... k4", "ldmatrix"), which give row and column of the i-th element of each lane with groupID = lane >> 2
// and threadID_in_group = lane % 4.
#include "Fixture.h"
#include <random>

namespace taylor::runtime::ptx {
namespace {

struct Place {
  unsigned row, column;
};

/// The manual's formulas, one for each table.
Place a16(unsigned lane, unsigned i) { // .f16/.bf16 m16n8k16, a0..a7
  unsigned g = lane >> 2, t = lane % 4;
  return {(i < 2 || (4 <= i && i < 6)) ? g : g + 8, t * 2 + (i & 1) + (i < 4 ? 0 : 8)};
}
Place b16(unsigned lane, unsigned i) { // b0..b3
  return {(lane % 4) * 2 + (i & 1) + (i < 2 ? 0 : 8), lane >> 2};
}
Place a8(unsigned lane, unsigned i) { // .f16/.bf16 m16n8k8, a0..a3
  return {(lane >> 2) + (i < 2 ? 0 : 8), (lane % 4) * 2 + (i & 1)};
}
Place b8(unsigned lane, unsigned i) { return {(lane % 4) * 2 + i, lane >> 2}; } // b0, b1
Place at8(unsigned lane, unsigned i) {                                          // .tf32 m16n8k8, a0..a3
  return {(i == 0 || i == 2) ? lane >> 2 : (lane >> 2) + 8, (i == 0 || i == 1) ? lane % 4 : lane % 4 + 4};
}
Place bt8(unsigned lane, unsigned i) { return {i == 0 ? lane % 4 : lane % 4 + 4, lane >> 2}; }
Place at4(unsigned lane, unsigned i) { return {i == 0 ? lane >> 2 : (lane >> 2) + 8, lane % 4}; }
Place bt4(unsigned lane, unsigned) { return {lane % 4, lane >> 2}; }
Place c(unsigned lane, unsigned i) { return {i < 2 ? lane >> 2 : (lane >> 2) + 8, (lane % 4) * 2 + (i & 1)}; }

enum class Kind { BF16, F16, TF32 };

/// Small integers and quarters: exact in every type, and so are all sums.
struct Element {
  double value;
  uint32_t bits;
};
Element element(Kind kind, int n) {
  float x = float(n) / 4;
  if (kind == Kind::BF16)
    return {x, bits(x) >> 16};
  if (kind == Kind::TF32)
    return {x, bits(x)};
  _Float16 h = _Float16(x);
  return {x, std::bit_cast<uint16_t>(h)};
}

void checkMma(const std::string &shape, const std::string &type, Kind kind, unsigned k,
              Place (*placeA)(unsigned, unsigned), Place (*placeB)(unsigned, unsigned)) {
  std::mt19937 random(k);
  auto draw = [&] { return int(random() % 17) - 8; };
  unsigned per = kind == Kind::TF32 ? 1 : 2, countA = 16 * k / 32, countB = countA / 2;
  std::vector<std::vector<Element>> a(16, std::vector<Element>(k)), b(k, std::vector<Element>(8));
  std::vector<std::vector<double>> sum(16, std::vector<double>(8));
  std::vector<Words> columns;
  for (auto &row : a)
    for (Element &e : row)
      e = element(kind, draw());
  for (auto &row : b)
    for (Element &e : row)
      e = element(kind, draw());
  auto fragment = [&](auto &matrix, Place (*place)(unsigned, unsigned), unsigned count) {
    for (unsigned r = 0; r < count / per; ++r) {
      columns.emplace_back(32);
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned h = 0; h < per; ++h) {
          Place p = place(lane, r * per + h);
          columns.back()[lane] |= matrix[p.row][p.column].bits << 16 * h;
        }
    }
  };
  fragment(a, placeA, countA);
  fragment(b, placeB, countB);
  std::vector<std::vector<float>> addend(16, std::vector<float>(8));
  for (auto &row : addend)
    for (float &x : row)
      x = float(draw());
  for (unsigned i = 0; i < 4; ++i) {
    columns.emplace_back(32);
    for (unsigned lane = 0; lane < 32; ++lane)
      columns.back()[lane] = bits(addend[c(lane, i).row][c(lane, i).column]);
  }
  auto list = [](unsigned from, unsigned count) {
    std::string text = "{";
    for (unsigned n = 0; n < count; ++n)
      text += (n ? ", %a" : "%a") + std::to_string(from + n);
    return text + "}";
  };
  unsigned ra = countA / per, rb = countB / per;
  Result r = execute("mma.sync.aligned." + shape + ".row.col.f32." + type + "." + type +
                         ".f32 {%o0, %o1, %o2, %o3}, " + list(0, ra) + ", " + list(ra, rb) + ", " +
                         list(ra + rb, 4) + ";",
                     columns, 4);
  ASSERT_FALSE(r.report.fault) << r.report.fault->message;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      Place p = c(lane, i);
      double expected = addend[p.row][p.column];
      for (unsigned n = 0; n < k; ++n)
        expected += a[p.row][n].value * b[n][p.column].value;
      EXPECT_EQ(real(r.outputs[i][lane]), expected) << shape << " " << type << " lane " << lane << " c" << i;
    }
}

TEST(PtxMatrix, MmaFragments) {
  checkMma("m16n8k16", "bf16", Kind::BF16, 16, a16, b16);
  checkMma("m16n8k16", "f16", Kind::F16, 16, a16, b16);
  checkMma("m16n8k8", "bf16", Kind::BF16, 8, a8, b8);
  checkMma("m16n8k8", "f16", Kind::F16, 8, a8, b8);
  checkMma("m16n8k8", "tf32", Kind::TF32, 8, at8, bt8);
  checkMma("m16n8k4", "tf32", Kind::TF32, 4, at4, bt4);
}

TEST(PtxMatrix, Tf32IgnoresTheLow13Bits) {
  Words one(32, bits(1.0f)), rough(32, bits(1.0f) | 0x1fff), zero(32, 0);
  Words r = valuesOf("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%o0, %r1, %r2, %r3}, {%a0, %a0}, "
                     "{%a1}, {%a2, %a2, %a2, %a2};",
                     {rough, one, zero});
  EXPECT_EQ(r, Words(32, bits(4.0f)));
}

/// Element (row, column) of matrix j, distinct over all four.
uint16_t cell(unsigned j, unsigned row, unsigned column) {
  return uint16_t(0x1000 * (j + 1) + 16 * row + column);
}

/// The 32 rows of four matrices in shared memory, row r of matrix j at 16 (8j + r): one 16-byte row per
/// thread.
const std::string fillRows = R"(
mov.u32 %r0, rows;
shl.b32 %r1, %t, 4;
add.u32 %r2, %r0, %r1;
st.shared.v4.b32 [%r2], {%a0, %a1, %a2, %a3};
bar.warp.sync 0xffffffff;
)";
std::vector<Words> rowColumns() {
  std::vector<Words> columns(4, Words(32));
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned w = 0; w < 4; ++w)
      columns[w][l] = uint32_t(cell(l / 8, l % 8, 2 * w)) | uint32_t(cell(l / 8, l % 8, 2 * w + 1)) << 16;
  return columns;
}
Setting rowSetting() {
  Setting s;
  s.declarations = ".shared .align 16 .b8 rows[512];\n";
  return s;
}

TEST(PtxMatrix, LdmatrixPlain) { // lane l gets row l / 4, elements 2 (l % 4) and the next, of each matrix
  Result r = execute(fillRows + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%o0, %o1, %o2, %o3}, [%r2];",
                     rowColumns(), 4, rowSetting());
  ASSERT_FALSE(r.report.fault) << r.report.fault->message;
  for (unsigned j = 0; j < 4; ++j)
    for (unsigned l = 0; l < 32; ++l)
      EXPECT_EQ(r.outputs[j][l], cell(j, l / 4, 2 * (l % 4)) | uint32_t(cell(j, l / 4, 2 * (l % 4) + 1))
                                                                   << 16);
}

TEST(PtxMatrix, LdmatrixTransposed) { // rows and columns exchanged
  Result r = execute(fillRows + "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%o0, %o1, %o2, %o3}, [%r2];",
                     rowColumns(), 4, rowSetting());
  ASSERT_FALSE(r.report.fault) << r.report.fault->message;
  for (unsigned j = 0; j < 4; ++j)
    for (unsigned l = 0; l < 32; ++l)
      EXPECT_EQ(r.outputs[j][l], cell(j, 2 * (l % 4), l / 4) | uint32_t(cell(j, 2 * (l % 4) + 1, l / 4))
                                                                   << 16);
}

TEST(PtxMatrix, LdmatrixTakesAddressesOfTheFirstLanesAlone) { // .x1: lanes 0-7; .x2: lanes 0-15
  std::string far = "setp.ge.u32 %p0, %t, LIMIT;\nselp.b32 %r2, 0x7ffffff0, %r2, %p0;\n";
  for (auto [count, limit] : {std::pair{1u, "8"}, {2u, "16"}}) {
    std::string guard = far;
    guard.replace(guard.find("LIMIT"), 5, limit);
    Result r =
        execute(fillRows + guard +
                    (count == 1 ? "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%o0}, [%r2];\nmov.b32 %o1, 0;"
                                : "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%o0, %o1}, [%r2];"),
                rowColumns(), 2, rowSetting());
    ASSERT_FALSE(r.report.fault) << r.report.fault->message;
    for (unsigned j = 0; j < count; ++j)
      for (unsigned l = 0; l < 32; ++l)
        EXPECT_EQ(r.outputs[j][l], cell(j, l / 4, 2 * (l % 4)) | uint32_t(cell(j, l / 4, 2 * (l % 4) + 1))
                                                                     << 16);
  }
}

TEST(PtxMatrix, StmatrixIsTheInverse) {
  for (std::string form : {".x4", ".x4.trans"}) {
    std::vector<Words> columns;
    for (unsigned j = 0; j < 4; ++j) {
      columns.emplace_back(32);
      for (unsigned l = 0; l < 32; ++l)
        columns[j][l] = 0x10000 * (2 * (32 * j + l) + 1) + 2 * (32 * j + l);
    }
    Result r = execute(
        "mov.u32 %r0, rows;\nshl.b32 %r1, %t, 4;\nadd.u32 %r2, %r0, %r1;\nstmatrix.sync.aligned.m8n8" + form +
            ".shared.b16 [%r2], {%a0, %a1, %a2, %a3};\nbar.warp.sync -1;\nld.shared.v4.b32 {%o0, %o1, %o2, "
            "%o3}, [%r2];",
        columns, 4, rowSetting());
    ASSERT_FALSE(r.report.fault) << r.report.fault->message;
    for (unsigned j = 0; j < 4; ++j)
      for (unsigned l = 0; l < 32; ++l)
        for (unsigned h = 0; h < 2; ++h) {
          unsigned row = l / 4, column = 2 * (l % 4) + h;
          if (form != ".x4")
            std::swap(row, column);
          EXPECT_EQ(r.outputs[column / 2][8 * j + row] >> 16 * (column % 2) & 0xffff,
                    columns[j][l] >> 16 * h & 0xffff)
              << form;
        }
  }
}

} // namespace
} // namespace taylor::runtime::ptx
