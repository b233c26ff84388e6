// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each check of wgmma and of the async proxy fires on a faulty kernel, with its whole message, and is silent
// on the mended one.
#include "Fixture.h"
#include <cmath>
#include <set>

namespace taylor::runtime::ptx {
namespace {

/// The body's lines, one instruction each, and the place of the n-th in a message.
struct Body {
  std::vector<std::string> lines;
  /// Without the line that starts so, or with another one in its place.
  Body without(const std::string &start) const { return with(start, ""); }
  Body with(const std::string &start, const std::string &other) const {
    Body changed = *this;
    for (std::string &line : changed.lines)
      if (line.starts_with(start)) {
        line = other;
        return changed;
      }
    ADD_FAILURE() << "no line starts with " << start;
    return changed;
  }
  std::string text() const {
    std::string all;
    for (const std::string &line : lines)
      all += line + "\n";
    return all;
  }
};

const std::string mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16",
                  sums = " {%o0, %o1, %o2, %o3}, {%r4, %r5, %r6, %r7}, ",
                  wait = "wgmma.wait_group.sync.aligned", fence = "wgmma.fence.sync.aligned",
                  commit = "wgmma.commit_group.sync.aligned";

/// b is 8 columns by 16 at s: two core matrices of 128 bytes, all ones. a is ones in registers. The sums are
/// 1 + 16.
Body product() {
  return {{"mov.u32 %r0, s;",                                                                // line 19
           "shl.b32 %r1, %t, 4;",                                                            // 20
           "add.u32 %r0, %r0, %r1;",                                                         // 21
           "mov.b32 %r4, 0x3f803f80; mov.b32 %r5, %r4; mov.b32 %r6, %r4; mov.b32 %r7, %r4;", // 22
           "mov.b64 %d0, 0x800080000;",                     // 23: SBO and LBO 128
           "st.shared.v4.b32 [%r0], {%r4, %r4, %r4, %r4};", // 24
           "fence.proxy.async;",                            // 25
           "bar.sync 0;",                                   // 26
           "mov.b32 %o0, 0f3f800000; mov.b32 %o1, %o0; mov.b32 %o2, %o0; mov.b32 %o3, %o0;", // 27
           fence + ";",                                                                      // 28
           mma + sums + "%d0, 1, 1, 1, 0;",                                                  // 29
           commit + ";",                                                                     // 30
           wait + " 0;"}};                                                                   // 31
}

const Setting group{.threads = 128, .declarations = ".shared .align 1024 .b8 s[2048];\n"};

Result run(const Body &body, uint64_t seed = 0, Setting s = group) {
  s.options.seed = seed;
  return execute(body.text(), {}, 4, s);
}

/// A fault of this kind with every order of warps, whose message ends so.
void expectFault(const Body &body, FaultKind kind, const std::string &end, const Setting &s = group) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    RunReport r = run(body, seed, s).report;
    ASSERT_TRUE(r.fault) << end;
    EXPECT_EQ(r.fault->kind, kind) << r.fault->message;
    EXPECT_TRUE(r.fault->message.ends_with(end)) << r.fault->message;
  }
}

void expectRight(const Body &body, float expected, const Setting &s = group) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Result r = run(body, seed, s);
    ASSERT_FALSE(r.report.fault) << r.report.fault->message;
    for (const Words &column : r.outputs)
      for (unsigned t = 0; t < s.threads; ++t)
        ASSERT_EQ(real(column[t]), expected) << "thread " << t;
  }
}

TEST(PtxProductFault, TheProductIsRight) { expectRight(product(), 17); }

TEST(PtxProductFault, SumInFlight) {
  std::string end = "reads '%o0', which wgmma at line 29 still uses: requires wgmma.wait_group before it";
  expectFault(product().without(wait), FaultKind::InFlight, end);
  expectFault(product().with(wait, wait + " 1;"), FaultKind::InFlight, end);
  expectFault(product().without(commit), FaultKind::InFlight, end);
  expectFault(product().with(commit, commit + ";\nmov.b32 %o2, 0;"), FaultKind::InFlight,
              "writes '%o2', which wgmma at line 29 still uses: requires wgmma.wait_group before it");
  expectRight(product().with(commit, commit + ";\nmov.b32 %r3, 0;"), 17);
}

