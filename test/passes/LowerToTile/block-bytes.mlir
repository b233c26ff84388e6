// What a block may hold outside of its loop over pairs: what needs more goes through memory. And the order in which it computes its results.
// RUN: taylor-opt %s --taylor-tile-pipeline=tiles=row-sums=separate,queries=16,outer-keys=16 | FileCheck %s --check-prefixes=CHECK,FREE
// RUN: taylor-opt %s --taylor-tile-pipeline=tiles=row-sums=separate,queries=16,outer-keys=16,block-bytes=3328 | FileCheck %s --check-prefixes=CHECK,FREE
// RUN: taylor-opt %s --taylor-tile-pipeline=tiles=row-sums=separate,queries=16,outer-keys=16,block-bytes=3071 | FileCheck %s --check-prefixes=CHECK,FULL

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>

// 16 queries of 16 numbers are 1024 bytes. Queries, the table of their rotation and the rotated ones, which count a quarter more, are 3328; a sum and two
// arrays that it meets are 3072: with less, each has a kernel of its own.
// CHECK-LABEL: tile.program @forward
// FREE-NOT:      tile.kernel @rows
// FREE:          tile.kernel @attend
// FREE-NOT:      tile.kernel
// FULL:          %[[QUERIES:.*]] = tile.workspace "rows.0" : !tile.array<[b, h, t, d = 16], f32>
// FULL:          %[[SUM:.*]] = tile.workspace "attend.0" : !tile.array<[b, h, t, e = 16], f32> because "a block of queries has no room for what is computed from it"
// FULL:          tile.kernel @rows
// FULL:            tile.concat
// FULL:            tile.store %{{.*}}, %[[QUERIES]]
// FULL:          tile.kernel @attend
// FULL-NOT:        tile.concat
// FULL:            tile.load %[[QUERIES]]
// FULL:            tile.store %{{.*}}, %[[SUM]]
// FULL:          tile.kernel @rows_2
// FULL:            tile.load %[[SUM]]
taylor.function @f.forward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:x" %x: !o, "input:y" %y: !o) {
  %qr = taylor.rope %q : !q
  %n = taylor.pairwise { s = dot(%qr, %k) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  %o = taylor.map %n * %x + %y : !o, !o, !o
  taylor.yield "output:o" %o : !o
}

// dv is ready when the loop ends, so its accumulator is free before dk is rotated. With dv waiting (a quarter more for that), dk with the two tables that it
// meets would take 3328 bytes; as it is they take 2048.
// CHECK-LABEL: tile.program @backward
// CHECK:         %[[DK:.*]] = tile.tensor "gradient:k"
// CHECK:         %[[DV:.*]] = tile.tensor "gradient:v"
// CHECK:         tile.kernel @pairs
// CHECK-NOT:     tile.kernel
// CHECK:           tile.store %{{.*}}, %[[DV]]
// CHECK:           tile.concat
// CHECK:           tile.store %{{.*}}, %[[DK]]
taylor.function @f.backward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o) {
  %qr = taylor.rope %q : !q
  %dkr, %dv = taylor.pairwise { s = dot(%qr, %k), p = dot(%do, %v) } visible(u <= t) -> columns(p, %qr), columns(s, %do) : !q, !k, !o, !v -> !k, !v
  %dk = taylor.rope %dkr inverse : !k
  taylor.yield "gradient:k" %dk, "gradient:v" %dv : !k, !v
}
