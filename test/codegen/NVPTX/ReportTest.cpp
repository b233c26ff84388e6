// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said of kernels without running them: numbers worked out by hand for a text of two entries.
#include "codegen/NVPTX/KernelReport.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::simt;

namespace {

constexpr const char *kModule = R"mlir(
simt.ptx "sm_80" entries [{name = "a", shared = 49152 : i64, threads = 128 : i64}, {name = "b", shared = 200000 : i64, threads = 64 : i64}] {
  ".version 8.0"
  ".target sm_80"
  ".address_size 64"
  ".visible .entry a()"
  ".reqntid 128"
  "{"
  " .reg .pred %p<2>;"
  " .reg .b32 %r<4>;"
  " mov.u32 %r1, %tid.x;"
  " setp.eq.s32 %p1, %r1, 0;"
  "// begin inline asm"
  "@%p1 ex2.approx.ftz.f32 %r2, %r1;"
  "$L__BB0_1:"
  " add.rn.f32 %r3, %r2, %r2;"
  " add.s32 %r3, %r2, %r2;"
  " bar.sync 0;"
  " ret;"
  "}"
  ".visible .entry b()"
  "{"
  " ret;"
  "}"
}
)mlir";

struct Reports {
  Reports(StringRef ptxas) {
    context.loadDialect<SimtDialect>();
    module = parseSourceString<ModuleOp>(kModule, &context);
    auto all = reportKernels(*module->getOps<PTXOp>().begin(), ptxas, error);
    if (all)
      reports = *all;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<KernelReport> reports;
  std::string error;
};

TEST(KernelReport, CountsInstructions) {
  Reports r("");
  ASSERT_EQ(r.reports.size(), 2u);
  std::map<std::string, int64_t> expected = {{"move", 1},  {"integer", 2}, {"special", 1},
                                             {"float", 1}, {"barrier", 1}, {"control", 1}};
  EXPECT_EQ(r.reports[0].instructions, expected);
  EXPECT_EQ(r.reports[1].instructions, (std::map<std::string, int64_t>{{"control", 1}}));
}

// 164 KiB hold three blocks of 48 KiB and 1 KiB each; 200000 bytes are more than a block may have.
TEST(KernelReport, FindsOccupancy) {
  Reports r("");
  EXPECT_EQ(r.reports[0].blocksPerSM, 3);
  EXPECT_EQ(r.reports[0].warpsPerSM, 12);
  EXPECT_EQ(r.reports[1].blocksPerSM, 0);
  EXPECT_FALSE(r.reports[0].use);
}

TEST(KernelReport, Prints) {
  Reports r("");
  EXPECT_EQ(printTable(r.reports), "kernel  target  threads  registers  spilled B  shared B  blocks/SM  "
                                   "warps/SM  matrix  special  float  integer  total\n"
                                   "a       sm_80       128          -          -     49152          3       "
                                   " 12       0        1      1        2      7\n"
                                   "b       sm_80        64          -          -    200000          0       "
                                   "  0       0        0      0        0      1\n");
  EXPECT_NE(printJSON(r.reports).find("\"blocks_per_sm\": 3"), std::string::npos);
}

TEST(KernelReport, AsksPtxas) {
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    GTEST_SKIP() << "no ptxas here";
  Reports r(ptxas);
  ASSERT_EQ(r.error, "");
  ASSERT_TRUE(r.reports[0].use);
  EXPECT_GT(r.reports[0].use->registers, 0);
  EXPECT_EQ(r.reports[0].use->spillStores, 0);
}

} // namespace