TEST(PtxProductFault, FragmentInFlight) {
  for (const char *verb : {"writes", "reads"}) {
    std::string touch = verb == std::string("writes") ? "mov.b32 %r5, 0;" : "mov.b32 %r3, %r5;";
    expectFault(
        product().with(commit, commit + ";\n" + touch), FaultKind::InFlight,
        verb + std::string(" '%r5', which wgmma at line 29 still uses: requires wgmma.wait_group before it"));
    expectRight(product().with(wait, wait + " 0;\n" + touch), 17);
  }
}

TEST(PtxProductFault, WithoutChecksTheResultIsWrong) {
  Setting s = group;
  s.options.checks = false;
  expectRight(product(), 17, s);
  Result early = run(product().without(wait), 0, s);
  EXPECT_FALSE(early.report.fault);
  EXPECT_TRUE(std::isnan(real(early.outputs[0][0])));
  // Operands are read when the wait demands it: a quarter of a is 0 by then, and a quarter of b.
  Result late = run(product().with(commit, commit + ";\nmov.b32 %r5, 0;"), 0, s);
  EXPECT_EQ(real(late.outputs[0][0]), 17);
  EXPECT_EQ(real(late.outputs[2][0]), 9);
  expectRight(product().with(commit, commit + ";\nst.shared.b32 [%r0], 0;\nbar.sync 0;"), 13, s);
}

TEST(PtxProductFault, AChainNeedsOneFence) {
  std::string again = mma + sums + "%d0, 1, 1, 1, 0;\n";
  expectRight(product().with(commit, again + commit + ";"), 33);
  expectRight(product().with(commit, commit + ";\n" + again + commit + ";"), 33);
  expectRight(product().with(wait, wait + " 0;\n" + again + commit + ";\n" + wait + " 0;"), 33);
  // The first group is complete, yet the second one still adds to the same registers.
  expectFault(product().with(wait, again + commit + ";\n" + wait + " 1;"), FaultKind::InFlight,
              "reads '%o0', which wgmma at line 31 still uses: requires wgmma.wait_group before it");
  // A later product that drops the sum ends the chain before it.
  expectRight(product().with(commit, mma + sums + "%d0, 0, 1, 1, 0;\n" + commit + ";"), 16);
}

TEST(PtxProductFault, MissingFence) {
  expectFault(product().without(fence), FaultKind::Unfenced,
              "requires wgmma.fence before the first wgmma.mma_async");
  std::string between = ": requires wgmma.fence between", again = mma + sums + "%d0, 1, 1, 1, 0;\n";
  auto after = [&](const std::string &line) { return product().with(fence, fence + ";\n" + line); };
  expectFault(after("mov.b32 %o3, 0;"), FaultKind::Unfenced, "uses '%o3', which line 29 writes" + between);
  expectFault(after("mov.b32 %r3, %o3;"), FaultKind::Unfenced, "uses '%o3', which line 29 reads" + between);
  expectFault(after("mov.b32 %r6, %r4;"), FaultKind::Unfenced, "uses '%r6', which line 29 writes" + between);
  expectRight(after("mov.b32 %r3, %r4;"), 17); // a fragment is read twice
  expectRight(after("mov.b32 %o3, %o0;\n" + fence + ";"), 17);
  // Between two products.
  std::string scale = "add.f32 %o0, %o0, %o1;\nsub.f32 %o0, %o0, %o1;\n", end = commit + ";\n" + wait + " 0;";
  expectFault(product().with(wait, wait + " 0;\n" + scale + again + end), FaultKind::Unfenced,
              "uses '%o0', which line 33 writes" + between);
  expectRight(product().with(wait, wait + " 0;\n" + scale + fence + ";\n" + again + end), 33);
  // Without the sum's old value: a write is dead, a read is not.
  std::string from0 = mma + sums + "%d0, 0, 1, 1, 0;\n";
  expectRight(product().with(wait, wait + " 0;\nmov.b32 %o0, 0;\n" + from0 + end), 16);
  expectRight(product().with(wait, wait + " 0;\nmov.b32 %o0, 0;\n" + from0 + again + end), 32);
  expectFault(product().with(wait, wait + " 0;\nmov.b32 %r3, %o0;\n" + from0 + end), FaultKind::Unfenced,
              "uses '%o0', which line 32 reads" + between);
}

