// The scale of a score goes into the coefficients of its polynomials. The second lines evaluate both forms.
// RUN: taylor-opt %s --taylor-fold-score-scale --canonicalize | FileCheck %s
// RUN: taylorc %spec_dir/softmax-taylor.mlir --set order=4 --form=parallel --emit=pairwise -o %t.mlir
// RUN: taylor-opt %t.mlir --taylor-fold-score-scale --canonicalize -o %t.folded.mlir
// RUN: not grep "\* 0.125,\|x0 = s0 \* 0.125" %t.folded.mlir
// RUN: taylor-run %spec_dir/softmax-taylor.mlir --set order=4 --functions=%t.folded.mlir --shape=b=1,h=4,g=2,t=5,u=7,d=64,e=64
// Order 10: its derivative adds x^10 / 10! to a series of order 9.
// RUN: taylorc %spec_dir/softmax-taylor.mlir --set order=10 --form=parallel --emit=pairwise -o %t.ten.mlir
// RUN: taylor-opt %t.ten.mlir --taylor-fold-score-scale --canonicalize -o %t.ten-folded.mlir
// RUN: FileCheck %s --check-prefix=TEN < %t.ten-folded.mlir
// TEN-NOT: s0 * 0.125{{[^0-9]}}
// TEN: x0 = s0 * 0.0276015{{[0-9]*}}
// TEN-NOT: s0 * 0.125{{[^0-9]}}
// RUN: taylor-run %spec_dir/softmax-taylor.mlir --set order=10 --functions=%t.ten-folded.mlir --shape=b=1,h=4,g=2,t=5,u=7,d=64,e=64

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// Horner's rule, a derivative with a product of the series and something else, powers, signs; a score on the right.
// CHECK-LABEL: taylor.function @f.forward
// CHECK:      taylor.pairwise { s0 = dot(%q, %k) } {{.*}} -> rows((s0 * 0.125 + 0.5) * s0 + 1.0, %v)
// CHECK-NEXT: taylor.pairwise { s0 = dot(%q, %k), s1 = dot(%q, %k) } {{.*}} -> rows(((s0 * 0.125 + 0.5) * s0 + 1.0) * (s1 + %r), %v)
// CHECK-NEXT: taylor.pairwise { s0 = dot(%q, %k) } {{.*}} -> rows(s0 * s0 * -0.75 + (1.0 - s0 * 0.5), %v)
taylor.function @f.forward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:r" %r: !row) {
  %a = taylor.pairwise { s = dot(%q, %k), x = s * 0.5, w = (x * 0.5 + 1.0) * x + 1.0 } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  %b = taylor.pairwise { s = dot(%q, %k), p = dot(%q, %k), x = 0.5 * s, w = ((x * 0.5 + 1.0) * x + 1.0) * (p + %r) } visible(u <= t) -> rows(w, %v) : !q, !k, !row, !v -> !o
  %c = taylor.pairwise { s = dot(%q, %k), x = s * 0.5, w = -(x * x * 3.0) + (1.0 - x) } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  %ab = taylor.map %a + %b + %c : !o, !o, !o
  taylor.yield "output:o" %ab : !o
}

// Readers in the middle, of which one is no sum or product; two factors of one square.
// CHECK-LABEL: taylor.function @d.forward
// CHECK:      s0 * s0
// CHECK-NOT:  s0 * 0.5{{[^0-9]}}
// CHECK:      taylor.yield
taylor.function @d.forward of @d("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %a = taylor.pairwise { s = dot(%q, %k), x = s * 0.5, y = x * x, w = ((y + 1.0) * 5.0 + 1.0) * 7.0 + exp(y) } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  taylor.yield "output:o" %a : !o
}

