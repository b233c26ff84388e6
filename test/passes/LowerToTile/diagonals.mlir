// Arrays with lag, and sums along diagonals.
// RUN: taylor-opt %s --taylor-tile-pipeline=tiles=tokens=32,outer-queries=16,outer-keys=32,row-sums=parts | FileCheck %s --check-prefixes=BOTH,PARTS
// RUN: taylor-opt %s --taylor-tile-pipeline=tiles=tokens=32,derived-queries=16,derived-keys=32,outer-queries=16,outer-keys=32,row-sums=separate | FileCheck %s --check-prefixes=BOTH,WALK

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
!o = !taylor.array<[b, h, t, e = 8], f32>
!table = !taylor.array<[h, r = 4], f32>
!lags = !taylor.array<[h, lag], f32>

// A number per lag is computed once, and read along diagonals of score tiles.
// BOTH-LABEL: tile.program @backward
// BOTH:         %[[LAGS:.*]] = tile.workspace "lags.0" : !tile.array<[h, lag], f32>
// PARTS:        %[[SUMS:.*]] = tile.workspace "pairs.0" : !tile.array<[part = ceildiv(4, b * g), b, h, lag], f32>
// WALK:         %[[SUMS:.*]] = tile.workspace "diagonals.0" : !tile.array<[part = 16, b, h, lag], f32>
// BOTH:         tile.kernel @lags grid(%{{.*}} in h, %{{.*}} in ceildiv(lag, 32))
// BOTH:           tile.reduce sum {{.*}} over(r)
// BOTH:           tile.store %{{.*}}, %[[LAGS]] [h = %{{.*}}, lag = %{{.*}}]

// Beside sums into columns they are added to memory, tile by tile; parts of keys are added where they are read.
// PARTS:        tile.kernel @pairs grid(%{{.*}} in b, %{{.*}} in g, %{{.*}} in ceildiv(4, b * g))
// PARTS:          tile.store %{{.*}}, %[[SUMS]] [part = %{{.*}}, b = %{{.*}}, h = %{{.*}}, lag = %{{.*}}]
// PARTS:            tile.load %[[LAGS]] [h = %{{.*}}, lag as t - u = %{{.*}}] inside : !tile.array<[h, lag], f32> -> !tile.tile<[t = 16, u = 32], f32>
// PARTS:            tile.accumulate %{{.*}}, %[[SUMS]] [part = %{{.*}}, b = %{{.*}}, h = %{{.*}}, lag as t - u = %{{.*}}] : !tile.tile<[t = 16, u = 32], f32>

// Where keys are on the grid, they are no sums of the kernel that makes the columns, but in a kernel of their own:
// score tiles of a walk are added up, and stored once; walks that no visible pair is on are not walked.
// WALK:         tile.kernel @pairs grid(%{{.*}} in b, %{{.*}} in g, %{{.*}} in ceildiv(u, 32))
// WALK-NOT:       tile.accumulate
// WALK:         tile.kernel @diagonals grid(%{{.*}} in b, %{{.*}} in h, %{{.*}} in ceildiv(lag, 16))
// WALK:           scf.for
// WALK:             arith.cmpi sle
// WALK:             %[[SUM:.*]] = scf.for {{.*}} -> (!tile.tile<[t = 16, u = 16], f32>)
// WALK:               tile.load %[[LAGS]] [h = %{{.*}}, lag as t - u = %{{.*}}] inside
// WALK:             tile.store %[[SUM]], %[[SUMS]] [part as u = %{{.*}}, b = %{{.*}}, h = %{{.*}}, lag as t - u = %{{.*}}]

// The table's gradient is a reduction over lags, as one over tokens is: per block, then over blocks, in order; where
// blocks are many, of several batches at a time.
// BOTH:         tile.kernel @finish_lags
// PARTS:          tile.load %[[SUMS]] [part = %{{.*}}, b = %{{.*}}, h = %{{.*}}, lag = %{{.*}}]
// WALK:           tile.load %[[SUMS]] [part = %{{.*}}, b as block = %{{.*}}, h = %{{.*}}, lag = %{{.*}}]
// BOTH:         tile.kernel @combine
taylor.function @f.backward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:table" %table: !table, "cotangent:o" %do: !o) {
  %bias = taylor.reduce sum over(r) select(r == min(max(lag, 0.0), 3.0), %table, 0.0) : !table
  %dk, %dbias = taylor.pairwise { s = dot(%q, %k), p = dot(%do, %v), ds = p * exp(s + %bias) } visible(u <= t)
                -> columns(ds, %q), diagonals(ds) : !q, !k, !o, !v, !lags -> !k, !lags
  %dtable = taylor.reduce sum over(lag) region(%table, %dbias) {
  ^bb0(%x: f32, %y: f32):
    %none = arith.constant 0.0 : f32
    %last = arith.constant 3.0 : f32
    %r = taylor.index "r" : f32
    %lag = taylor.index "lag" : f32
    %0 = arith.maximumf %lag, %none : f32
    %1 = arith.minimumf %0, %last : f32
    %2 = arith.cmpf oeq, %r, %1 : f32
    %3 = arith.select %2, %y, %none : f32
    taylor.yield %3 : f32
  } : !table, !lags
  taylor.yield "gradient:k" %dk, "gradient:table" %dtable : !k, !table
}