TEST(PtxProductFault, OtherShapesAndFragmentsOfASum) {
  std::string wide =
                  "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%o0, %o1, %o2, %o3, %r8, %r9, %r10, "
                  "%r11}, {%r4, %r5, %r6, %r7}, %d0, 0, 1, 1, 0;\n",
              end = commit + ";\n" + wait + " 0;";
  expectFault(product().with(wait, wait + " 0;\n" + wide + end), FaultKind::Unfenced,
              "uses '%o0', which line 29 adds to in another shape: requires wgmma.fence between");
  expectRight(product().with(wait, wait + " 0;\n" + fence + ";\n" + wide + end), 16);
  expectFault(product().with(commit, wide + commit + ";"), FaultKind::InFlight,
              "adds to '%o0', which wgmma at line 29 still uses: requires wgmma.wait_group before it");
  std::string chained = mma + " {%r8, %r9, %r10, %r11}, {%o0, %o1, %o2, %o3}, %d0, 0, 1, 1, 0;\n";
  expectFault(product().with(commit, chained + commit + ";"), FaultKind::InFlight,
              "reads '%o0', which wgmma at line 29 still uses: requires wgmma.wait_group before it");
  expectFault(product().with(wait, wait + " 0;\n" + chained + end), FaultKind::Unfenced,
              "uses '%o0', which line 29 adds to: requires wgmma.fence between");
  expectRight(product().with(wait, wait + " 0;\n" + fence + ";\n" + chained + end), 17);
  // Two products may read the same fragments.
  expectRight(product().with(commit, mma +
                                         " {%r8, %r9, %r10, %r11}, {%r4, %r5, %r6, %r7}, %d0, 0, 1, 1, 0;\n" +
                                         commit + ";"),
              17);
}

TEST(PtxProductFault, Uninitialised) {
  expectFault(product().with("mov.b32 %o0", "mov.b32 %o0, 0; mov.b32 %o1, 0; mov.b32 %o2, 0;"),
              FaultKind::UninitialisedRegister, "adds to '%o3', which has no value yet");
  expectRight(product().without("mov.b32 %o0").with(mma, mma + sums + "%d0, 0, 1, 1, 0;"), 16);
  expectFault(product()
                  .with("mov.b64 %d0", "mov.b64 %d0, 0x8000a0000;")
                  .with("st.shared", "setp.lt.u32 %p0, %t, 16;\n@%p0 " + product().lines[5]),
              FaultKind::UninitialisedShared, "reads shared address 0x100, that nobody has written");
}

TEST(PtxProductFault, ProxyFence) {
  std::string store = "st.shared";
  auto end = [](unsigned warp, unsigned line) {
    return "reads shared address 0x0, that warp " + std::to_string(warp) + " wrote at line " +
           std::to_string(line) + ": requires its fence.proxy.async between that and the barrier";
  };
  expectFault(product().without("fence.proxy"), FaultKind::Unfenced, end(0, 24));
  for (const char *kind : {".shared::cta", ".shared::cluster"})
    expectRight(product().with("fence.proxy", "fence.proxy.async" + std::string(kind) + ";"), 17);
  expectFault(product().with("fence.proxy", "fence.proxy.async.global;"), FaultKind::Unfenced, end(0, 24));
  // Before the bytes are written.
  expectFault(product().without("fence.proxy").with(store, "fence.proxy.async;\n" + product().lines[5]),
              FaultKind::Unfenced, end(0, 25));
}

TEST(PtxProductFault, ProxyFenceComesBeforeTheBarrier) {
  // Warp 3 writes what all read.
  std::string write = "setp.ge.u32 %p0, %t, 96;\nand.b32 %r1, %r1, 511;\nmov.u32 %r0, s;\nadd.u32 %r0, %r0, "
                      "%r1;\n@%p0 " +
                      product().lines[5];
  Body body = product().with("st.shared", write);
  expectRight(body, 17);
  std::string end = "requires its fence.proxy.async between that and the barrier";
  expectFault(body.without("fence.proxy").with("bar.sync", "bar.sync 0;\nfence.proxy.async;"),
              FaultKind::Unfenced, "reads shared address 0x0, that warp 3 wrote at line 28: " + end);
  // Another warp's fence does not help.
  expectFault(body.with("fence.proxy", "@!%p0 fence.proxy.async;"), FaultKind::Unfenced, end);
  expectRight(body.with("fence.proxy", "@%p0 fence.proxy.async;"), 17);
}

