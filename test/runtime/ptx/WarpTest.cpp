// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exchange between lanes, divergence, barriers, special registers.
#include "Fixture.h"

namespace taylor::runtime::ptx {
namespace {

/// Lane and predicate of one shuffle of the lane numbers + 100.
std::pair<Words, Words> shuffled(const std::string &mode, int b, uint32_t c) {
  Result r = execute("shfl.sync." + mode + ".b32 %o0|%p0, %a0, " + std::to_string(b) + ", " +
                         std::to_string(c) + ", -1;\nselp.b32 %o1, 1, 0, %p0;",
                     {iota(100)}, 2);
  EXPECT_FALSE(r.report.fault) << r.report.fault->message;
  return {r.outputs[0], r.outputs[1]};
}

TEST(PtxShuffle, Up) { // c = 0: the first lane of the segment is the clamp
  auto [value, inside] = shuffled("up", 3, 0);
  for (unsigned l = 0; l < 32; ++l) {
    EXPECT_EQ(value[l], 100 + (l < 3 ? l : l - 3));
    EXPECT_EQ(inside[l], l >= 3);
  }
}

TEST(PtxShuffle, UpInSegmentsOfEight) { // segment mask 0b11000 in bits 8-12
  auto [value, inside] = shuffled("up", 1, 0x1800);
  for (unsigned l = 0; l < 32; ++l) {
    EXPECT_EQ(value[l], 100 + (l % 8 ? l - 1 : l));
    EXPECT_EQ(inside[l], l % 8 != 0);
  }
}

TEST(PtxShuffle, Down) {
  auto [value, inside] = shuffled("down", 5, 31);
  for (unsigned l = 0; l < 32; ++l) {
    EXPECT_EQ(value[l], 100 + (l + 5 < 32 ? l + 5 : l));
    EXPECT_EQ(inside[l], l + 5 < 32);
  }
  auto [clamped, below] = shuffled("down", 1, 15); // clamp 15: lanes above keep their own
  for (unsigned l = 0; l < 32; ++l) {
    EXPECT_EQ(clamped[l], 100 + (l + 1 <= 15 ? l + 1 : l));
    EXPECT_EQ(below[l], l + 1 <= 15);
  }
}

TEST(PtxShuffle, Butterfly) {
  auto [value, inside] = shuffled("bfly", 6, 31);
  for (unsigned l = 0; l < 32; ++l)
    EXPECT_EQ(value[l], 100 + (l ^ 6));
  EXPECT_EQ(inside, Words(32, 1));
  auto [segmented, reached] = shuffled("bfly", 16, 0x1000 | 15); // segments of 16: partners lie outside
  for (unsigned l = 0; l < 32; ++l) {
    unsigned most = (l & 16) | 15, partner = l ^ 16;
    EXPECT_EQ(segmented[l], 100 + (partner <= most ? partner : l));
    EXPECT_EQ(reached[l], partner <= most);
  }
}

TEST(PtxShuffle, Index) {
  auto [value, inside] = shuffled("idx", 9, 31);
  EXPECT_EQ(value, Words(32, 109));
  EXPECT_EQ(inside, Words(32, 1));
  auto [segmented, all] = shuffled("idx", 1, 0x1c00 | 31); // segments of 4: lane 1 of each
  for (unsigned l = 0; l < 32; ++l)
    EXPECT_EQ(segmented[l], 101 + l / 4 * 4);
  auto [clamped, reached] = shuffled("idx", 20, 15);
  for (unsigned l = 0; l < 32; ++l) {
    EXPECT_EQ(clamped[l], 100 + l);
    EXPECT_EQ(reached[l], 0u);
  }
}

TEST(PtxVote, AllAnyUniformBallot) {
  std::string odd = "and.b32 %r0, %t, 1;\nsetp.eq.u32 %p0, %r0, 1;\n";
  EXPECT_EQ(valueOf(odd + "vote.sync.ballot.b32 %o0, %p0, -1;", {}), 0xaaaaaaaau);
  EXPECT_EQ(valueOf(odd + "vote.sync.ballot.b32 %o0, !%p0, -1;", {}), 0x55555555u);
  EXPECT_EQ(valueOf(odd + "vote.sync.all.pred %p1, %p0, -1;\nselp.b32 %o0, 1, 0, %p1;", {}), 0u);
  EXPECT_EQ(valueOf(odd + "vote.sync.any.pred %p1, %p0, -1;\nselp.b32 %o0, 1, 0, %p1;", {}), 1u);
  EXPECT_EQ(valueOf(odd + "vote.sync.uni.pred %p1, %p0, -1;\nselp.b32 %o0, 1, 0, %p1;", {}), 0u);
  EXPECT_EQ(
      valueOf(
          odd +
              "mov.b32 %o0, 7;\n@%p0 vote.sync.all.pred %p1, %p0, 0xaaaaaaaa;\n@%p0 selp.b32 %o0, 1, 0, %p1;",
          {}),
      7u);
}

TEST(PtxRedux, EveryOperation) {
  Words x = iota(1);
  x[3] = uint32_t(-50);
  uint32_t sum = 0, all = ~0u, any = 0, odd = 0;
  for (uint32_t v : x)
    sum += v, all &= v, any |= v, odd ^= v;
  auto of = [&](const std::string &form) { return valuesOf("redux.sync." + form + " %o0, %a0, -1;", {x}); };
  EXPECT_EQ(of("add.s32"), Words(32, sum));
  EXPECT_EQ(of("min.s32"), Words(32, uint32_t(-50)));
  EXPECT_EQ(of("max.s32"), Words(32, 32));
  EXPECT_EQ(of("max.u32"), Words(32, uint32_t(-50)));
  EXPECT_EQ(of("min.u32"), Words(32, 1));
  EXPECT_EQ(of("and.b32"), Words(32, all));
  EXPECT_EQ(of("or.b32"), Words(32, any));
  EXPECT_EQ(of("xor.b32"), Words(32, odd));
}

TEST(PtxElect, LowestLane) {
  Words r = valuesOf("elect.sync %r0|%p0, -1;\nselp.b32 %r1, 100, 0, %p0;\nadd.u32 %o0, %r0, %r1;", {});
  EXPECT_EQ(r[0], 100u);
  EXPECT_EQ(r[1], 0u);
}

TEST(PtxDivergence, LanesMeetBehindTheBranch) {
  Words r = valuesOf(R"(
and.b32 %r0, %t, 3;
setp.eq.u32 %p0, %r0, 0;
@%p0 bra ZERO;
setp.eq.u32 %p1, %r0, 1;
@%p1 bra ONE;
activemask.b32 %o0;
bra.uni JOIN;
ONE: activemask.b32 %o0;
bra.uni JOIN;
ZERO: activemask.b32 %o0;
JOIN: activemask.b32 %r1;
setp.ne.u32 %p2, %r1, 0xffffffff;
@%p2 mov.b32 %o0, 0;
)",
                     {});
  for (unsigned l = 0; l < 32; ++l)
    EXPECT_EQ(r[l], l % 4 == 0 ? 0x11111111u : l % 4 == 1 ? 0x22222222u : 0xccccccccu);
}

TEST(PtxDivergence, LoopsOfDifferentLength) { // sum of 1..lane
  Words r = valuesOf(R"(
mov.u32 %o0, 0;
mov.u32 %r0, %t;
LOOP: setp.eq.u32 %p0, %r0, 0;
@%p0 bra DONE;
add.u32 %o0, %o0, %r0;
sub.u32 %r0, %r0, 1;
bra LOOP;
DONE:
)",
                     {});
  for (unsigned l = 0; l < 32; ++l)
    EXPECT_EQ(r[l], l * (l + 1) / 2);
}

