// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel with asynchronous copies, barriers and a swizzle (Inputs/product.ptx) as it is, and with every one
// of them broken in turn.
#include "Mutation.h"
#include "Fixture.h"
#include "RoleMutation.h"
#include "Unawaited.h"
#include <fstream>
#include <random>
#include <sstream>

namespace taylor::runtime::ptx {
namespace {

std::string product() {
  std::ifstream file(TAYLOR_PTX_INPUTS "/product.ptx");
  EXPECT_TRUE(file);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Outcome {
  RunReport report;
  bool right; ///< the product is exact
};

Outcome run(const std::string &text, uint64_t seed, bool checks, unsigned steps = 4) {
  std::mt19937 random(7);
  std::vector<uint16_t> a(steps * 32 * 16), b(steps * 16 * 8);
  auto value = [](uint16_t x) { return std::bit_cast<float>(uint32_t(x) << 16); };
  for (auto *all : {&a, &b})
    for (uint16_t &x : *all)
      x = uint16_t(bits(float(random() % 9) - 4) >> 16);
  std::vector<float> c(32 * 8, -1), expected(32 * 8);
  for (unsigned s = 0; s < steps; ++s)
    for (unsigned m = 0; m < 32; ++m)
      for (unsigned n = 0; n < 8; ++n)
        for (unsigned k = 0; k < 16; ++k)
          expected[8 * m + n] += value(a[(s * 32 + m) * 16 + k]) * value(b[(s * 16 + k) * 8 + n]);
  // Copies of 16 bytes want 16-byte aligned sources.
  struct alignas(16) Chunk {
    std::byte bytes[16];
  };
  std::vector<Chunk> alignedA(a.size() / 8), alignedB(b.size() / 8);
  std::memcpy(alignedA.data(), a.data(), 2 * a.size());
  std::memcpy(alignedB.data(), b.data(), 2 * b.size());
  struct {
    const void *a, *b, *c;
    uint32_t steps, rest;
  } parameters{alignedA.data(), alignedB.data(), c.data(), steps, 0};
  MemoryRange memory[] = {{alignedA.data(), 2 * a.size(), "a", false},
                          {alignedB.data(), 2 * b.size(), "b", false},
                          {c.data(), 4 * c.size(), "c"}};
  RunReport r =
      launch(parse(text), "product", {}, {64}, 4096, std::as_bytes(std::span(&parameters, 1)).first(28),
             memory, {.seed = seed, .checks = checks, .profile = true});
  return {r, c == expected};
}

TEST(PtxMutation, TheKernelIsRight) {
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (unsigned steps : {1u, 2u, 5u}) {
      Outcome o = run(product(), seed, true, steps);
      EXPECT_EQ(o.report.fault ? o.report.fault->message : "", "");
      EXPECT_TRUE(o.right);
      EXPECT_EQ(o.report.profile.bankConflicts, 0u);
      EXPECT_EQ(o.report.profile.issued[Profile::Matrix], 2u * steps);
      EXPECT_EQ(o.report.profile.globalRead, steps * (1024 + 256u));
    }
}

TEST(PtxMutation, EveryWaitAndBarrierIsNeeded) {
  unsigned tried = 0;
  for (const Mutation &mutation : mutationsOf(product())) {
    if (mutation.kind == Break::RemoveXor)
      continue;
    ++tried;
    for (uint64_t seed = 0; seed < 10; ++seed) {
      Outcome o = run(mutation.text, seed, true);
      ASSERT_TRUE(o.report.fault) << mutation.line << ": " << mutation.original;
      EXPECT_TRUE(o.report.fault->kind == FaultKind::InFlight || o.report.fault->kind == FaultKind::Race ||
                  o.report.fault->kind == FaultKind::UninitialisedShared)
          << o.report.fault->message;
      if (mutation.kind != Break::RemoveBarrier) // also without checks: what is read too early is NaN
        EXPECT_FALSE(run(mutation.text, seed, false).right) << mutation.line << ": " << mutation.original;
    }
  }
  EXPECT_EQ(tried, 5u); // a barrier, a wait removed and loosened, two commits
}

TEST(PtxMutation, EveryInstructionThatMayBreakIsFound) {
  std::string text =
      "\tbar.sync \t0;\n@%p1 bar.sync 1, 64;\nbarrier.sync 0;\nbar.arrive 1, 64;\ncp.async.wait_group 12;\n"
      "cp.async.wait_all;\ncp.async.commit_group;\nxor.b32 \t%r7, %r5, %r6;\nxor.b64 %d1, %d2, %d3;\n";
  std::vector<std::pair<size_t, std::string>> expected = {{1, "\t"},
                                                          {2, ""},
                                                          {3, ""},
                                                          {5, ""},
                                                          {5, "cp.async.wait_group 13;"},
                                                          {6, ""},
                                                          {7, ""},
                                                          {8, "mov.b32 \t%r7, %r5;"}};
  std::vector<Mutation> found = mutationsOf(text);
  ASSERT_EQ(found.size(), expected.size()) << listOf(found);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].line, expected[i].first);
    std::istringstream stream(found[i].text);
    std::string line;
    for (size_t n = 0; n < found[i].line; ++n)
      std::getline(stream, line);
    EXPECT_EQ(line, expected[i].second);
  }
}

