// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each check fires on a faulty kernel, with its whole message, and is silent on the mended one.
#include "Fixture.h"

namespace taylor::runtime::ptx {
namespace {

/// Line of the body's first line in the kernel of `declarations` lines, without inputs.
std::string at(unsigned line, const std::string &text, unsigned thread, unsigned declarations = 0) {
  return "k, line " + std::to_string(18 + declarations + line) + " '" + text + "', block (0,0,0), thread (" +
         std::to_string(thread) + ",0,0): ";
}
const Setting four{.threads = 128, .declarations = ".shared .align 16 .b8 s[512];\n"};
const std::string own =
    "mov.u32 %r0, s; shl.b32 %r1, %t, 2; add.u32 %r0, %r0, %r1;\n"; // one word for each thread

/// No seed has a fault.
void expectSilent(const std::string &body, const Setting &setting = four) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Setting s = setting;
    s.options.seed = seed;
    EXPECT_EQ(faultOf(body, {}, 0, s), "");
  }
}

TEST(PtxFault, UninitialisedRegister) {
  EXPECT_EQ(faultOf("add.u32 %r0, %r1, 1;"), at(0, "add.u32", 0) + "reads '%r1', which has no value yet");
  EXPECT_EQ(faultOf("setp.lt.u32 %p0, %t, 4;\n@%p0 mov.b32 %r1, 0;\nmov.b32 %r2, %r1;"),
            at(2, "mov.b32", 4) + "reads '%r1', which has no value yet");
  EXPECT_EQ(faultOf("@%p3 mov.b32 %r1, 0;"), at(0, "mov.b32", 0) + "reads '%p3', which has no value yet");
  expectSilent("setp.lt.u32 %p0, %t, 4;\n@%p0 mov.b32 %r1, 0;\n@%p0 mov.b32 %r2, %r1;");
  EXPECT_EQ(faultOf("add.u32 %r0, %r1, 1;", {}, 0, {.options = {.checks = false}}), "");
}

TEST(PtxFault, UninitialisedPart) { // of a pair: NaN
  EXPECT_EQ(valueOf("mov.b32 %r1, 7;\nmov.b64 %d0, {%r1, %r2};\nmov.b64 {%o0, _}, %d0;", {}), 7u);
  EXPECT_EQ(valueOf("mov.b32 %r1, 7;\nmov.b64 %d0, {%r1, %r2};\nmov.b64 {_, %o0}, %d0;", {}), 0xffffffffu);
  EXPECT_EQ(faultOf("mov.b64 %d0, {%r1, %r2};"), at(0, "mov.b64", 0) + "reads '%r1', which has no value yet");
}

TEST(PtxFault, UninitialisedShared) {
  EXPECT_EQ(faultOf("ld.shared.b32 %r0, [s+8];", {}, 0, {.declarations = four.declarations}),
            at(0, "ld.shared.b32", 0, 1) + "reads shared address 0x8, that nobody has written");
  EXPECT_EQ(faultOf("st.shared.u8 [s+8], 1;\nld.shared.u16 %r0, [s+8];", {}, 0,
                    {.declarations = four.declarations}),
            at(1, "ld.shared.u16", 0, 1) + "reads shared address 0x9, that nobody has written");
  expectSilent(own + "st.shared.b32 [%r0], 1;\nld.shared.b32 %r0, [%r0];");
}

TEST(PtxFault, OutOfBounds) {
  EXPECT_EQ(faultOf("mov.u32 %r0, 508; mad.lo.u32 %r0, %t, 4, %r0;\nst.shared.b32 [%r0], 1;", {}, 0,
                    {.declarations = four.declarations}),
            at(1, "st.shared.b32", 1, 1) +
                "writes 4 bytes at shared address 0x200, outside of its 512 bytes");
  EXPECT_EQ(faultOf("st.local.b32 [8], 1;"),
            at(0, "st.local.b32", 0) + "writes 4 bytes at local address 0x8, outside of its 0 bytes");
  EXPECT_EQ(faultOf("ld.param.u32 %r0, [out+8];"),
            at(0, "ld.param.u32", 0) + "reads 4 bytes at param address 0x10, outside of its 16 bytes");
  EXPECT_EQ(faultOf("ld.global.b32 %r0, [16];"),
            at(0, "ld.global.b32", 0) + "reads 4 bytes at global address 0x10, before every memory range");
}

