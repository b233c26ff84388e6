// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said of kernels without running them: numbers worked out by hand for a text of two entries.
#include "codegen/Targets/NVPTX/KernelReport.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::simt;

namespace {

constexpr const char *kModule = R"mlir(
simt.ptx "sm_80" entries [#simt.entry<"a", threads = 128, shared = 49152>, #simt.entry<"b", threads = 64, shared = 200000>] {
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
    auto all = reportKernels(*module->getOps<PTXOp>().begin(), {{"a", {128, 64}}}, ptxas, error);
    if (all) {
      report = *all;
      reports = report.kernels;
    }
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  CodeReport report;
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
  r.report.warnings = {"ptxas warning : slow"};
  EXPECT_EQ(printTable(r.report), "kernel  target  t x u    threads  registers  spilled B  shared B  "
                                  "blocks/SM  warps/SM  matrix  special  "
                                  "float  integer  total\n"
                                  "a       sm_80   128x64       128          -          -     49152          "
                                  "3        12       0        1  "
                                  "    1        2      7\n"
                                  "b       sm_80   -             64          -          -    200000          "
                                  "0         0       0        0  "
                                  "    0        0      1\n"
                                  "ptxas warning : slow\n");
  std::string json = printJSON(r.report);
  EXPECT_NE(json.find("\"blocks_per_sm\": 3"), std::string::npos);
  EXPECT_NE(json.find("\"queries\": 128,\n      \"keys\": 64"), std::string::npos);
  EXPECT_NE(json.find("\"warnings\": [\n    \"ptxas warning : slow\"\n  ]"), std::string::npos);
}

// Lines that ptxas printed, shortened.
TEST(KernelReport, ReadsPtxas) {
  Assembly assembly;
  parsePtxasLog(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_80'\n"
      "ptxas info    : Function properties for a\n"
      "    112 bytes stack frame, 108 bytes spill stores, 104 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 112 bytes cumulative stack size\n"
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n"
      "ptxas warning : Value of threads per SM for entry b is out of range\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_80'\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 32 registers\n",
      assembly);
  ASSERT_EQ(assembly.kernels.size(), 2u);
  EXPECT_EQ(assembly.kernels[0].name, "a");
  EXPECT_EQ(assembly.kernels[0].registers, 255);
  EXPECT_EQ(assembly.kernels[0].spillStores, 108);
  EXPECT_EQ(assembly.kernels[0].spillLoads, 104);
  EXPECT_EQ(assembly.kernels[0].stack, 112);
  EXPECT_EQ(assembly.kernels[1].registers, 32);
  EXPECT_EQ(assembly.kernels[1].spillStores, 0);
  EXPECT_EQ(assembly.warnings.size(), 2u);
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