TEST(PtxProductFault, CpAsyncIsOrdinary) {
  Setting s = group;
  s.declarations += ".global .align 16 .b32 g[4] = {0x3f803f80, 0x3f803f80, 0x3f803f80, 0x3f803f80};\n";
  Body copy = product().with("st.shared", "mov.u64 %d1, g;\ncp.async.cg.shared.global [%r0], [%d1], 16;\n"
                                          "cp.async.wait_all;");
  expectRight(copy, 17, s);
  expectFault(copy.without("fence.proxy"), FaultKind::Unfenced, "between that and the barrier", s);
  // The copy ends after the fence.
  expectFault(product()
                  .with("st.shared", "mov.u64 %d1, g;\ncp.async.cg.shared.global [%r0], [%d1], 16;\n"
                                     "fence.proxy.async;\ncp.async.wait_all;")
                  .without("fence.proxy"),
              FaultKind::Unfenced, "between that and the barrier", s);
}

TEST(PtxProductFault, CopiesThatAnMbarrierCountsAreFencedByWhoWaits) { // no one else could
  Setting s = group;
  s.declarations = ".global .align 16 .b32 g[4] = {0x3f803f80, 0x3f803f80, 0x3f803f80, 0x3f803f80};\n.shared "
                   ".align 1024 .b8 s[2048];\n.shared .align 8 .b64 m[1];\n";
  Body body =
      product()
          .with("st.shared", "setp.eq.u32 %p0, %t, 0;\n@%p0 mbarrier.init.shared.b64 [m], 128;\nbar.sync "
                             "0;\nmov.u64 %d1, g;\ncp.async.cg.shared.global [%r0], [%d1], "
                             "16;\ncp.async.mbarrier.arrive.noinc.shared.b64 [m];\nW: "
                             "mbarrier.try_wait.parity.shared.b64 %p1, [m], 0;\n@!%p1 bra W;")
          .without("bar.sync");
  expectRight(body, 17, s);
  expectFault(body.without("fence.proxy"), FaultKind::Unfenced,
              "that a copy at line 30 wrote: requires fence.proxy.async after the wait for its mbarrier", s);
}

TEST(PtxProductFault, BytesThatAreBeingRead) {
  std::string end = "requires wgmma.wait_group before it";
  // By another warp, or by the same one.
  {
    std::string write = "setp.lt.u32 %p0, %t, 16;\n@%p0 st.shared.b32 [%r0], 0;\n";
    Body early = product().with(commit, commit + ";\nbar.sync 0;\n" + write);
    expectFault(early, FaultKind::Race, end);
    expectRight(product().with(wait, wait + " 0;\nbar.sync 0;\n" + write), 17);
  }
  // What was read needs a barrier before another warp writes.
  Body late = product().with(wait, wait + " 0;\nsetp.ge.u32 %p0, %t, 112;\nsub.u32 %r0, %r0, 1792;\n@%p0 "
                                          "st.shared.b32 [%r0], 0;");
  for (uint64_t seed = 0; seed < 4; ++seed) {
    RunReport r = run(late, seed).report;
    ASSERT_TRUE(r.fault);
    EXPECT_EQ(r.fault->kind, FaultKind::Race) << r.fault->message;
  }
}