TEST(PtxFault, OtherSpace) {
  std::string matrix = "ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%d0];";
  EXPECT_EQ(faultOf("mov.u64 %d0, g;\n" + matrix, {}, 0, {.declarations = ".global .align 16 .b8 g[16];\n"}),
            at(1, "ldmatrix.sync.aligned.m8n8.x1.b16", 0, 1) + "expected an address in shared memory");
  EXPECT_EQ(faultOf("mov.u64 %d0, 16;\ncvta.to.shared.u64 %d1, %d0;"),
            at(1, "cvta.to.shared.u64", 0) + "expected an address in shared memory, but got 0x10");
  EXPECT_EQ(faultOf("mov.u64 %d0, 16;\ncvta.to.local.u64 %d1, %d0;"),
            at(1, "cvta.to.local.u64", 0) + "expected an address in local memory, but got 0x10");
}

TEST(PtxFault, SourceOfACopyPastItsBytes) {
  Setting s{.declarations = ".shared .align 16 .b8 s[16];\n.global .align 16 .b8 g[32];\n"};
  std::string copy = "mov.u64 %d0, g; mov.u32 %r0, BYTES;\ncp.async.cg.shared.global [s], [%d0], 16, %r0;";
  auto with = [&](const char *bytes) { return std::string(copy).replace(copy.find("BYTES"), 5, bytes); };
  EXPECT_EQ(faultOf(with("17"), {}, 0, s),
            at(1, "cp.async.cg.shared.global", 0, 2) + "expected a source of at most 16 bytes, but got 17");
  EXPECT_EQ(faultOf("setp.eq.u32 %p0, %t, 0;\n@!%p0 bra OUT;\n" + with("8") + "\nOUT:", {}, 0, s), "");
}

TEST(PtxFault, GlobalRanges) {
  alignas(16) uint32_t data[8] = {};
  std::string text = header + ".entry k(.param .u64 p) {\n.reg .b64 %d;\n.reg .b32 %r;\nld.param.u64 %d, "
                              "[p];\nld.global.v2.b32 {%r, _}, [%d+24];\nLINE\nret;\n}\n";
  auto of = [&](const std::string &line, bool writable) {
    std::string t = text;
    t.replace(t.find("LINE"), 4, line);
    void *p = data;
    MemoryRange range{data, sizeof data, "data", writable};
    RunReport r = launch(parse(t), "k", {}, {1}, 0, std::as_bytes(std::span(&p, 1)), std::span(&range, 1));
    return r.fault ? r.fault->message : "";
  };
  char hex[24];
  auto address = [&](size_t offset) {
    snprintf(hex, sizeof hex, "0x%llx",
             static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(data) + offset));
    return std::string(hex);
  };
  std::string place =
      "k, line 9 'st.global.b32', block (0,0,0), thread (0,0,0): writes 4 bytes at global address ";
  EXPECT_EQ(of("st.global.b32 [%d+28], 1;", true), "");
  EXPECT_EQ(of("st.global.b32 [%d+32], 1;", true),
            place + address(32) + ", 32 bytes after the start of 'data', which has 32 bytes");
  EXPECT_EQ(of("st.global.b32 [%d], 1;", false), place + address(0) + ", but 'data' may only be read");
  EXPECT_EQ(of("st.global.b32 [%d+2], 1;", true), place + address(2) + ", which is no multiple of 4");
}

TEST(PtxFault, Misaligned) {
  EXPECT_EQ(faultOf("st.shared.v2.b32 [s+4], {1, 2};", {}, 0, {.declarations = four.declarations}),
            at(0, "st.shared.v2.b32", 0, 1) +
                "writes 8 bytes at shared address 0x4, which is no multiple of 8");
  expectSilent("setp.eq.u32 %p0, %t, 0;\n@%p0 st.shared.v2.b32 [s+8], {1, 2};");
}

