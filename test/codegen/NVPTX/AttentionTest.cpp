// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A whole forward of softmax attention, with copies that are waited for at once: online softmax over ragged,
// causal tiles.
#include "KernelRun.h"
#include "codegen/Targets/NVPTX/Ptxas.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::simt::test;
using namespace mlir::simt;

namespace {

Layouts layouts;

void replaceAll(std::string &text, const std::string &name, const std::string &by) {
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += by.size())
    text.replace(at, name.size(), by);
}

/// The second product, in a branch that is the same for all threads and taken where a key of the tile is
/// seen.
constexpr const char *kGuarded = R"(
      %last = arith.addi %t0, %c63 : index
      %end = arith.addi %last, %offset : index
      %some = arith.cmpi sle, %j, %end : index
      %on = scf.if %some -> (!o) {
        %sum0 = simt.dot mma16 %p, %vb over(u) into %os : !p, !kb -> !o
        scf.yield %sum0 : !o
      } else {
        scf.yield %os : !o
      }
)";

/// The program of `forward`, with words in place of what its arguments say.
constexpr const char *kForward = R"(
#S = FRAGMENT_S
#Q = FRAGMENT_Q
#R = #simt.layout<lane = [_, _, t:1, t:2, t:4], warp = [t:32], register = [t:8*2, t:16*2]>
#C = #simt.layout<lane = [u:2, u:4, _, _, _], warp = [_], register = [u:1*2, u:8*4]>
!q = !tile.array<[b, h, t, d = DIM], TYPE>
!k = !tile.array<[b, g, u, d = DIM], TYPE>
!s = !tile.tile<[t = 64, u = 32], f32, #S>
!p = !tile.tile<[t = 64, u = 32], TYPE, #S>
!o = !tile.tile<[d = DIM, t = 64], f32, #Q>
!r = !tile.tile<[t = 64], f32, #R>
!ti = !tile.tile<[t = 64], index, #R>
!ui = !tile.tile<[u = 32], index, #C>
!qb = !simt.buffer<1 x [t = 64, d = DIM], TYPE, swizzle = 128>
!kb = !simt.buffer<1 x [u = 32, d = DIM], TYPE, swizzle = 128>
tile.program @forward {
  %q = tile.tensor "input:q" : !q
  %k = tile.tensor "input:k" : !k
  %v = tile.tensor "input:v" : !k
  %out = tile.tensor "output:o" : !q
  tile.kernel @attend grid(%b in b, %h in h, %i in ceildiv(t, 64)) launch #simt.launch<warps = 2> {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %low = arith.constant -1.0e30 : f32
    %zero = arith.constant 0.0 : f32
    %scale = arith.constant 0.18033688 : f32
    %qb = simt.alloc "q" at 0 : !qb
    %kb = simt.alloc "k" at PLACE_K : !kb
    %vb = simt.alloc "v" at PLACE_V : !kb
    %H = tile.size "h"
    %G = tile.size "g"
    %U = tile.size "u"
    %offset = tile.size "offset"
    %group = arith.divsi %H, %G : index
    %g = arith.divsi %h, %group : index
    %t0 = arith.muli %i, %c64 : index
    simt.copy %q[b = %b, h = %h, t = %t0], %qb : !q, !qb
    %m0 = tile.splat %low : f32 -> !r
    %l0 = tile.splat %zero : f32 -> !r
    %o0 = tile.splat %zero : f32 -> !o
    %loop:3 = scf.for %j = %c0 to %U step %c32 iter_args(%m = %m0, %l = %l0, %o = %o0) -> (!r, !r, !o) {
      simt.copy %k[b = %b, g = %g, u = %j], %kb : !k, !kb
      simt.copy %v[b = %b, g = %g, u = %j], %vb : !k, !kb
      simt.commit
      simt.wait 0
      simt.barrier
      %x = simt.dot mma16 %qb, %kb over(d) : !qb, !kb -> !s
      %tp = tile.position from %t0 : !ti
      %up = tile.position from %j : !ui
      %s = tile.map (%a = %x, %t = %tp, %u = %up) : (!s, !ti, !ui) -> !s {
        %last = arith.addi %t, %offset : index
        %past = arith.cmpi sle, %u, %last : index
        %there = arith.cmpi slt, %u, %U : index
        %visible = arith.andi %past, %there : i1
        %y = arith.mulf %a, %scale : f32
        %z = arith.select %visible, %y, %low : f32
        tile.yield %z : f32
      }
      %top = tile.reduce max %s over(u) : !s -> !r
      %mn = tile.map (%a = %m, %c = %top) : (!r, !r) -> !r {
        %y = arith.maximumf %a, %c : f32
        tile.yield %y : f32
      }
      %w = tile.map (%a = %s, %c = %mn) : (!s, !r) -> !s {
        %y = arith.subf %a, %c : f32
        %z = math.exp2 %y : f32
        tile.yield %z : f32
      }
      %f = tile.map (%a = %m, %c = %mn) : (!r, !r) -> !r {
        %y = arith.subf %a, %c : f32
        %z = math.exp2 %y : f32
        tile.yield %z : f32
      }
      %sum = tile.reduce sum %w over(u) : !s -> !r
      %ln = tile.map (%a = %l, %c = %f, %e = %sum) : (!r, !r, !r) -> !r {
        %y = arith.mulf %a, %c : f32
        %z = arith.addf %y, %e : f32
        tile.yield %z : f32
      }
      %p = tile.map (%a = %w) : (!s) -> !p {
        %y = arith.truncf %a : f32 to TYPE
        tile.yield %y : TYPE
      }
      %os = tile.map (%a = %o, %c = %f) : (!o, !r) -> !o {
        %y = arith.mulf %a, %c : f32
        tile.yield %y : f32
      }
      %on = simt.dot mma16 %p, %vb over(u) into %os : !p, !kb -> !o
      simt.barrier
      scf.yield %mn, %ln, %on : !r, !r, !o
    }
    %y = tile.map (%a = %loop#2, %c = %loop#1) : (!o, !r) -> !o {
      %z = arith.divf %a, %c : f32
      tile.yield %z : f32
    }
    tile.store %y, %out[b = %b, h = %h, t = %t0] : !o, !q
  }
})";