TEST(PtxDivergence, BranchTable) {
  Words r = valuesOf(R"(
and.b32 %r0, %t, 1;
TABLE: .branchtargets EVEN, ODD;
brx.idx %r0, TABLE;
EVEN: mov.b32 %o0, 10;
bra JOIN;
ODD: mov.b32 %o0, 11;
JOIN:
)",
                     {});
  for (unsigned l = 0; l < 32; ++l)
    EXPECT_EQ(r[l], 10 + l % 2);
}

TEST(PtxDivergence,
     ShuffleWaitsForBothSides) { // lanes reach the same instruction from two sides, the upper half later
  Words r = valuesOf(R"(
mov.b32 %r0, %t;
setp.lt.u32 %p0, %t, 16;
@%p0 bra SHUFFLE;
add.u32 %r0, %r0, 1000;
SHUFFLE: shfl.sync.idx.b32 %o0, %r0, 31, 31, -1;
)",
                     {});
  EXPECT_EQ(r, Words(32, 1031));
}

TEST(PtxDivergence, ExitedLanesAreNotWaitedFor) {
  Words r = valuesOf("setp.ge.u32 %p0, %t, 4;\n@%p0 bra OUT;\nredux.sync.add.u32 %o0, %t, 15;\nst.global.b32 "
                     "[%out], %o0;\nret;\nOUT: ret;\n"
                     "mov.b32 %o0, 0;",
                     {});
  EXPECT_EQ(r[0], 6u);
  EXPECT_EQ(r[4], 0xdeadbeefu);
}