TEST(PtxFault,
     RaceOfWriteAndRead) { // each thread reads its neighbour's word; the barrier is missing, then not
  std::string write = own + "st.shared.b32 [%r0], %t;\n",
              read = "xor.b32 %r0, %r0, 128;\nld.shared.b32 %r2, [%r0];";
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Setting s = four;
    s.options.seed = seed;
    RunReport r = execute(write + read, {}, 0, s).report;
    ASSERT_TRUE(r.fault);
    // The order of warps decides which side is seen second; a word that is not written yet is seen first of
    // all.
    EXPECT_TRUE(r.fault->kind == FaultKind::Race || r.fault->kind == FaultKind::UninitialisedShared)
        << r.fault->message;
  }
  expectSilent(write + "bar.sync 0;\n" + read);
}

TEST(PtxFault,
     RaceOfReadAndWrite) { // the second barrier protects the words from being overwritten while others read
  std::string
      body =
          own + "st.shared.b32 [%r0], %t;\nbar.sync 0;\nxor.b32 %r3, %r0, 128;\nld.shared.b32 %r2, [%r3];\n",
      again = "st.shared.b32 [%r0], 0;";
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Setting s = four;
    s.options.seed = seed;
    RunReport r = execute(body + again, {}, 0, s).report;
    ASSERT_TRUE(r.fault);
    EXPECT_EQ(r.fault->kind, FaultKind::Race);
  }
  expectSilent(body + "bar.sync 0;\n" + again);
}

TEST(PtxFault, RaceOfWrites) {
  Setting s{.threads = 64, .declarations = four.declarations};
  std::string one = "setp.eq.u32 %p0, %t, 0;\n@%p0 st.shared.b32 [s], 1;\n",
              two = "setp.eq.u32 %p1, %t, 32;\n@%p1 st.shared.b32 [s], 2;";
  std::string message = faultOf(one + two, {}, 0, s);
  EXPECT_TRUE(
      message == at(3, "st.shared.b32", 32, 1) +
                     "writes shared address 0x0, that warp 0 wrote at line 20 with no barrier between" ||
      message == at(1, "st.shared.b32", 0, 1) +
                     "writes shared address 0x0, that warp 1 wrote at line 22 with no barrier between")
      << message;
  expectSilent(one + "bar.sync 0;\n" + two, s);
}

TEST(PtxFault, NamedBarrierOrdersOnlyItsWarps) { // warps 0 and 1 meet at barrier 1; warp 2 reads without
                                                 // having been there
  Setting s{.threads = 96, .declarations = four.declarations};
  std::string body = "setp.ge.u32 %p0, %t, 64;\n@%p0 bra THIRD;\nsetp.eq.u32 %p1, %t, 0;\n@%p1 st.shared.b32 "
                     "[s], 1;\nbar.sync 1, 64;\nld.shared.b32 %r0, [s];\n"
                     "bra DONE;\nTHIRD: ";
  for (uint64_t seed = 0; seed < 10; ++seed) {
    s.options.seed = seed;
    RunReport r = execute(body + "ld.shared.b32 %r0, [s];\nDONE:", {}, 0, s).report;
    ASSERT_TRUE(r.fault);
    EXPECT_TRUE(r.fault->kind == FaultKind::Race || r.fault->kind == FaultKind::UninitialisedShared);
  }
  expectSilent(body + "mov.b32 %r0, 0;\nDONE:", s);
}

TEST(PtxFault, CopyIsStillUnderWay) {
  Setting s{.threads = 1,
            .declarations = ".shared .align 16 .b8 s[512];\n.global .align 16 .b32 g[4] = {1, 2, 3, 4};\n"};
  std::string copy = "mov.u64 %d0, g;\ncp.async.cg.shared.global [s], [%d0], 16;\ncp.async.commit_group;\n",
              read = "ld.shared.b32 %r0, [s+4];";
  EXPECT_EQ(faultOf(copy + read, {}, 0, s),
            at(3, "ld.shared.b32", 0, 2) + "reads shared address 0x4, that cp.async of thread 0 at line 21 "
                                           "still fills: requires a wait before it");
  EXPECT_EQ(faultOf(copy + "cp.async.wait_group 1;\n" + read, {}, 0, s),
            at(4, "ld.shared.b32", 0, 2) + "reads shared address 0x4, that cp.async of thread 0 at line 21 "
                                           "still fills: requires a wait before it");
  EXPECT_EQ(faultOf(copy + "cp.async.wait_group 0;\n" + read, {}, 0, s), "");
}

