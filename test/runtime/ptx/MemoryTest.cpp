// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// State spaces, vectors, atomics, asynchronous copies, launches, counts.
#include "Fixture.h"

namespace taylor::runtime::ptx {
namespace {

TEST(PtxMemory, WidthsAndExtension) {
  Setting s{.declarations = ".shared .align 8 .b8 s[8];\n"};
  std::string fill = "mov.b32 %r0, 0x8182fff4;\nst.shared.b32 [s], %r0;\n";
  auto of = [&](const std::string &line) { return valuesOf(fill + line, {}, s)[0]; };
  EXPECT_EQ(of("ld.shared.u8 %o0, [s];"), 0xf4u);
  EXPECT_EQ(of("ld.shared.s8 %o0, [s];"), 0xfffffff4u);
  EXPECT_EQ(of("ld.shared.u16 %o0, [s+2];"), 0x8182u);
  EXPECT_EQ(of("ld.shared.s16 %o0, [s+2];"), 0xffff8182u);
  EXPECT_EQ(of("st.shared.u8 [s+1], 0x55;\nld.shared.b32 %o0, [s];"), 0x818255f4u);
  EXPECT_EQ(of("ld.shared.s16 %d0, [s+2];\nmov.b64 {_, %o0}, %d0;"), 0xffffffffu);
}

TEST(PtxMemory, Vectors) {
  Setting s{.declarations = ".shared .align 16 .b8 s[16];\n"};
  Result r = execute("st.shared.v4.b32 [s], {1, 2, 3, 4};\nld.shared.v2.b64 {%d0, %d1}, [s];\nmov.b64 {%o0, "
                     "%o1}, %d1;\nld.shared.v2.u16 {%h0, %h1}, "
                     "[s+4];\ncvt.u32.u16 %o2, %h0;",
                     {}, 3, s);
  EXPECT_EQ(r.report.fault ? r.report.fault->message : "", "");
  EXPECT_EQ(r.outputs[0][0], 3u);
  EXPECT_EQ(r.outputs[1][0], 4u);
  EXPECT_EQ(r.outputs[2][0], 2u);
}

TEST(PtxMemory, GenericAddresses) { // one instruction for what lies in different spaces
  Setting s{.declarations = ".shared .b32 s[2];\n"};
  EXPECT_EQ(
      valuesOf("mov.u64 %d0, s;\ncvta.shared.u64 %d0, %d0;\nst.b32 [%d0+4], 77;\nld.shared.b32 %o0, [s+4];",
               {}, s)[0],
      77u);
  EXPECT_EQ(valuesOf("mov.u64 %d0, s;\ncvta.shared.u64 %d1, %d0;\ncvta.to.shared.u64 %d2, %d1;\nsub.u64 %d2, "
                     "%d2, %d0;\ncvt.u32.u64 %o0, %d2;",
                     {}, s)[0],
            0u);
  EXPECT_EQ(valueOf("cvta.to.global.u64 %d0, %in;\nsub.u64 %d0, %d0, %in;\ncvt.u32.u64 %o0, %d0;", {}), 0u);
}

TEST(PtxMemory, LocalIsPerThread) {
  EXPECT_EQ(valuesOf(".local .align 8 .b8 depot[16];\nmov.u64 %d0, depot;\ncvta.local.u64 %d1, "
                     "%d0;\nst.local.b32 [depot+8], %t;\nld.b32 %o0, [%d1+8];",
                     {}),
            iota());
}

TEST(PtxMemory, DynamicSharedFollowsTheStatic) {
  Setting s{.dynamicShared = 64,
            .declarations = ".extern .shared .align 16 .b8 dynamic[];\n.shared .b8 fixed[20];\n"};
  EXPECT_EQ(valuesOf("mov.u32 %o0, dynamic;", {}, s)[0], 32u);
  EXPECT_EQ(valuesOf("mov.u32 %o0, %dynamic_smem_size;", {}, s)[0], 64u);
}

TEST(PtxAtomic, EveryLaneAddsOnce) { // four warps on one shared word
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Setting s{.threads = 128, .options = {.seed = seed}, .declarations = ".shared .b32 s[1];\n"};
    Words r = valuesOf("setp.eq.u32 %p0, %t, 0;\n@%p0 st.shared.b32 [s], 0;\nbar.sync "
                       "0;\natom.shared.add.u32 %r0, [s], 1;\nbar.sync 0;\nld.shared.b32 "
                       "%o0, [s];",
                       {}, s);
    EXPECT_EQ(r, Words(128, 128));
  }
}

TEST(PtxAtomic, Operations) { // the old value in bits 16 up, the new one below
  auto of = [](const std::string &form, uint32_t old, const std::string &values) {
    Setting s{.threads = 1, .declarations = ".shared .b32 s[1];\n"};
    Result r = execute("st.shared.b32 [s], %a0;\natom.shared." + form + " %o0, [s], " + values +
                           ";\nld.shared.b32 %o1, [s];",
                       {{old}}, 2, s);
    EXPECT_EQ(r.report.fault ? r.report.fault->message : "", "");
    EXPECT_EQ(r.outputs[0][0], old);
    return r.outputs[1][0];
  };
  EXPECT_EQ(of("add.u32", 5, "7"), 12u);
  EXPECT_EQ(of("add.f32", bits(1.5f), "0f40000000"), bits(3.5f));
  EXPECT_EQ(of("min.s32", 5, "-7"), uint32_t(-7));
  EXPECT_EQ(of("min.u32", 5, "-7"), 5u);
  EXPECT_EQ(of("max.u32", 5, "7"), 7u);
  EXPECT_EQ(of("exch.b32", 5, "9"), 9u);
  EXPECT_EQ(of("cas.b32", 5, "5, 11"), 11u);
  EXPECT_EQ(of("cas.b32", 5, "6, 11"), 5u);
  EXPECT_EQ(of("and.b32", 6, "3"), 2u);
  EXPECT_EQ(of("or.b32", 6, "3"), 7u);
  EXPECT_EQ(of("xor.b32", 6, "3"), 5u);
  EXPECT_EQ(of("inc.u32", 6, "6"), 0u);
  EXPECT_EQ(of("dec.u32", 0, "6"), 6u);
}

TEST(PtxLaunch, BlocksOnSeveralThreadsAddUp) {
  std::string text = header + ".visible .entry k(.param .u64 sum) {\n.reg .b64 %d;\n.reg .b32 "
                              "%r<4>;\nld.param.u64 %d, [sum];\nmov.u32 %r0, %ctaid.x;\n"
                              "mov.u32 %r1, %ctaid.y;\nmad.lo.u32 %r2, %r1, 1000, %r0;\nred.global.add.u32 "
                              "[%d], %r2;\nred.relaxed.gpu.global.add.f32 "
                              "[%d+4], 0f3F800000;\nret;\n}\n";
  for (unsigned threads : {1u, 2u, 5u}) {
    uint32_t out[2] = {0, 0};
    void *parameter = out;
    MemoryRange range{out, 8, "sum"};
    RunReport r = launch(parse(text), "k", {7, 3}, {32}, 0, std::as_bytes(std::span(&parameter, 1)),
                         std::span(&range, 1), {.threads = threads});
    EXPECT_FALSE(r.fault);
    EXPECT_EQ(out[0], 32u * (3 * 21 + 7 * 3000));
    EXPECT_EQ(real(out[1]), 21 * 32.0f);
  }
}

TEST(PtxLaunch, Messages) {
  Module m =
      parse(header + ".entry a(.param .u32 x) .reqntid 64 { ret; }\n.entry b() .maxntid 64 { ret; }\n");
  auto of = [&](const std::string &name, GridSize grid, GridSize block, size_t bytes, size_t shared = 0) {
    std::vector<std::byte> parameters(bytes);
    try {
      launch(m, name, grid, block, shared, parameters, {});
    } catch (const Error &e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(of("a", {}, {64}, 4), "");
  EXPECT_EQ(of("c", {}, {64}, 4), "expected one of the kernels a, b, but got 'c'");
  EXPECT_EQ(of("a", {}, {32}, 4), "a: expected a block of 64 x 1 x 1 threads (.reqntid), but got 32 x 1 x 1");
  EXPECT_EQ(of("b", {}, {65}, 0),
            "b: expected a block of at most 64 x 1 x 1 threads (.maxntid), but got 65 x 1 x 1");
  EXPECT_EQ(of("b", {}, {2000}, 0), "b: expected a block of 1 to 1024 threads, but got 2000 x 1 x 1");
  EXPECT_EQ(of("b", {1, 0}, {32}, 0), "b: expected a grid of at least one block, but got 1 x 0 x 1");
  EXPECT_EQ(of("b", {1, 70000}, {32}, 0),
            "b: expected a grid of at most 2147483647 x 65535 x 65535 blocks, but got 1 x 70000 x 1");
  EXPECT_EQ(of("a", {}, {64}, 8), "a: expected 4 bytes of parameters, but got 8");
  EXPECT_EQ(of("b", {}, {32}, 0, 1 << 21),
            "b: expected at most 1048576 bytes of shared memory, but got 2097152");
}

TEST(PtxAsyncCopy, SizesAndZeroFill) {
  Setting s{.threads = 1, .declarations = ".shared .align 16 .b8 s[16];\n"};
  // Size, source size, and the second and fourth word that arrive: past the source's size they are zero.
  for (auto [size, from, second, fourth] :
       {std::tuple{16, 16, 2u, 4u}, {16, 4, 0u, 0u}, {16, 8, 2u, 0u}, {16, 0, 0u, 0u}, {8, 8, 2u, 9u}}) {
    Result r = execute(
        "sub.s64 %d0, %in, 16;\nst.shared.v4.b32 [s], {9, 9, 9, 9};\ncp.async.ca.shared.global [s], [%d0], " +
            std::to_string(size) + ", " + std::to_string(from) +
            ";\ncp.async.wait_all;\nld.shared.b32 %o0, [s+4];\nld.shared.b32 %o1, [s+12];",
        {{1}, {2}, {3}, {4}}, 2, s);
    EXPECT_EQ(r.report.fault ? r.report.fault->message : "", "");
    EXPECT_EQ(r.outputs[0][0], second) << size << " " << from;
    EXPECT_EQ(r.outputs[1][0], fourth) << size << " " << from;
  }
}

TEST(PtxAsyncCopy, GroupsCompleteInOrder) { // the first of two groups is enough for its own bytes
  Setting s{.threads = 1, .declarations = ".shared .align 16 .b8 s[32];\n"};
  std::string body = "sub.s64 %d0, %in, 16;\ncp.async.ca.shared.global [s], [%d0], "
                     "4;\ncp.async.commit_group;\ncp.async.ca.shared.global [s+16], "
                     "[%d0+4], 4;\ncp.async.commit_group;\ncp.async.wait_group 1;\n";
  std::vector<Words> in = {{1}, {2}, {3}, {4}};
  EXPECT_EQ(valuesOf(body + "ld.shared.b32 %o0, [s];", in, s)[0], 1u);
  s.options.checks = false; // the second is still poison
  EXPECT_EQ(valuesOf(body + "ld.shared.b32 %o0, [s+16];", in, s)[0], 0xffffffffu);
  EXPECT_EQ(valuesOf(body + "cp.async.wait_group 0;\nld.shared.b32 %o0, [s+16];", in, s)[0], 2u);
}

TEST(PtxAsyncCopy, ReadsItsSourceLate) { // what is stored before the wait is what arrives
  Setting s{.threads = 1, .declarations = ".shared .align 16 .b8 s[16];\n.global .b32 g[1] = {1};\n"};
  EXPECT_EQ(valuesOf("mov.u64 %d0, g;\ncp.async.ca.shared.global [s], [%d0], 4;\nst.global.b32 [g], "
                     "2;\ncp.async.wait_all;\nld.shared.b32 %o0, [s];",
                     {}, s)[0],
            2u);
}

TEST(PtxProfile, BankConflicts) { // a stride of n words: gcd(n, 32) lanes on one bank
  Setting s{.options = {.profile = true}, .declarations = ".shared .align 16 .b8 s[16384];\n"};
  auto conflicts = [&](unsigned stride, const std::string &form) {
    return execute("mov.u32 %r0, s;\nmad.lo.u32 %r0, %t, " + std::to_string(stride) + ", %r0;\nst.shared." +
                       form + ";",
                   {}, 0, s)
        .report.profile.bankConflicts;
  };
  EXPECT_EQ(conflicts(4, "b32 [%r0], %t"), 0u);
  EXPECT_EQ(conflicts(8, "b32 [%r0], %t"), 1u);
  EXPECT_EQ(conflicts(12, "b32 [%r0], %t"), 0u);
  EXPECT_EQ(conflicts(128, "b32 [%r0], %t"), 31u);
  EXPECT_EQ(conflicts(16, "v4.b32 [%r0], {%t, %t, %t, %t}"), 0u);
  EXPECT_EQ(conflicts(128, "v4.b32 [%r0], {%t, %t, %t, %t}"), 4 * 7u);
}

TEST(PtxProfile, CountsByClass) {
  Setting s{.threads = 64, .options = {.profile = true}, .declarations = ".shared .align 16 .b8 s[256];\n"};
  Profile empty = execute("", {}, 0, s).report.profile;
  Profile p = execute("mov.u32 %r0, s;\nshl.b32 %r1, %t, 2;\nadd.u32 %r0, %r0, %r1;\nst.shared.b32 [%r0], "
                      "%t;\nsetp.lt.u32 %p0, %t, 32;\n@%p0 ld.shared.b32 %r2, "
                      "[%r0];\nbar.sync 0;\ncvt.rn.f32.u32 %r3, %t;\nex2.approx.f32 %r4, %r3;",
                      {}, 0, s)
                  .report.profile;
  auto more = [&](Profile::Class c) { return p.issued[c] - empty.issued[c]; };
  EXPECT_EQ(more(Profile::Move), 2u);
  EXPECT_EQ(more(Profile::Integer), 6u);
  EXPECT_EQ(more(Profile::SharedMemory), 4u); // the load is issued by both warps
  EXPECT_EQ(more(Profile::Barrier), 2u);
  EXPECT_EQ(more(Profile::Convert), 2u);
  EXPECT_EQ(more(Profile::Special), 2u);
  EXPECT_EQ(p.total - empty.total, 18u);
  EXPECT_EQ(p.threadInstructions - empty.threadInstructions, 18u * 32 - 32);
  EXPECT_EQ(p.sharedWritten, 256u);
  EXPECT_EQ(p.sharedRead, 128u);
  EXPECT_EQ(p.matrixShare(), 0.0);
}

} // namespace
} // namespace taylor::runtime::ptx
