// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers of tiles that are alive at the same time in a loop, worked out by hand: 128 threads have 32 each
// for 64 x 64 numbers of 32 bits, 16 for those of 16 bits.
#include "codegen/Targets/NVPTX/KernelSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::simt;

namespace {

constexpr const char *kBegin = R"mlir(
#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
#o = #simt.layout<lane = [e:2, e:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [e:1*2, t:8*2, e:8*8]>
#u = #simt.layout<lane = [u:2, u:4, _, _, _], warp = [_, _], register = [u:1*2, u:8*8]>
#r = #simt.layout<lane = [_, _, t:1, t:2, t:4], warp = [t:16, t:32], register = [t:8*2]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!v = !simt.buffer<1 x [u = 64, e = 64], bf16, swizzle = 128>
!st = !tile.tile<[t = 64, u = 64], f32, #s>
!pt = !tile.tile<[t = 64, u = 64], bf16, #s>
!it = !tile.tile<[u = 64], index, #u>
!ot = !tile.tile<[e = 64, t = 64], f32, #o>
!rt = !tile.tile<[t = 64], f32, #r>
!out = !tile.array<[t, e = 64], f32>
!rows = !tile.array<[t], f32>
!pairs = !tile.array<[t, u], f32>
tile.program @p {
  %pairs = tile.tensor "input:pairs" : !pairs
  %rows = tile.tensor "output:rows" : !rows
  %out = tile.tensor "output:o" : !out
  tile.kernel @k grid(%i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %before = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
    %o0 = tile.splat %zero : f32 -> !ot
    %o = scf.for %j = %c0 to %n step %c64 iter_args(%sum = %o0) -> (!ot) {
)mlir";
constexpr const char *kScores = R"mlir(
      %s0 = simt.start wgmma %q, %k over(d) : !q, !k -> !simt.pending<!st>
      %s = simt.await 0 %s0 : !simt.pending<!st>
)mlir";
constexpr const char *kWeights = R"mlir(
      %w = tile.map (%x = %s) : (!st) -> !pt {
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16
      }
)mlir";
constexpr const char *kValues = R"mlir(
      %p = simt.start wgmma %w, %v over(u) into %sum : !ot : !pt, !v -> !simt.pending<!ot>
      %next = simt.await 0 %p : !simt.pending<!ot>
)mlir";
constexpr const char *kNoValues = "%next = tile.map (%x = %sum) : (!ot) -> !ot {\ntile.yield %x : f32\n}\n";

/// Stores row sums of a tile of scores.
std::string use(const std::string &tile) {
  return "%r" + tile + " = tile.reduce sum %" + tile + " over(u) : !st -> !rt\ntile.store %r" + tile +
         ", %rows[t = %i] : !rt, !rows\n";
}

/// Of the loop over keys, which carries a sum of 32 registers.
int64_t countOf(const std::string &body, const std::string &behind = "") {
  MLIRContext context;
  context.loadDialect<SimtDialect, tile::TileDialect, scf::SCFDialect, arith::ArithDialect>();
  std::string text = kBegin + body + "scf.yield %next : !ot\n}\n" + behind +
                     "tile.store %o, %out[t = %i] : !ot, !out\n}\n}\n";
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << text;
    return -1;
  }
  int64_t count = -1;
  module->walk([&](scf::ForOp loop) {
    if (!loop->getParentOfType<scf::ForOp>())
      count = countLiveRegisters(loop);
  });
  return count;
}

TEST(LiveRegisters, AreThoseOfATimeNotOfAll) {
  EXPECT_EQ(countOf(kNoValues), 32);
  EXPECT_EQ(countOf(kScores + use("s") + kNoValues), 64);
  // Scores become weights one by one, which take half as much.
  EXPECT_EQ(countOf(std::string(kScores) + kWeights + kValues), 32 + 32);
  // A second use keeps the scores next to them.
  EXPECT_EQ(countOf(std::string(kScores) + kWeights + kValues + use("s")), 32 + 32 + 16);
  // Two tiles, one after the other, are one at a time; side by side they are two.
  std::string second = "%d0 = simt.start wgmma %q, %k over(d) : !q, !k -> !simt.pending<!st>\n"
                       "%d = simt.await 0 %d0 : !simt.pending<!st>\n";
  EXPECT_EQ(countOf(kScores + use("s") + second + use("d") + kNoValues), 32 + 32);
  EXPECT_EQ(countOf(kScores + second + use("s") + use("d") + kNoValues), 32 + 64);
}

TEST(LiveRegisters, CountProductsInFlightAndTheirLeftOperands) {
  // The weights of a product stay until its wait, so that the next scores come on top of them.
  std::string start =
                  "%p = simt.start wgmma %w, %v over(u) into %sum : !ot : !pt, !v -> !simt.pending<!ot>\n",
              other = "%d0 = simt.start wgmma %q, %k over(d) : !q, !k -> !simt.pending<!st>\n",
              await = "%next = simt.await 0 %p : !simt.pending<!ot>\n",
              last = "%d = simt.await 0 %d0 : !simt.pending<!st>\n";
  std::string begin = std::string(kScores) + kWeights;
  EXPECT_EQ(countOf(begin + start + await + other + last + use("d")), 32 + 32);
  EXPECT_EQ(countOf(begin + start + other + last + use("d") + await), 32 + 16 + 32);
  EXPECT_EQ(countOf(begin + start + other + use("s") + await + last + use("d")), 32 + 16 + 32 + 32);
}

TEST(LiveRegisters, CountWhatTheLoopFindsAndLeaves) {
  // Scores from before the loop that it reads, or that are read after it, stay all the time; others do not.
  EXPECT_EQ(countOf(use("before") + kNoValues), 32 + 32 + 2); // and its row sums
  EXPECT_EQ(countOf(kNoValues, use("before")), 32 + 32);
  EXPECT_EQ(countOf(kScores + use("s") + kNoValues, use("before")), 32 + 32 + 32);
}

TEST(LiveRegisters, PositionsAndConstantsAreNone) {
  std::string none = "%y = tile.position from %j : !it\n%c = tile.splat %zero : f32 -> !st\n";
  std::string reader = "%m = tile.map (%x = %s, %a = %c, %b = %y) : (!st, !st, !it) -> !st {\n"
                       "%z = arith.addf %x, %a : f32\ntile.yield %z : f32\n}\n";
  EXPECT_EQ(countOf(kScores + none + reader + use("m") + kNoValues), 32 + 32);
}

TEST(LiveRegisters, OfBranchesTheLargerOne) {
  std::string branch =
      "%more = arith.cmpi slt, %c0, %j : index\nscf.if %more {\n" + std::string(kScores) + use("s") + "}\n";
  EXPECT_EQ(countOf(branch + kNoValues), 32 + 32);
}

TEST(LiveRegisters, LoadsComeWithTheirAddresses) {
  // Pieces of 16 bytes: 32 registers are 8 of them, each with an address of two registers.
  std::string load = "%l = tile.load %pairs[t = %i, u = %j] : !pairs -> !st\n";
  EXPECT_EQ(countOf(load + use("l") + kNoValues), 32 + 32 + 16);
}

} // namespace