TEST(PtxMutation, EveryInstructionOfHopperThatMayBreakIsFound) {
  using Changes = std::vector<std::string>;
  auto of = [](const std::string &line) {
    Changes changes;
    for (const Mutation &mutation : mutationsOf(line + "\n"))
      changes.push_back(mutation.text.substr(0, mutation.text.size() - 1));
    return changes;
  };
  EXPECT_EQ(of("wgmma.wait_group.sync.aligned \t1;"), (Changes{"", "wgmma.wait_group.sync.aligned \t2;"}));
  EXPECT_EQ(of("cp.async.bulk.wait_group.read 0;"), (Changes{"", "cp.async.bulk.wait_group.read 1;"}));
  for (const char *removed :
       {"wgmma.commit_group.sync.aligned;", "cp.async.bulk.commit_group;", "wgmma.fence.sync.aligned;",
        "fence.proxy.async.shared::cta;", "@%p1 fence.mbarrier_init.release.cluster;",
        "mbarrier.arrive.shared.b64 \t%rd1, [%r1+8];", "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];"})
    EXPECT_EQ(of(removed), (Changes{""})) << removed;
  EXPECT_EQ(of("mbarrier.try_wait.parity.shared.b64 P1, [%r1], 0, 10000000;"),
            (Changes{"mbarrier.try_wait.parity.shared.b64 P1, [%r1], 1, 10000000;"}));
  EXPECT_EQ(of("mbarrier.test_wait.parity.shared.b64 %p1, [%r1], %r2;"),
            (Changes{"xor.b32 %r2, %r2, 1; mbarrier.test_wait.parity.shared.b64 %p1, [%r1], %r2; xor.b32 "
                     "%r2, %r2, 1; "}));
  EXPECT_EQ(of("mbarrier.init.shared.b64 [%r1], 4;"),
            (Changes{"mbarrier.init.shared.b64 [%r1], 3;", "mbarrier.init.shared.b64 [%r1], 5;"}));
  EXPECT_EQ(of("mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], %r2;"),
            (Changes{"add.s32 %r2, %r2, -16; mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], %r2; add.s32 "
                     "%r2, %r2, 16; ",
                     "add.s32 %r2, %r2, 16; mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], %r2; add.s32 "
                     "%r2, %r2, -16; "}));
  EXPECT_EQ(of("mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 512;"),
            (Changes{"", "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 496;",
                     "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 528;"}));
  EXPECT_EQ(of("elect.sync %r1|%p1, -1;"), (Changes{"setp.eq.u32 %p1, 0, 0;"}));
}