TEST(PtxBarrier,
     ValuesPassBetweenWarps) { // thread t reads what thread n - 1 - t wrote, by any order of warps
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Setting s{.threads = 128, .options = {.seed = seed}, .declarations = ".shared .b32 s[128];\n"};
    Words r = valuesOf(
        "mov.u32 %r0, s;\nshl.b32 %r1, %t, 2;\nadd.u32 %r1, %r0, %r1;\nst.shared.b32 [%r1], %a0;\nbar.sync "
        "0;\n"
        "sub.u32 %r2, 127, %t;\nshl.b32 %r2, %r2, 2;\nadd.u32 %r2, %r0, %r2;\nld.shared.b32 %o0, [%r2];",
        {iota(0, 128)}, s);
    for (unsigned t = 0; t < 128; ++t)
      EXPECT_EQ(r[t], 127 - t);
  }
}

TEST(PtxBarrier,
     ProducerArrivesConsumerWaits) { // warp 0 arrives at barrier 1 and goes on; warp 1 waits for 64 threads
  Setting s{.threads = 64, .declarations = ".shared .b32 s[32];\n"};
  Words r = valuesOf(R"(
mov.u32 %r0, s;
and.b32 %r1, %t, 31;
shl.b32 %r1, %r1, 2;
add.u32 %r0, %r0, %r1;
mov.b32 %o0, 5;
setp.ge.u32 %p0, %t, 32;
@%p0 bra CONSUMER;
st.shared.b32 [%r0], %t;
bar.arrive 1, 64;
bra DONE;
CONSUMER: bar.sync 1, 64;
ld.shared.b32 %o0, [%r0];
DONE:
)",
                     {}, s);
  for (unsigned t = 0; t < 64; ++t)
    EXPECT_EQ(r[t], t < 32 ? 5 : t - 32);
}

TEST(PtxBarrier, PartOfAWarp) { // a block of 40 threads: the second warp has 8
  Setting s{.threads = 40, .declarations = ".shared .b32 s[40];\n"};
  Words r = valuesOf(
      "mov.u32 %r0, s;\nshl.b32 %r1, %t, 2;\nadd.u32 %r1, %r0, %r1;\nst.shared.b32 [%r1], %t;\nbar.sync 0;\n"
      "ld.shared.b32 %o0, [s+156];",
      {}, s);
  EXPECT_EQ(r, Words(40, 39));
}

TEST(PtxSpecial, Registers) {
  auto of = [](const std::string &name) {
    return valuesOf("mov.u32 %o0, " + name + ";", {}, {.threads = 64});
  };
  EXPECT_EQ(of("%laneid")[33], 1u);
  EXPECT_EQ(of("%warpid")[33], 1u);
  EXPECT_EQ(of("%nwarpid")[0], 2u);
  EXPECT_EQ(of("%ntid.x")[0], 64u);
  EXPECT_EQ(of("%nctaid.y")[0], 1u);
  EXPECT_EQ(of("%lanemask_lt")[5], 0x1fu);
  EXPECT_EQ(of("%lanemask_le")[31], 0xffffffffu);
  EXPECT_EQ(of("%lanemask_eq")[4], 0x10u);
  EXPECT_EQ(of("%lanemask_ge")[30], 0xc0000000u);
  EXPECT_EQ(of("%lanemask_gt")[31], 0u);
}

// As LLVM lays out a rotated loop: the join stands before the branch, so lanes that took it come to the
// barrier first and wait there for the others.
TEST(PtxBarrier, LanesMeetWhereTheJoinStandsBeforeTheBranch) {
  Result r = execute(R"(
      .reg .pred %low, %more;
      .reg .b32 %i, %sum;
      mov.b32 %i, 0;
      mov.b32 %sum, 0;
      setp.lt.u32 %low, %a0, 16;
      bra.uni CHECK;
    JOIN:
      add.u32 %i, %i, 1;
      setp.lt.u32 %more, %i, 3;
      @%more bra CHECK;
      bra.uni END;
    CHECK:
      bar.sync 0;
      @%low bra JOIN;
      add.u32 %sum, %sum, 10;
      bra.uni JOIN;
    END:
      add.u32 %o0, %sum, %i;)",
                     {iota(0)}, 1);
  ASSERT_FALSE(r.report.fault) << r.report.fault->message;
  for (unsigned l = 0; l < 32; ++l)
    EXPECT_EQ(r.outputs[0][l], l < 16 ? 3u : 33u);
}

} // namespace
} // namespace taylor::runtime::ptx