TEST(PtxFault, CopyOverWhatIsStillRead) { // one warp copies again to what the other has read
  Setting s{.threads = 64,
            .declarations = ".shared .align 16 .b8 s[512];\n.global .align 16 .b32 g[4] = {1, 2, 3, 4};\n"};
  std::string begin = "mov.u64 %d0, g;\nsetp.eq.u32 %p0, %t, 0;\n@%p0 st.shared.v4.b32 [s], {1, 2, 3, "
                      "4};\nbar.sync 0;\nld.shared.b32 %r0, [s];\n";
  std::string copy = "@%p0 cp.async.cg.shared.global [s], [%d0], 16;";
  EXPECT_EQ(faultOf(begin + "bar.arrive 1, 64;\n" + copy, {}, 0, s).empty(), false);
  expectSilent(begin + "bar.sync 0;\n" + copy, s);
}

TEST(PtxFault, CopyNeedsABarrierForOtherWarps) { // warp 0 copies and waits; warp 1 reads
  Setting s{.threads = 64,
            .declarations = ".shared .align 16 .b8 s[512];\n.global .align 16 .b32 g[4] = {1, 2, 3, 4};\n"};
  std::string begin = "mov.u64 %d0, g;\nsetp.eq.u32 %p0, %t, 0;\nsetp.ge.u32 %p1, %t, 32;\n@%p0 "
                      "cp.async.cg.shared.global [s], [%d0], 16;\n";
  std::string wait = "cp.async.wait_all;\n", barrier = "bar.sync 0;\n", read = "@%p1 ld.shared.b32 %r0, [s];";
  expectSilent(begin + wait + barrier + read, s);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    s.options.seed = seed;
    EXPECT_NE(faultOf(begin + barrier + wait + read, {}, 0, s), ""); // the wait comes after the barrier
    EXPECT_NE(faultOf(begin + wait + read, {}, 0, s), "");
    EXPECT_NE(faultOf(begin + barrier + read, {}, 0, s), "");
  }
}

TEST(PtxFault, DivergentBarrier) {
  Setting s{.threads = 64};
  EXPECT_EQ(faultOf("setp.lt.u32 %p0, %t, 40;\n@%p0 bar.sync 0;", {}, 0, s),
            at(1, "bar.sync", 32) + "requires all threads of the warp together, but got 8 of 32");
  EXPECT_EQ(faultOf("setp.lt.u32 %p0, %t, 40;\n@%p0 bra L;\nbar.sync 0;\nL:", {}, 0, s),
            at(2, "bar.sync", 40) + "requires all threads of the warp together, but got 24 of 32");
  EXPECT_EQ(faultOf("mov.u32 %r0, 48; bar.sync 0, %r0;", {}, 0, {.threads = 32}),
            at(0, "bar.sync", 0) + "expected a multiple of 32 threads, but got 48");
  EXPECT_EQ(faultOf("mov.u32 %r0, 16; bar.sync %r0;", {}, 0, {.threads = 32}),
            at(0, "bar.sync", 0) + "expected a barrier from 0 to 15, but got 16");
  expectSilent("setp.lt.u32 %p0, %t, 32;\n@%p0 bar.sync 0, 32;", s);
}

TEST(PtxFault, MatrixInstructionByAPartOfTheWarp) {
  EXPECT_EQ(faultOf("setp.lt.u32 %p0, %t, 16;\n@%p0 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [s];", {},
                    0, {.declarations = four.declarations}),
            at(1, "ldmatrix.sync.aligned.m8n8.x1.shared.b16", 0, 1) +
                "requires all threads of the warp together, but got 16 of 32");
}