TEST(PtxMutation, SignalsCopiesChoicesAndRegisters) {
  using Changes = std::vector<std::string>;
  auto of = [](const std::string &lines) {
    Changes changes;
    for (const Mutation &mutation : RoleMutations(lines + "\n").all)
      changes.push_back(nameOf(mutation.kind) + ("|" + mutation.text.substr(0, mutation.text.size() - 1)));
    return changes;
  };
  EXPECT_EQ(
      of("mbarrier.try_wait.parity.shared.b64 P1, [%r1], %r2;\n@P1 bra DONE;\nbra WAIT;"),
      (Changes{
          "a wait that goes on|mbarrier.test_wait.parity.shared.b64 P1, [%r1], %r2;\n@P1 bra DONE;\n",
          "another signal|mbarrier.try_wait.parity.shared.b64 P1, [%r1+8], %r2;\n@P1 bra DONE;\nbra WAIT;",
          "another signal|mbarrier.try_wait.parity.shared.b64 P1, [%r1+16], %r2;\n@P1 bra DONE;\nbra "
          "WAIT;"}));
  EXPECT_EQ(of("mbarrier.try_wait.parity.shared.b64 %p1, [m], 0;\n@!%p1 bra W;"),
            (Changes{"a wait that goes on|mbarrier.test_wait.parity.shared.b64 %p1, [m], 0;\n"}));
  EXPECT_EQ(of("@%p1 mbarrier.arrive.shared.b64 _, [%r1];"),
            (Changes{"another signal|@%p1 mbarrier.arrive.shared.b64 _, [%r1+8];",
                     "another signal|@%p1 mbarrier.arrive.shared.b64 _, [%r1+16];",
                     "no choice|mbarrier.arrive.shared.b64 _, [%r1];"}));
  std::string head = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes ";
  std::string one = "{ .reg .b32 %mutated; add.s32 %mutated, ";
  EXPECT_EQ(of(head + "[%r1], [%rd2, {0, %r3}], [%r4];"),
            (Changes{"another signal|" + head + "[%r1], [%rd2, {0, %r3}], [%r4+8];",
                     "another signal|" + head + "[%r1], [%rd2, {0, %r3}], [%r4+16];", "no copy|",
                     "another box|" + head + "[%r1+1024], [%rd2, {0, %r3}], [%r4];",
                     "another box|" + one + "0, 1; " + head + "[%r1], [%rd2, {%mutated, %r3}], [%r4]; }",
                     "another box|" + one + "%r3, 1; " + head + "[%r1], [%rd2, {0, %mutated}], [%r4]; }"}));
  EXPECT_EQ(of("cp.async.cg.shared.global [%r1], [%rd1], 16, %r2;"), (Changes{"no copy|"}));
  EXPECT_EQ(of("@%p1 bra $L1;\nmbarrier.init.shared.b64 [%r1], 1;"),
            (Changes{"no choice|\nmbarrier.init.shared.b64 [%r1], 1;"}));
  EXPECT_EQ(of("setmaxnreg.dec.sync.aligned.u32 32;\n@%p1 bra $L1;"),
            (Changes{"other registers|\n@%p1 bra $L1;",
                     "other registers|setmaxnreg.dec.sync.aligned.u32 24;\n@%p1 bra $L1;",
                     "other registers|setmaxnreg.dec.sync.aligned.u32 40;\n@%p1 bra $L1;",
                     "no choice|setmaxnreg.dec.sync.aligned.u32 32;\n"}));
  EXPECT_EQ(of("@%p1 bra $L1;\nret;"), Changes());
  EXPECT_EQ(of("bar.sync %r3, 128;"),
            (Changes{"another barrier|bar.sync 1, 128;", "another barrier|bar.sync %r3, 64;",
                     "another barrier|bar.sync %r3, 256;"}));
  EXPECT_EQ(of("bar.warp.sync -1;"), (Changes{"no barrier of the warp|"}));
  EXPECT_EQ(of("cp.async.mbarrier.arrive.shared.b64 [m];"),
            (Changes{"other pieces|cp.async.mbarrier.arrive.noinc.shared.b64 [m];"}));
  EXPECT_EQ(of("griddepcontrol.wait;"), (Changes{"no dependency|"}));
  // A counter is what a parity comes from.
  std::string parity = "\nbfe.u32 %r2, %r1, 1, 1;\nmbarrier.test_wait.parity.shared.b64 P1, [m], %r2;";
  EXPECT_EQ(of("add.s32 %r1, %r1, 1;" + parity),
            (Changes{"a counter that stays|add.s32 %r1, %r1, 0;" + parity}));
  EXPECT_EQ(of("add.s32 %r3, %r3, 1;" + parity), Changes());
}

TEST(PtxMutation, PlacesAreNamedByWhatIsAround) {
  MutationPlaces places("add.s32 %r1, %r9, 64;\nmbarrier.init.shared.b64 [%r1], 1;\n"   // 1
                        "add.s32 %r2, %r9, 72;\nmbarrier.init.shared.b64 [%r2], 1;\n"   // 3
                        "bar.sync 0;\nadd.s32 %r3, %r10, 72;\n"                         // 5
                        "mbarrier.try_wait.parity.shared.b64 P1, [%r3], %r4;\n"         // 7
                        "wgmma.fence.sync.aligned;\n"                                   // 8
                        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%r5};\n" // 9
                        "wgmma.commit_group.sync.aligned;\nmov.b32 %r6, %r7;\n"         // 10
                        "wgmma.wait_group.sync.aligned 0;\n");                          // 12
  EXPECT_EQ(places.of(7), "mbarrier.try_wait 1, after bar.sync 0, before wgmma.fence");
  EXPECT_EQ(places.of(9), "step 1 of m64n64k16, after mbarrier.try_wait 1, before wgmma.commit_group");
  EXPECT_EQ(places.of(11), "after wgmma.commit_group, before wgmma.wait_group 0");
  EXPECT_EQ(places.of(12), "wgmma.wait_group 0, after wgmma.commit_group, before the end");
}

