// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores, maps, reductions, scans, slices and renumbering, loops and branches: each against plain
// loops.
#include "KernelRun.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::simt::test;
using llvm::formatv;
using llvm::StringRef;

namespace {

/// A program of one kernel of one warp over x[t, d] and y[t, d], 32 rows per block.
std::string program(Kind in, Kind out, int64_t d, int64_t e, const std::string &body) {
  return formatv("#l = #simt.layout<lane = [d:4, d:8, t:1, t:2, t:4], warp = [], register = [d:1*4, t:8*4]>\n"
                 "#l2 = #simt.layout<lane = [d:2, d:4, t:1, t:2, t:4], warp = [], register = [d:1*2, d:8*2, "
                 "t:8*4]>\n"
                 "#h = #simt.layout<lane = [d:4, _, t:1, t:2, t:4], warp = [], register = [d:1*4, t:8*4]>\n"
                 "#r = #simt.layout<lane = [_, _, t:1, t:2, t:4], warp = [], register = [t:8*4]>\n"
                 "#c = #simt.layout<lane = [d:4, d:8, _, _, _], warp = [], register = [d:1*4]>\n"
                 "#s = #simt.layout<lane = [d:1, d:2, d:4, d:8, _], warp = [], register = [t:1*32]>\n"
                 "!x = !tile.array<[t, d = {0}], {2}>\n!y = !tile.array<[t, d = {1}], {3}>\n"
                 "!f = !tile.tile<[d = 16, t = 32], f32, #l>\n!row = !tile.tile<[t = 32], f32, #r>\n"
                 "tile.program @forward {{\n %x = tile.tensor \"input:x\" : !x\n %y = tile.tensor "
                 "\"output:y\" : !y\n"
                 " tile.kernel @k grid(%i in ceildiv(t, 32)) launch #simt.launch<warps = 1> {{\n"
                 "  %c32 = arith.constant 32 : index\n  %t0 = arith.muli %i, %c32 : index\n"
                 "  %a = tile.load %x[t = %t0] : !x -> !f\n",
                 d, e, nameOf(in), nameOf(out))
             .str() +
         body + " }\n}\n";
}

struct Result {
  Array x, y;
};

Result execute(Kind in, Kind out, int64_t t, int64_t d, int64_t e, const std::string &body,
               int64_t padding = 0) {
  Result result{Array(in, {t, d}, padding), Array(out, {t, e}, padding)};
  result.x.fill(7);
  run(compile(program(in, out, d, e, body)), unsigned((t + 31) / 32), 32, 0, {.t = t},
      {&result.x, &result.y});
  return result;
}

const char *storeF = "  tile.store %r, %y[t = %t0] : !f, !y\n";

TEST(Element, MapsOfRaggedArrays) {
  for (int64_t t : {1, 31, 32, 33, 100})
    for (int64_t padding : {0, 8})
      for (Kind kind : {Kind::bf16, Kind::f16, Kind::f32}) {
        Result r = execute(
            kind, kind, t, 16, 16,
            std::string(
                "  %p = tile.position from %t0 : !tile.tile<[t = 32], index, #r>\n"
                "  %r = tile.map (%s = %a, %q = %p) : (!f, !tile.tile<[t = 32], index, #r>) -> !f {\n"
                "   %n = arith.index_cast %q : index to i32\n   %m = arith.sitofp %n : i32 to f32\n"
                "   %e = math.exp %s : f32\n   %v = arith.addf %e, %m : f32\n   tile.yield %v : f32\n  }\n") +
                storeF,
            padding);
        double error =
            difference(r.y, [&](std::vector<int64_t> &p) { return std::exp(r.x.get(p)) + double(p[0]); });
        EXPECT_LT(error, kind == Kind::f32 ? 1e-6 : kind == Kind::f16 ? 6e-4 : 5e-3) << t;
      }
}

// Rows of 12 numbers in bf16 are no multiple of 16 bytes: natural alignment is enough.
TEST(Element, WindowsBeyondRows) {
  Result r = execute(
      Kind::bf16, Kind::bf16, 40, 12, 12,
      std::string(
          "  %r = tile.map (%s = %a) : (!f) -> !f { %v = arith.mulf %s, %s : f32  tile.yield %v : f32 }\n") +
          storeF,
      1);
  EXPECT_LT(difference(r.y, [&](std::vector<int64_t> &p) { return r.x.get(p) * r.x.get(p); }), 5e-3);
}

// Row -2 and row -1 are zeros, and so are rows past the end.
TEST(Element, WindowsBeforeTheStart) {
  Result r = execute(Kind::f32, Kind::f32, 50, 16, 16,
                     std::string("  %two = arith.constant 2 : index\n  %t1 = arith.subi %t0, %two : index\n"
                                 "  %r = tile.load %x[t = %t1] : !x -> !f\n") +
                         storeF);
  EXPECT_LT(
      difference(r.y, [&](std::vector<int64_t> &p) { return p[0] < 2 ? 0 : r.x.get({p[0] - 2, p[1]}); }),
      1e-7);
}

TEST(Element, ReductionsWithinAWarp) {
  Result r = execute(
      Kind::f32, Kind::f32, 70, 16, 16,
      std::string(
          "  %m = tile.reduce max %a over(d) : !f -> !row\n  %z = tile.reduce sum %a over(d) : !f -> !row\n"
          "  %k = tile.reduce sum %a over(t) : !f -> !tile.tile<[d = 16], f32, #c>\n"
          "  %r = tile.map (%s = %a, %p = %m, %q = %z, %n = %k) : (!f, !row, !row, !tile.tile<[d = 16], f32, "
          "#c>) -> !f {\n"
          "   %0 = arith.subf %s, %p : f32\n   %1 = arith.divf %0, %q : f32\n   %2 = arith.addf %1, %n : "
          "f32\n"
          "   tile.yield %2 : f32\n  }\n") +
          storeF);
  auto x = [&](int64_t t, int64_t d) { return t < 70 ? r.x.get({t, d}) : 0; };
  double error = difference(r.y, [&](std::vector<int64_t> &p) {
    double largest = -1e9, sum = 0, column = 0;
    for (int64_t d = 0; d < 16; ++d) {
      largest = std::max(largest, x(p[0], d));
      sum += x(p[0], d);
    }
    for (int64_t t = p[0] / 32 * 32; t < p[0] / 32 * 32 + 32; ++t)
      column += x(t, p[1]);
    return (x(p[0], p[1]) - largest) / sum + column;
  });
  EXPECT_LT(error, 2e-5);
}

TEST(Element, RunningSums) {
  for (const char *how : {"", "exclusive", "reverse", "exclusive reverse"}) {
    std::string body = formatv("  %v = tile.load %x[t = %t0] : !x -> !tile.tile<[d = 16, t = 32], f32, #s>\n"
                               "  %r = tile.scan sum %v over(t) {0} : !tile.tile<[d = 16, t = 32], f32, #s>\n"
                               "  tile.store %r, %y[t = %t0] : !tile.tile<[d = 16, t = 32], f32, #s>, !y\n",
                               how);
    Result r = execute(Kind::f32, Kind::f32, 32, 16, 16, body);
    bool exclusive = StringRef(how).contains("exclusive"), reverse = StringRef(how).contains("reverse");
    double error = difference(r.y, [&](std::vector<int64_t> &p) {
      double sum = 0;
      for (int64_t t = 0; t < 32; ++t)
        if (reverse ? t > p[0] : t < p[0])
          sum += r.x.get({t, p[1]});
      return sum + (exclusive ? 0 : r.x.get(p));
    });
    EXPECT_LT(error, 1e-6) << how;
  }
}

TEST(Element, RunningMaximaAndMinima) {
  for (const char *kind : {"max", "min"})
    for (const char *how : {"", "exclusive", "reverse", "exclusive reverse"}) {
      std::string body =
          formatv("  %v = tile.load %x[t = %t0] : !x -> !tile.tile<[d = 16, t = 32], f32, #s>\n"
                  "  %r = tile.scan {0} %v over(t) {1} : !tile.tile<[d = 16, t = 32], f32, #s>\n"
                  "  tile.store %r, %y[t = %t0] : !tile.tile<[d = 16, t = 32], f32, #s>, !y\n",
                  kind, how);
      Result r = execute(Kind::f32, Kind::f32, 32, 16, 16, body);
      bool exclusive = StringRef(how).contains("exclusive"), reverse = StringRef(how).contains("reverse");
      double sign = StringRef(kind) == "max" ? 1 : -1;
      for (int64_t t = 0; t < 32; ++t)
        for (int64_t d = 0; d < 16; ++d) {
          double largest = -std::numeric_limits<double>::infinity();
          for (int64_t at = 0; at < 32; ++at)
            if ((reverse ? at > t : at < t) || (at == t && !exclusive))
              largest = std::max(largest, sign * r.x.get({at, d}));
          EXPECT_EQ(r.y.get({t, d}), sign * largest) << kind << " " << how << " at " << t << ", " << d;
        }
    }
}

// Halves of rows turned as rotations do: cut, negated, joined.
TEST(Element, SlicesAndJoins) {
  std::string body =
      formatv("  %v = tile.load %x[t = %t0] : !x -> !tile.tile<[d = 16, t = 32], f32, #l2>\n"
              "  %p = tile.slice %v[d = 0, 8] : !tile.tile<[d = 16, t = 32], f32, #l2> -> !tile.tile<[d = 8, "
              "t = 32], f32, #q>\n"
              "  %q = tile.slice %v[d = 8, 8] : !tile.tile<[d = 16, t = 32], f32, #l2> -> !tile.tile<[d = 8, "
              "t = 32], f32, #q>\n"
              "  %n = tile.map (%s = %q) : (!tile.tile<[d = 8, t = 32], f32, #q>) -> !tile.tile<[d = 8, t = "
              "32], f32, #q> {{ %0 = arith.negf %s : f32  tile.yield %0 : f32 }\n"
              "  %r = tile.concat %n, %p along d : !tile.tile<[d = 8, t = 32], f32, #q>, !tile.tile<[d = 8, "
              "t = 32], f32, #q> -> !tile.tile<[d = 16, t = 32], f32, #l2>\n"
              "  tile.store %r, %y[t = %t0] : !tile.tile<[d = 16, t = 32], f32, #l2>, !y\n")
          .str();

  for (size_t at; (at = body.find("#q>")) != std::string::npos;)
    body.replace(at, 3,
                 "#simt.layout<lane = [d:2, d:4, t:1, t:2, t:4], warp = [], register = [d:1*2, t:8*4]>>");
  Result r = execute(Kind::bf16, Kind::bf16, 32, 16, 16, body);
  EXPECT_EQ(difference(r.y,
                       [&](std::vector<int64_t> &p) {
                         return p[1] < 8 ? -r.x.get({p[0], p[1] + 8}) : r.x.get({p[0], p[1] - 8});
                       }),
            0);
}

// A loop over three steps with a tile and a count, and a branch: y = x * (1 + 2 + 4) where there is more than
// one block.
TEST(Element, LoopsAndBranches) {
  std::string body =
      "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c3 = arith.constant 3 : "
      "index\n  %T = tile.size \"t\"\n"
      "  %zero = arith.constant 0.0 : f32\n  %one = arith.constant 1.0 : f32\n  %none = tile.splat %zero : "
      "f32 -> !f\n"
      "  %l:2 = scf.for %j = %c0 to %c3 step %c1 iter_args(%s = %none, %w = %one) -> (!f, f32) {\n"
      "   %n = tile.map (%p = %s, %q = %a) : (!f, !f) -> !f { %0 = arith.mulf %q, %w : f32  %1 = arith.addf "
      "%p, %0 : f32  tile.yield %1 : f32 }\n"
      "   %v = arith.addf %w, %w : f32\n   scf.yield %n, %v : !f, f32\n  }\n"
      "  %many = arith.cmpi sgt, %T, %c32 : index\n"
      "  %r = scf.if %many -> (!f) { scf.yield %l#0 : !f } else { scf.yield %none : !f }\n";
  for (int64_t t : {20, 40}) {
    Result r = execute(Kind::f32, Kind::f32, t, 16, 16, body + storeF);
    EXPECT_LT(difference(r.y, [&](std::vector<int64_t> &p) { return t > 32 ? 7 * r.x.get(p) : 0; }), 1e-6);
  }
}

// What some threads hold copies of goes to threads that need parts of it.
TEST(Element, Renumbering) {
  std::string body = "  %z = tile.reduce sum %a over(d) : !f -> !row\n"
                     "  %w = simt.relayout %z : !row -> !tile.tile<[t = 32], f32, #simt.layout<lane = [t:8, "
                     "t:16, t:1, t:2, t:4], warp = [], register = []>>\n"
                     "  tile.store %w, %y[t = %t0, d = %c0] : !tile.tile<[t = 32], f32, #simt.layout<lane = "
                     "[t:8, t:16, t:1, t:2, t:4], warp = [], register = []>>, !y\n";
  Result r = execute(Kind::f32, Kind::f32, 50, 16, 1, "  %c0 = arith.constant 0 : index\n" + body);
  EXPECT_LT(difference(r.y,
                       [&](std::vector<int64_t> &p) {
                         double sum = 0;
                         for (int64_t d = 0; d < 16; ++d)
                           sum += r.x.get({p[0], d});
                         return sum;
                       }),
            1e-6);
}

// Sums in global memory: each element by one thread, although four hold copies.
TEST(Element, Accumulation) {
  std::string body =
      "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c3 = arith.constant 3 : index\n"
      "  %zero = arith.constant 0.0 : f32\n  %none = tile.splat %zero : f32 -> !row\n"
      "  tile.store %none, %y[t = %t0, d = %c0] : !row, !y\n  %z = tile.reduce sum %a over(d) : !f -> !row\n"
      "  scf.for %j = %c0 to %c3 step %c1 {\n   tile.accumulate %z, %y[t = %t0, d = %c0] : !row, !y\n  }\n";
  for (Kind kind : {Kind::f32, Kind::bf16, Kind::f64}) {
    Result r = execute(Kind::f32, kind, 50, 16, 1, body);
    EXPECT_LT(difference(r.y,
                         [&](std::vector<int64_t> &p) {
                           double sum = 0;
                           for (int64_t d = 0; d < 16; ++d)
                             sum += 3 * r.x.get({p[0], d});
                           return sum;
                         }),
              kind == Kind::bf16 ? 2e-2 : 1e-6);
  }
}

} // namespace