TEST(PtxFault, ShuffleOutsideOfItsMask) {
  EXPECT_EQ(faultOf("shfl.sync.idx.b32 %r0, %t, 0, 31, 0xffff;"),
            at(0, "shfl.sync.idx.b32", 16) + "is executed by lane 16, which its member mask lacks");
  EXPECT_EQ(faultOf("setp.ne.u32 %p0, %t, 7;\n@%p0 shfl.sync.idx.b32 %r0, %t, 7, 31, 0xffffff7f;"),
            at(1, "shfl.sync.idx.b32", 0) + "reads lane 7, which does not take part");
}

TEST(PtxFault, DeadlockNamesEveryWarp) {
  EXPECT_EQ(
      faultOf("setp.ge.u32 %p0, %t, 64;\n@%p0 bra OUT;\nbar.sync 0;\nOUT:", {}, 0, {.threads = 96}),
      at(2, "bar.sync", 0) +
          "deadlock, no warp can go on:\n  warp 0: 32 lanes at line 20 'bar.sync', barrier 0: 64 of 96 "
          "threads came\n"
          "  warp 1: 32 lanes at line 20 'bar.sync', barrier 0: 64 of 96 threads came\n  warp 2: has exited");
  EXPECT_EQ(
      faultOf("setp.eq.u32 %p0, %t, 3;\n@!%p0 shfl.sync.idx.b32 %r0, %t, 0, 31, -1;\n@%p0 bar.warp.sync -1;"),
      at(1, "shfl.sync.idx.b32", 0) + "deadlock, no warp can go on:\n  warp 0: 31 lanes at line 19 "
                                      "'shfl.sync.idx.b32', which waits for other lanes; "
                                      "1 lanes at line 20 'bar.warp.sync', which waits for other lanes");
}

TEST(PtxFault, DeadlockNamesBarriersAtWhichNoneWaits) { // the first warp's arrivals at barrier 2 find no one
  EXPECT_EQ(
      faultOf("setp.ge.u32 %p0, %t, 32;\n@!%p0 bar.arrive 2, 64;\nbar.sync 1, 96;", {}, 0, {.threads = 64}),
      at(2, "bar.sync", 0) + "deadlock, no warp can go on:\n"
                             "  warp 0: 32 lanes at line 20 'bar.sync', barrier 1: 64 of 96 threads came\n"
                             "  warp 1: 32 lanes at line 20 'bar.sync', barrier 1: 64 of 96 threads came\n"
                             "  barrier 2: 32 of 64 threads came, and none waits");
}

TEST(PtxFault, LimitAndTrap) {
  EXPECT_EQ(faultOf("L: bra L;", {}, 0, {.options = {.limit = 1000}}),
            at(0, "bra", 0) + "the block has executed 1000 instructions, which is the limit");
  EXPECT_EQ(faultOf("setp.eq.u32 %p0, %t, 9;\n@%p0 trap;"), at(1, "trap", 9) + "the kernel traps");
}

TEST(PtxFault, TheLowestBlockIsReportedByAnyNumberOfThreads) {
  Module m = parse(header + ".entry k() {\n.reg .b32 %r<2>;\n.reg .pred %p;\nmov.u32 %r0, "
                            "%ctaid.x;\nsetp.ge.u32 %p, %r0, 5;\n@%p trap;\nret;\n}\n");
  for (unsigned threads : {1u, 3u, 8u}) {
    RunReport r = launch(m, "k", {64}, {32}, 0, {}, {}, {.threads = threads});
    ASSERT_TRUE(r.fault);
    EXPECT_EQ(r.fault->message, "k, line 9 'trap', block (5,0,0), thread (0,0,0): the kernel traps");
    EXPECT_EQ(r.fault->kind, FaultKind::Trap);
    EXPECT_EQ(r.fault->line, 9u);
    EXPECT_EQ(r.fault->block[0], 5u);
  }
}

} // namespace
} // namespace taylor::runtime::ptx