// Powers: of a score of 600, s^16 is past f32, and (s / 8)^16 is not. So 0.5 x^16 is y^16 with y = s 0.125 0.5^(1/16), -2 x^16 has
// its sign outside, and -x^9 in its root.
// CHECK-LABEL: taylor.function @p.forward
// CHECK:      x0 = s0 * 0.119700{{[0-9]*}}, x1 = x0 * x0, x2 = x1 * x1, x3 = x2 * x2 } {{.*}} -> rows(x3 * x3 + 1.0, %v)
// CHECK:      x0 = s0 * 0.130534{{[0-9]*}}, x1 = x0 * x0, x2 = x1 * x1, x3 = x2 * x2 } {{.*}} -> rows(-(x3 * x3) + (s0 * 0.0078125 + 0.125) * s0, %v)
// CHECK:      x0 = s0 * -0.125, x1 = x0 * x0, x2 = x1 * x1 } {{.*}} -> rows(x2 * x2 * x0 + (s0 * 0.0078125 + 0.125) * s0, %v)
taylor.function @p.forward of @p("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %a = taylor.pairwise { s = dot(%q, %k), x = s * 0.125, y = x * x, z = y * y, r = z * z, w = r * r * 0.5 + 1.0 } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  %b = taylor.pairwise { s = dot(%q, %k), x = s * 0.125, y = x * x, z = y * y, r = z * z, w = -(r * r) * 2.0 + (x * 0.5 + 1.0) * x } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  %c = taylor.pairwise { s = dot(%q, %k), x = s * 0.125, y = x * x, z = y * y, w = z * z * x * -1.0 + (x * 0.5 + 1.0) * x } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  %ab = taylor.map %a + %b + %c : !o, !o, !o
  taylor.yield "output:o" %ab : !o
}

// Left alone: an exponential of a difference, a choice, a scale alone, coefficients that f32 has no digits of.
// CHECK-LABEL: taylor.function @g.forward
// CHECK:      x0 = exp(s0 * 0.5 - %r)
// CHECK:      x0 = s0 * 0.5
// CHECK-SAME: select(x0 <= 0.0, 0.0, x0)
// CHECK:      rows(s0 * 0.5, %v)
// CHECK:      x0 = s0 * {{[0-9.]+}}e-20
taylor.function @g.forward of @g("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:r" %r: !row) {
  %a:2 = taylor.pairwise { s = dot(%q, %k), w = exp(s * 0.5 - %r) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !row, !v -> !o, !row
  %b = taylor.pairwise { s = dot(%q, %k), x = s * 0.5, w = select(x <= 0.0, 0.0, x) } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  %c = taylor.pairwise { s = dot(%q, %k), w = s * 0.5 } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  %d = taylor.pairwise { s = dot(%q, %k), x = s * 1.0e-20, w = (x + 1.0) * x + 1.0 } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  %ab = taylor.map %a#0 + %b + %c + %d : !o, !o, !o, !o
  taylor.yield "output:o" %ab : !o
}

// Each of these has the one before in it twice: that takes no 2^25 steps.
// CHECK-LABEL: taylor.function @h.forward
// CHECK:      taylor.pairwise
taylor.function @h.forward of @h("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %a = taylor.pairwise { s = dot(%q, %k), y0 = s * 0.5, y1 = y0 * y0 + y0, y2 = y1 * y1 + y1, y3 = y2 * y2 + y2, y4 = y3 * y3 + y3, y5 = y4 * y4 + y4, y6 = y5 * y5 + y5, y7 = y6 * y6 + y6, y8 = y7 * y7 + y7, y9 = y8 * y8 + y8, y10 = y9 * y9 + y9, y11 = y10 * y10 + y10, y12 = y11 * y11 + y11, y13 = y12 * y12 + y12, y14 = y13 * y13 + y13, y15 = y14 * y14 + y14, y16 = y15 * y15 + y15, y17 = y16 * y16 + y16, y18 = y17 * y17 + y17, y19 = y18 * y18 + y18, y20 = y19 * y19 + y19, y21 = y20 * y20 + y20, y22 = y21 * y21 + y21, y23 = y22 * y22 + y22, y24 = y23 * y23 + y23, y25 = y24 * y24 + y24 } visible(u <= t) -> rows(y25, %v) : !q, !k, !v -> !o
  taylor.yield "output:o" %a : !o
}