TEST(PtxMutation, ArrivalsMoveBeforeTheWaitForAProduct) {
  std::vector<Mutation> found =
      mutationsOf("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
                  "add.s32 %r1, %r1, 1;\nmbarrier.arrive.shared.b64 _, [%r2];\n");
  std::erase_if(found, [](const Mutation &mutation) { return mutation.kind != Break::EarlyArrive; });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text, "wgmma.commit_group.sync.aligned;\nmbarrier.arrive.shared.b64 _, "
                           "[%r2];\nwgmma.wait_group.sync.aligned 0;\nadd.s32 %r1, %r1, 1;\n");
}

TEST(PtxMutation, FieldsOfDescriptorsAndTranspositions) {
  std::map<std::string, unsigned> count;
  std::string text;
  for (const Mutation &mutation :
       mutationsOf("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%c0, %c1,\n%c2, "
                   "%c3}, %rd1, %rd2, p, 1, 1, 0, 1;\nret;\n")) {
    ++count[mutation.detail.substr(0, 1)];
    if (mutation.kind == Break::Transpose || mutation.detail == "b, MN-major: base")
      text += mutation.text;
  }
  EXPECT_EQ(count, (std::map<std::string, unsigned>{{"a", 10}, {"b", 10}}));
  std::string
      begin =
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%c0, %c1,\n%c2, %c3}, %rd1, %rd2, p, 1, 1, ",
      flip = "xor.b64 %rd2, %rd2, 562949953421312; ";
  EXPECT_EQ(text,
            begin + "1, 1;\nret;\n" + flip + begin + "0, 1; " + flip + "\nret;\n" + begin + "0, 0;\nret;\n");
  // With a in registers there is one transposition.
  EXPECT_EQ(
      mutationsOf("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%c0, %c1, %c2, %c3}, {%r0, %r1, %r2, "
                  "%r3}, %rd2, 1, 1, 1, 1;\n")
          .size(),
      10u);
}

TEST(PtxMutation, CommitsThatNoWaitConcernsAreProved) {
  std::string text = ".entry a()\n"              // 1
                     "@%p1 bra $L2;\n"           // 2
                     "cp.async.commit_group;\n"  // 3: no wait after it
                     "ret;\n"                    // 4
                     "$L2:\n"                    // 5
                     "cp.async.commit_group;\n"  // 6: no wait before the one of line 11
                     "bra.uni $L4;\n"            // 7
                     "$L3:\n"                    // 8
                     "cp.async.wait_group 0;\n"  // 9
                     "$L4:\n"                    // 10
                     "cp.async.commit_group;\n"  // 11: by the jump back
                     "@!%p2 bra \t$L3;\n"        // 12
                     "cp.async.commit_group;\n"  // 13: after the loop
                     "ret;\n"                    // 14
                     ".entry b()\n"              // 15
                     "$L2:\n"                    // 16
                     "cp.async.wait_group 1;\n"; // 17
  auto unawaited = [](const std::string &text) {
    std::vector<size_t> found;
    for (size_t line : {3, 6, 11, 13})
      if (isNeverAwaited(text, line))
        found.push_back(line);
    return found;
  };
  EXPECT_EQ(unawaited(text), (std::vector<size_t>{3, 6, 13}));
  // A wait that leaves groups open counts them.
  text.replace(text.find("wait_group 0"), 12, "wait_group 2");
  EXPECT_EQ(unawaited(text), (std::vector<size_t>{3, 13}));
}

/// A loop in which the test of a commit's path is, turned around, the loop's own; `between` comes before the
/// latter.
std::string loopThatEnds(const std::string &off, const std::string &between, const std::string &more) {
  return ".entry a()\n"             // 1
         "$L1:\n"                   // 2
         "cp.async.wait_group 1;\n" // 3
         + off +
         " %p1, %rd1, %rd2;\n"      // 4
         "@%p1 bra $L2;\n"          // 5
         "cp.async.commit_group;\n" // 6: the next iteration waits
         "bra.uni $L3;\n"           // 7
         "$L2:\n"                   // 8
         "cp.async.commit_group;\n" // 9
         "$L3:\n"                   // 10
         + between + "\n"           // 11
         + more +
         " %p2, %rd1, %rd2;\n"       // 12
         "add.s64 %rd1, %rd1, 64;\n" // 13
         "@%p2 bra $L1;\n"           // 14
         "ret;\n";                   // 15
}