/// 64 queries per block of 2 warps, 32 keys at a time; or of 4 warps, whose products run while they go on.
std::string forward(const std::string &type, int64_t d, bool starts = false, bool isGuarded = false) {
  std::string text = kForward;
  if (isGuarded)
    replaceAll(text, "      %on = simt.dot mma16 %p, %vb over(u) into %os : !p, !kb -> !o\n", kGuarded);
  if (starts) {
    replaceAll(text, "mma16", "wgmma");
    replaceAll(text, "warp = [t:32], register = [t:8*2, t:16*2]", "warp = [t:16, t:32], register = [t:8*2]");
    replaceAll(text, "warp = [_]", "warp = [_, _]");
    replaceAll(text, "warps = 2", "warps = 4");
  }
  int64_t warps = starts ? 4 : 2;
  replaceAll(text, "FRAGMENT_S", layouts.fragment({"t", "u", 64, 32, warps, 1, starts}, warps));
  replaceAll(text, "FRAGMENT_Q", layouts.fragment({"t", "d", 64, d, warps, 1, starts}, warps));
  replaceAll(text, "PLACE_K", std::to_string(64 * d * 2));
  replaceAll(text, "PLACE_V", std::to_string((64 + 32) * d * 2));
  replaceAll(text, "DIM", std::to_string(d));
  replaceAll(text, "TYPE", type);
  return text;
}

void check(Kind kind, int64_t d, Sizes sizes, bool starts = false, bool isGuarded = false) {
  SCOPED_TRACE("t = " + std::to_string(sizes.t) + ", u = " + std::to_string(sizes.u));
  Array q(kind, {sizes.b, sizes.h, sizes.t, d}), k(kind, {sizes.b, sizes.g, sizes.u, d}, 8),
      v(kind, {sizes.b, sizes.g, sizes.u, d});
  Array o(kind, {sizes.b, sizes.h, sizes.t, d});
  q.fill(1, 2);
  k.fill(2, 2);
  v.fill(3);
  unsigned blocks = unsigned(sizes.b * sizes.h * ((sizes.t + 63) / 64));
  std::string code = compile(forward(nameOf(kind), d, starts, isGuarded), starts ? "sm_90a" : "sm_80");
  run(code, blocks, starts ? 128 : 64, size_t(128 * d * 2), sizes, {&q, &k, &v, &o});
  double error = difference(o, [&](std::vector<int64_t> &p) {
    int64_t g = p[1] / (sizes.h / sizes.g);
    double numerator = 0, mass = 0;
    for (int64_t u = 0; u < sizes.u && u <= p[2] + sizes.offset; ++u) {
      double score = 0;
      for (int64_t i = 0; i < d; ++i)
        score += q.get({p[0], p[1], p[2], i}) * k.get({p[0], g, u, i});
      double weight = std::exp2(score * 0.18033688);
      mass += weight;
      numerator += weight * v.get({p[0], g, u, p[3]});
    }
    return numerator / mass;
  });
  EXPECT_LT(error, kind == Kind::bf16 ? 1e-2 : 2e-3);
}

TEST(Attention, Forward) {
  check(Kind::bf16, 64, {.b = 1, .h = 2, .g = 1, .t = 70, .u = 70});
  check(Kind::f16, 64, {.b = 2, .h = 2, .g = 2, .t = 3, .u = 45, .offset = 42});
  check(Kind::bf16, 128, {.b = 1, .h = 1, .g = 1, .t = 64, .u = 64});
}

TEST(Attention, Started) {
  for (bool isGuarded : {false, true}) {
    check(Kind::bf16, 64, {.b = 1, .h = 2, .g = 1, .t = 70, .u = 70}, true, isGuarded);
    check(Kind::f16, 64, {.b = 2, .h = 2, .g = 2, .t = 3, .u = 45, .offset = 42}, true, isGuarded);
    check(Kind::bf16, 128, {.b = 1, .h = 1, .g = 1, .t = 64, .u = 140}, true, isGuarded);
  }
}

TEST(Attention, IsTakenByPtxas) {
  std::string ptxas = findPtxas(), error;
  if (ptxas.empty())
    GTEST_SKIP() << "no ptxas here";
  std::optional<Assembly> assembly =
      assemble(ptxas, compile(forward("bf16", 64)), *findTarget("sm_80"), error);
  ASSERT_EQ(error, "");
  ASSERT_EQ(assembly->kernels.size(), 1u);
  EXPECT_EQ(assembly->kernels[0].spillStores, 0);
}

} // namespace
