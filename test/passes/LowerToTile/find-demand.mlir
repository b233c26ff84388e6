// Which kernels and sums serve only what callers may leave out.
// RUN: taylor-opt %s --taylor-find-demand | FileCheck %s

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>

// Gradients may be left out, outputs may not.
// CHECK-LABEL: taylor.function @backward
// CHECK:         fusion.kernel @rows local stage 0 grid(b, h, t) asked ["gradient:k", "gradient:v"] {
// CHECK:         fusion.kernel @rows_2 local stage 0 grid(b, h, t) {
// CHECK:         fusion.kernel @pairs pairs stage 1 grid(b, g) asked ["gradient:k", "gradient:v"] {
// CHECK-NEXT:      fusion.sum %{{.*}}#0 asked ["gradient:k"]
// CHECK-NEXT:      fusion.sum %{{.*}}#1 asked ["gradient:v"]
// CHECK-NEXT:      fusion.store %{{.*}}#0 as ["gradient:k"]
taylor.function @backward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o, "input:a" %a: !row) {
  %qr = taylor.map 2.0 * %q : !q
  %dk, %dv = taylor.pairwise { s = dot(%qr, %k), p = dot(%do, %v) } visible(u <= t) -> columns(p, %qr), columns(s, %do) : !q, !k, !o, !v -> !k, !v
  %y = taylor.map %a + 1.0 : !row
  fusion.keep %qr because "every block of keys reads it" : !q
  fusion.kernel @rows local stage 0 grid(b, h, t) {
    fusion.store %qr in workspace : !q
  }
  fusion.kernel @rows_2 local stage 0 grid(b, h, t) {
    fusion.store %y as ["output:y"] : !row
  }
  fusion.kernel @pairs pairs stage 1 grid(b, g) {
    fusion.sum %dk : !k
    fusion.sum %dv : !v
    fusion.store %dk as ["gradient:k"] : !k
    fusion.store %dv as ["gradient:v"] : !v
  }
  taylor.yield "gradient:k" %dk, "gradient:v" %dv, "output:y" %y : !k, !v, !row
}

// One loop over keys serves an array that may be left out, next to one that serves the output.
// CHECK-LABEL: taylor.function @rows
// CHECK:         fusion.kernel @attend local stage 0 grid(b, h, t) {
// CHECK-NEXT:      fusion.sum %{{.*}}#0 : !bhte_f32
// CHECK-NEXT:      fusion.sum %{{.*}}#1 : !bht_f32
// CHECK-NEXT:      fusion.sum %{{.*}} asked ["saved:m"] : !bht_f32
taylor.function @rows of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n, %z = taylor.pairwise { s = dot(%q, %k), x = exp(s) } visible(u <= t) -> rows(x, %v), rows(x) : !q, !k, !v -> !o, !row
  %m = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s) : !q, !k -> !row
  fusion.kernel @attend local stage 0 grid(b, h, t) {
    fusion.sum %n : !o
    fusion.sum %z : !row
    fusion.sum %m : !row
    fusion.store %n as ["output:o"] : !o
    fusion.store %m as ["saved:m"] : !row
  }
  taylor.yield "output:o" %n, "saved:m" %m : !o, !row
}