TEST(PtxMutation, CommitsOfALoopsLastIterationAreProved) {
  std::string text = loopThatEnds("setp.ge.s64", "", "setp.lt.s64");
  EXPECT_TRUE(isNeverAwaited(text, 9));
  EXPECT_FALSE(isNeverAwaited(text, 6));
  EXPECT_TRUE(isNeverAwaited(loopThatEnds("setp.eq.s64", "add.s64 %rd10, %rd1, 1;", "setp.ne.s64"), 9));
  EXPECT_TRUE(isNeverAwaited(loopThatEnds("setp.le.s64", "cp.async.commit_group;", "setp.gt.s64"), 9));
  // Another test, another type, another number; a test of floats, which may be false both ways.
  EXPECT_FALSE(isNeverAwaited(loopThatEnds("setp.ge.s64", "", "setp.le.s64"), 9));
  EXPECT_FALSE(isNeverAwaited(loopThatEnds("setp.ge.s64", "", "setp.lt.u64"), 9));
  EXPECT_FALSE(isNeverAwaited(loopThatEnds("setp.ge.f64", "", "setp.lt.f64"), 9));
  for (const char *change : {"add.s64 %rd1, %rd1, 1;", "@%p3 mov.b64 %rd2, 0;",
                             "ld.v2.b64\n {%rd7, %rd2}, [%rd9];", "ld.v2.b64 {%rd7, %rd1}, [%rd9];"})
    EXPECT_FALSE(isNeverAwaited(loopThatEnds("setp.ge.s64", change, "setp.lt.s64"), 9)) << change;
}

TEST(PtxMutation, CommitsBeforeALoopThatDoesNotRunAreProved) {
  auto text = [](const std::string &change) {
    return ".entry a()\n"             // 1
           "@%p1 bra $L1;\n"          // 2
           "cp.async.commit_group;\n" // 3
           "bra.uni $L2;\n"           // 4
           "$L1:\n"                   // 5
           "cp.async.commit_group;\n" // 6
           "$L2:\n" +                 // 7
           change +                   // 8
           "\n@%p1 bra $L3;\n"        // 9
           "cp.async.wait_group 1;\n" // 10
           "$L3:\n"                   // 11
           "ret;\n";                  // 12
  };
  EXPECT_TRUE(isNeverAwaited(text(""), 6));
  EXPECT_FALSE(isNeverAwaited(text(""), 3));
  EXPECT_FALSE(isNeverAwaited(text("not.pred %p1, %p2;"), 6));
  EXPECT_FALSE(isNeverAwaited(text("setp.ne.s32 %p1, %r1, 0;"), 6));
  EXPECT_FALSE(isNeverAwaited(text("@%p3 brx.idx %r1, targets;"), 6));
  EXPECT_TRUE(isNeverAwaited(text("setp.ne.s32 %p11, %r1, 0;"), 6));
}

TEST(PtxMutation, NothingSurvives) {
  std::vector<Mutation> survivors = survivorsOf(product(), 3, [](const Mutation &mutation, unsigned seed) {
    Outcome o = run(mutation.text, seed, true);
    return o.report.fault || !o.right || o.report.profile.bankConflicts > 0;
  });
  EXPECT_TRUE(survivors.empty()) << listOf(survivors);
}

std::vector<Mutation> withoutXor(const std::string &text) {
  std::vector<Mutation> mutations = mutationsOf(text);
  std::erase_if(mutations, [](const Mutation &mutation) { return mutation.kind != Break::RemoveXor; });
  return mutations;
}

TEST(PtxMutation, TheSwizzleIsNeeded) { // on both sides: conflicts; on one side: a wrong product
  std::vector<Mutation> sides = withoutXor(product());
  ASSERT_EQ(sides.size(), 3u); // the third one takes the two buffers in turn
  for (unsigned side = 0; side < 2; ++side) {
    Outcome o = run(sides[side].text, 0, true);
    EXPECT_EQ(o.report.fault ? o.report.fault->message : "", "");
    EXPECT_FALSE(o.right);
  }
  Outcome o = run(withoutXor(sides[0].text)[0].text, 0, true);
  EXPECT_TRUE(o.right);
  // A matrix's eight rows of 32 bytes take two passes; two warps read four matrices of A in each of four
  // steps.
  EXPECT_EQ(o.report.profile.bankConflicts, 2u * 4 * 4);
}

} // namespace
} // namespace taylor::runtime::ptx
