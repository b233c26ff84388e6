// The order in which a kernel computes what it stores.
// RUN: taylor-opt %s --taylor-order-stores | FileCheck %s

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>

// The sum that others are computed from comes first. What reads the mass comes before what reads the other sum and more operations.
// CHECK-LABEL: taylor.function @sums
// CHECK:         %[[SUMS:.*]]:2 = taylor.pairwise
// CHECK-NEXT:    %[[O:.*]] = taylor.map %[[SUMS]]#0 / %[[SUMS]]#1
// CHECK-NEXT:    %[[L:.*]] = taylor.map log(%[[SUMS]]#1)
// CHECK-NEXT:    %[[P:.*]] = taylor.map %[[SUMS]]#0 * %g
// CHECK:         fusion.kernel local stage 0 grid(b, h, t) {
// CHECK-NEXT:      fusion.store %[[SUMS]]#1
// CHECK-NEXT:      fusion.store %[[O]]
// CHECK-NEXT:      fusion.store %[[L]]
// CHECK-NEXT:      fusion.store %[[P]]
// CHECK-NEXT:    }
taylor.function @sums of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:g" %g: !o) {
  %n, %z = taylor.pairwise { s = dot(%q, %k), x = exp(s) } visible(u <= t) -> rows(x, %v), rows(x) : !q, !k, !v -> !o, !row
  %o = taylor.map %n / %z : !o, !row
  %l = taylor.map log(%z) : !row
  %p = taylor.map %n * %g : !o, !o
  fusion.kernel local stage 0 grid(b, h, t) {
    fusion.store %p as ["output:p"] : !o
    fusion.store %o as ["output:o"] : !o
    fusion.store %l as ["output:l"] : !row
    fusion.store %z as ["saved:z"] : !row
  }
  taylor.yield "output:o" %o, "output:l" %l, "output:p" %p, "saved:z" %z : !o, !row, !o, !row
}

// Neighbours read the same array, and the array of which fewer are computed comes first.
// CHECK-LABEL: taylor.function @arrays
// CHECK:         fusion.store %{{.*}} as ["output:b"]
// CHECK-NEXT:    fusion.store %{{.*}} as ["output:a"]
// CHECK-NEXT:    fusion.store %{{.*}} as ["output:c"]
taylor.function @arrays of @f("input:x" %x: !row, "input:y" %y: !row) {
  %a = taylor.map exp(%x) : !row
  %b = taylor.map exp(%y) : !row
  %c = taylor.map log(%x) : !row
  fusion.kernel local stage 0 grid(b, h, t) {
    fusion.store %c as ["output:c"] : !row
    fusion.store %b as ["output:b"] : !row
    fusion.store %a as ["output:a"] : !row
  }
  taylor.yield "output:a" %a, "output:b" %b, "output:c" %c : !row, !row, !row
}
