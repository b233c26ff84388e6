// Exponentials count wherever they are normal numbers. Weights less a maximum, decays, and what rescales sums, may be 0 below 2^-64.
// RUN: taylor-opt %s --taylor-tile-pipeline | FileCheck %s

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>

// CHECK-LABEL: tile.program @decay
// CHECK:         math.exp %{{.*}} fastmath<afn> : f32
taylor.function @decay of @decay("input:q" %q: !q, "input:r" %r: !row, "input:x" %x: !row) sources [projection, projection, projection] {
  %l = taylor.scan sum over(t) %r : !row
  %y = taylor.map %q * exp(%l - %x) : !q, !row, !row
  taylor.yield "output:y" %y : !q
}

// A difference of features is none between running sums.
// CHECK-LABEL: tile.program @features
// CHECK:         math.exp %{{[^ ]*}} : f32
taylor.function @features of @features("input:q" %q: !q, "input:r" %r: !row) sources [projection, projection] {
  %y = taylor.map exp(%q - %r) : !q, !row
  taylor.yield "output:y" %y : !q
}

// From these no maximum was taken out.
// CHECK-LABEL: tile.program @unshifted
// CHECK:         math.exp %{{[^ ]*}} : f32
// CHECK:         math.log1p
// CHECK-LABEL: tile.program @quotient
// CHECK:         math.exp %{{[^ ]*}} : f32
taylor.function @unshifted of @softplus("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(softplus(s), %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}
taylor.function @quotient of @quotient("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:r" %r: !row) sources [projection, projection, projection, projection] {
  %n = taylor.pairwise { s = dot(%q, %k), w = exp(s - %r) } visible(u <= t) -> rows(w / (1.0 + w), %v) : !q, !k, !row, !v -> !o
  taylor.yield "output:n" %n : !o
}

// CHECK-LABEL: tile.program @forward
// CHECK-COUNT-2: math.exp %{{[0-9]+}} : f32
// CHECK-COUNT-4: math.exp %{{[0-9]+}} fastmath<afn> : f32
// CHECK-NOT:     math.exp
taylor.function @forward of @features("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %qf = taylor.map exp(%q * 0.5) : !q
  %kf = taylor.map softplus(%k) : !k
  %n, %m = taylor.pairwise { s = dot(%qf, %kf), m = maximum(s), w = exp(s - m) } visible(u <= t) -> rows(w, %v), maximum : !q, !k, !v -> !o, !row
  taylor.yield "output:n" %n : !o
}
