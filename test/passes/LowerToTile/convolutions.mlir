// What a convolution reads has memory, since each tap reads it again, and what it gives, unless only results are made of it.
// RUN: taylor-opt %s --taylor-tile-pipeline | FileCheck %s

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
!o = !taylor.array<[b, h, t, e = 8], f32>
!taps = !taylor.array<[h, d = 16, j = 2], f32>
!results = !taylor.array<[h, e = 8, j = 2], f32>

// CHECK-LABEL: tile.program @forward
// CHECK:         %[[QUERIES:.*]] = tile.workspace "rows.0" : !tile.array<[b, h, t, d = 16], f32>
// CHECK:         %[[MIXED:.*]] = tile.workspace "rows_2.0" : !tile.array<[b, h, t, d = 16], f32>
// CHECK:         %[[SUMS:.*]] = tile.workspace "attend.0" : !tile.array<[b, h, t, e = 8], f32>
// CHECK:         tile.kernel @rows
// CHECK:           tile.store %{{.*}}, %[[QUERIES]]
// CHECK:         tile.kernel @rows_2
// CHECK-COUNT-2:   tile.load %[[QUERIES]]
// CHECK:           tile.store %{{.*}}, %[[MIXED]]
// CHECK:         tile.kernel @attend
// CHECK:           tile.load %[[MIXED]]
// CHECK:           tile.store %{{.*}}, %[[SUMS]]
// CHECK:         tile.kernel @rows_3
// CHECK-COUNT-2:   tile.load %[[SUMS]]
// CHECK-NOT:     tile.kernel
taylor.function @f.forward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:taps" %taps: !taps, "input:last" %last: !results) {
  %s = taylor.map %q * %q : !q
  %c = taylor.convolve %s, %taps : !q, !taps
  %p = taylor.map max(%c, 0.0) : !q
  %n = taylor.pairwise { s = dot(%p, %k) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  %l = taylor.convolve %n, %last : !o, !results
  %o = taylor.map %l + 1.0 : !o
  taylor.yield "output:o" %o : !o
}