// All threads of a warp execute wgmma.wait_group together (PTX ISA, its qualifier .sync): so one lane's
// arrival tells that the warp's products have read, though not what its other lanes did.
TEST(PtxProductFault, ArrivalOfOneLaneTellsThatProductsHaveRead) {
  Setting s = group;
  s.threads = 160;
  s.declarations = ".shared .align 1024 .b8 s[4096];\n.shared .align 8 .b64 m[1];\n";
  std::string ownRead = "ld.shared.b32 %r3, [s+1024];\n", // beyond b
      arrival = "@%p0 mbarrier.arrive.shared::cta.b64 _, [m];\nbra END;\n",
              writer = "WRITER: mbarrier.try_wait.parity.shared.b64 %p1, [m], 0;\n@!%p1 bra WRITER;\n";
  auto body = [&](const std::string &last, const std::string &written) {
    return product()
        .with("bar.sync", "setp.eq.u32 %p0, %t, 0;\n@%p0 mbarrier.init.shared.b64 [m], 4;\nbar.sync 0;\n"
                          "and.b32 %r2, %t, 31;\nsetp.eq.u32 %p0, %r2, 0;\nsetp.ge.u32 %p1, %t, 128;\n"
                          "@%p1 bra WRITER;")
        .with(wait, last + writer + "mov.u32 %r1, s;\nst.shared.b32 [%r1" + written +
                        "], 0;\nmov.b32 %o0, 0; mov.b32 %o1, 0; mov.b32 %o2, 0; mov.b32 %o3, 0;\nEND:");
  };
  for (uint64_t seed = 0; seed < 8; ++seed) {
    auto faultOf = [&](const std::string &last, const std::string &written) {
      return run(body(last, written), seed, s).report.fault;
    };
    auto none = faultOf(wait + " 0;\n" + ownRead + arrival, "");
    EXPECT_FALSE(none) << none->message;
    auto ofLanes = faultOf(wait + " 0;\n" + ownRead + arrival, "+1024");
    ASSERT_TRUE(ofLanes);
    EXPECT_EQ(ofLanes->kind, FaultKind::Race) << ofLanes->message;
    EXPECT_FALSE(faultOf(wait + " 0;\n" + ownRead + "bar.warp.sync -1;\n" + arrival, "+1024"));
    std::string early = arrival;
    early.insert(early.find("bra"), wait + " 0;\n");
    auto tooEarly = faultOf(early, "");
    ASSERT_TRUE(tooEarly);
    EXPECT_EQ(tooEarly->kind, FaultKind::Race) << tooEarly->message;
  }
}

TEST(PtxProductFault, EveryWarpReadsAllOfA) { // though it needs 16 rows alone
  // a is ones at s, 64 rows by 16: two columns of core matrices, 1024 bytes each.
  Body body = product().with("mov.b64 %d0", "mov.b64 %d0, 0x800080000;\nmov.b64 %d1, 0x800400000;");
  body = body.with(mma, mma + " {%o0, %o1, %o2, %o3}, %d1, %d0, 1, 1, 1, 0, 0;");
  expectRight(body, 17);
  // Warp 3 writes to its last row after its own wait.
  std::string write = "setp.eq.u32 %p0, %t, 127;\n@%p0 st.shared.b32 [%r0], 0;";
  expectRight(body.with(wait, wait + " 0;\nbar.sync 0;\n" + write), 17);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    RunReport r = run(body.with(wait, wait + " 0;\n" + write), seed).report;
    ASSERT_TRUE(r.fault);
    EXPECT_EQ(r.fault->kind, FaultKind::Race) << r.fault->message;
  }
}

TEST(PtxProductFault, WarpsOfAGroupAgree) {
  std::string odd = "setp.lt.u32 %p0, %t, 64;\n";
  expectFault(product().with(fence, odd + "selp.b64 %d0, %d0, 0x800080001, %p0;\n" + fence + ";"),
              FaultKind::Divergent, " differ");
  expectFault(product().with(mma, odd + mma + sums + "%d0, %p0, 1, 1, 0;"), FaultKind::Divergent, " differ");
  Body fewer =
      product().with(wait, wait + " 0;\n" + odd + "@%p0 bra SKIP;\n" + fence + ";\nSKIP:\n" + commit + ";");
  for (uint64_t seed = 0; seed < 4; ++seed) {
    RunReport r = run(fewer, seed).report;
    ASSERT_TRUE(r.fault);
    EXPECT_EQ(r.fault->kind, FaultKind::Divergent);
    EXPECT_NE(r.fault->message.find("requires the same in all four warps of the warpgroup, but warp "),
              std::string::npos)
        << r.fault->message;
  }
}

TEST(PtxProductFault, AllWarpsOfAGroupTakePart) {
  Body exits = product().with(fence, "setp.ge.u32 %p0, %t, 96;\n@%p0 bra OUT;\n" + fence + ";");
  exits.lines.push_back("OUT:");
  std::set<std::string> ends;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RunReport r = execute(exits.text(), {}, 0,
                          {.threads = 128, .options = {.seed = seed}, .declarations = group.declarations})
                      .report;
    ASSERT_TRUE(r.fault);
    EXPECT_EQ(r.fault->kind, FaultKind::Divergent);
    ends.insert(r.fault->message.substr(r.fault->message.find("0,0): ") + 6));
  }
  for (const std::string &end : ends)
    EXPECT_TRUE(end == "requires all four warps of the warpgroup, but warp 3 has exited" ||
                (end.starts_with("exits, but warp ") &&
                 end.ends_with(" of its warpgroup executes line 30 'wgmma.fence.sync.aligned'")))
        << end;
  Setting half{.threads = 160, .declarations = ".shared .align 1024 .b8 s[4096];\n"};
  expectFault(product(), FaultKind::Divergent,
              "requires a warpgroup of four warps, but warp 4 is in the last group of a block of 5", half);
}

TEST(PtxProductFault, LanesAgree) {
  expectFault(
      product().with(fence, "and.b32 %r3, %t, 31;\nsetp.lt.u32 %p0, %r3, 5;\nselp.b64 %d0, %d0, 0x800080001, "
                            "%p0;\n" +
                                fence + ";"),
      FaultKind::Divergent,
      "requires one descriptor of b for the warp, but got 0x800080000 in lane 0 and 0x800080001 in lane 5");
  expectFault(product().with(mma, "and.b32 %r3, %t, 31;\nsetp.lt.u32 %p0, %r3, 5;\n" + mma + sums +
                                      "%d0, %p0, 1, 1, 0;"),
              FaultKind::Divergent, "requires one scale of d for the warp, but lanes differ");
}

TEST(PtxProductFault, Descriptors) {
  auto of = [](const std::string &descriptor, const std::string &transposition = "0") {
    return product()
        .with("mov.b64 %d0", "mov.b64 %d0, " + descriptor + ";")
        .with(mma, mma + sums + "%d0, 1, 1, 1, " + transposition + ";");
  };
  auto expect = [&](const Body &body, const std::string &end) {
    expectFault(body, FaultKind::Malformed, end);
  };
  expect(of("0x800084000"), "expected a descriptor of b with zeros in its reserved bits, but got 0x4000");
  expect(of("0x6000000800080000"),
         "expected a descriptor of b with zeros in its reserved bits, but got 0x2000000000000000");
  expect(of("0x4002004000010000"), "unsupported base offset 1 in the descriptor of b");
  // K-major, swizzle of 128: eight lines of 128 bytes.
  expectRight(of("0x4000004000010000"), 17);
  expectRight(of("0x4000004000010006"), 17);
  expect(of("0x4000004000010007"), "expected a descriptor of b that starts at 0 to 96 of the 1024 bytes of a "
                                   "swizzle's pattern, but got 112");
  expect(of("0x4000004000010008"), "expected a descriptor of b that starts at 0 to 96 of the 1024 bytes of a "
                                   "swizzle's pattern, but got 128");
  // MN-major, swizzle of 32: eight lines of 32 bytes, the next eight lines after SBO.
  expectRight(of("0xc000001000010000", "1"), 17);
  expect(of("0xc000000800010000", "1"), "expected a stride of b in multiples of 256 bytes, but got 128");
  expect(of("0xc000001000010002", "1"),
         "expected a descriptor of b that starts at 0 to 16 of the 256 bytes of a "
         "swizzle's pattern, but got 32");
  expectFault(of("0x80008007f"), FaultKind::OutOfBounds,
              "reads b at shared address 0x870, outside of its 2048 bytes");
  std::string left =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%o0, %o1, %o2, %o3}, %d1, %d0, 1, 1, 1, 1, 0;";
  expect(product().with(mma, "mov.b64 %d1, 0xc000001000080000;\n" + left),
         "expected a stride of a in multiples of 256 bytes, but got 128");
}

} // namespace
} // namespace taylor::runtime::ptx
