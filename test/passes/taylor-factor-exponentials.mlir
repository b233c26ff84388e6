// Weights that fall like exponentials: an exponential of what is beyond an edge, times what is left.
// RUN: taylor-opt --split-input-file --taylor-factor-exponentials --canonicalize --cse %s | FileCheck %s
// RUN: taylorc %spec_dir/beyond/softplus.mlir --emit=pairwise | FileCheck %s --check-prefix=SHIFTED
// RUN: taylorc %spec_dir/beyond/sigmoid.mlir --emit=pairwise | FileCheck %s --check-prefix=ALONE

// One maximum, 0 where a score is on this side of the edge; one choice in each direction; one exponential for both sides, and for sigmoid and softplus.
// SHIFTED-LABEL: taylor.function @softplus.forward
// SHIFTED: m = maximum(select(x0 < -16.0, x0, 0.0)), {{.*}} x3 = select(x2, -16.0, x1), x4 = exp(select(x2, select(x2, x1, 0.0) - m, -abs(x3))), x5 = select(x2, x4, max(x3, 0.0) + log1p(x4)) }
// SHIFTED-LABEL: taylor.function @softplus.backward
// SHIFTED: x2 = select(x1, -16.0, x0), x3 = exp(select(x1, select(x1, x0, 0.0) - %maximum, -abs(x2))), x4 = s1 + %{{.*}}, x5 = select(x1, x4 * x3, x4 * (select(x2 < 0.0, x3, 1.0) / (x3 + 1.0))) }
// SHIFTED-SAME: columns(select(x1, x3, max(x2, 0.0) + log1p(x3)), {{.*}}rows(x5, {{.*}}columns(x5,

// Without a mass there is nothing to cancel it.
// ALONE: -> rows(sigmoid({{.*}}), %v) :

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>

// CHECK-LABEL: taylor.spec @factored
// Softplus; of large scores; as it is written; by log1p; a product; a power; of large scores; times the score.
// CHECK: x0 = s0 < -16.0, {{.*}} = exp(select(x0, s0, 0.0)) * select(x0, 1.0, softplus(select(x0, -16.0, s0))) }
// CHECK: x0 = -s0, x1 = x0 < -17.0, {{.*}} = exp(select(x1, x0, 0.0)) * select(x1, 1.0, sigmoid(select(x1, -17.0, x0))) }
// CHECK: x0 = s0 < -5.0, x1 = exp(select(x0, -5.0, s0) * 2.0), {{.*}} = exp(select(x0, s0 * 2.0, 0.0)) * select(x0, 0.001{{0*[0-9]*}}, x1 / (x1 + 1000.0)) }
// CHECK: x0 = s0 < -16.0, {{.*}} = exp(select(x0, s0, 0.0)) * select(x0, 1.0, log1p(exp(select(x0, -16.0, s0)))) }
// CHECK: x0 = s0 < -18.0, x1 = sigmoid(select(x0, -18.0, s0)), {{.*}} = exp(select(x0, s0, 0.0)) * select(x0, 1.0, x1 * (1.0 - x1)) }
// CHECK: x0 = s0 < -17.0, {{.*}} = exp(select(x0, s0 * 2.0, 0.0)) * select(x0, 3.0, pow(softplus(select(x0, -17.0, s0)), 2.0) * 3.0) }
// CHECK: x0 = 17.0 < s0, {{.*}} = exp(select(x0, s0 * -1.0, 0.0)) * select(x0, 1.0, 1.0 / (exp(select(x0, 17.0, s0)) + 1.0)) }
// CHECK: x0 = s0 < -17.0, {{.*}} = s0 * (exp(select(x0, s0, 0.0)) * select(x0, 1.0, sigmoid(select(x0, -17.0, s0)))) }
taylor.spec @factored(%q: !q, %k: !k, %v: !v) {
  %n0, %z0 = taylor.pairwise { s = dot(%q, %k), w = softplus(s) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %n1, %z1 = taylor.pairwise { s = dot(%q, %k), w = sigmoid(-s) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %n2, %z2 = taylor.pairwise { s = dot(%q, %k), w = exp(2.0 * s) / (1000.0 + exp(2.0 * s)) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %n3, %z3 = taylor.pairwise { s = dot(%q, %k), w = log(1.0 + exp(s)) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %n4, %z4 = taylor.pairwise { s = dot(%q, %k), w = sigmoid(s) * (1.0 - sigmoid(s)) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %n5, %z5 = taylor.pairwise { s = dot(%q, %k), w = 3.0 * pow(softplus(s), 2.0) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %n6, %z6 = taylor.pairwise { s = dot(%q, %k), w = 1.0 / (1.0 + exp(s)) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %n7, %z7 = taylor.pairwise { s = dot(%q, %k), w = s * sigmoid(s) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n0 / %z0 + %n1 / %z1 + %n2 / %z2 + %n3 / %z3 + %n4 / %z4 + %n5 / %z5 + %n6 / %z6 + %n7 / %z7 : !o, !row, !o, !row, !o, !row, !o, !row, !o, !row, !o, !row, !o, !row, !o, !row
  taylor.yield %o : !o
}

// -----
!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>

// What cancels on its way: 1 + tanh, 1 + expm1. What never passes the edge. What is too small at it.
// CHECK-LABEL: taylor.spec @kept
// CHECK-NOT: select(
// CHECK: taylor.yield
taylor.spec @kept(%q: !q, %k: !k, %v: !v) {
  %n0, %z0 = taylor.pairwise { s = dot(%q, %k), w = 1.0 + tanh(s) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %n1, %z1 = taylor.pairwise { s = dot(%q, %k), w = 1.0 + expm1(s) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %n2, %z2 = taylor.pairwise { s = dot(%q, %k), w = sigmoid(5.0 * tanh(s)) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %n3, %z3 = taylor.pairwise { s = dot(%q, %k), w = pow(sigmoid(s), 8.0) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n0 / %z0 + %n1 / %z1 + %n2 / %z2 + %n3 / %z3 : !o, !row, !o, !row, !o, !row, !o, !row
  taylor.yield %o : !o
}

// -----
!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>

// What falls on both sides.
// CHECK-LABEL: taylor.spec @both_sides
// CHECK-NOT: select(
// CHECK: taylor.yield
taylor.spec @both_sides(%q: !q, %k: !k, %v: !v) {
  %n0, %z0 = taylor.pairwise { s = dot(%q, %k), w = 1.0 / (exp(s) + exp(-s)) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n0 / %z0 : !o, !row
  taylor.yield %o : !o
}

// -----
!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>

// What has a maximum already.
// CHECK-LABEL: taylor.spec @shifted
// CHECK-NOT: select(
// CHECK: taylor.yield
taylor.spec @shifted(%q: !q, %k: !k, %v: !v) {
  %n0, %z0 = taylor.pairwise { s = dot(%q, %k), w = exp(s) * (2.0 + sigmoid(s)) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n0 / %z0 : !o, !row
  taylor.yield %o : !o
}

// -----
!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>

!column = !taylor.array<[b, g, u], f32>

// A decay has the maximum: of two exponentials that are multiplied neither would have one.
// CHECK-LABEL: taylor.spec @decayed
// CHECK-NOT: select(
// CHECK: taylor.yield
taylor.spec @decayed(%q: !q, %k: !k, %v: !v, %D: !column from input) {
  %n, %z = taylor.pairwise { s = dot(%q, %k), w = softplus(s) * exp(-%D) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !column, !v -> !o, !row
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

// -----
!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>

// A floor would be needed, or nothing is divided.
// CHECK-LABEL: taylor.spec @floored
// CHECK: softplus(s0)
// CHECK: softplus(s0)
taylor.spec @floored(%q: !q, %k: !k, %v: !v) {
  %n0, %z0 = taylor.pairwise { s = dot(%q, %k), w = softplus(s) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n0 / (%z0 + 1.0) : !o, !row
  %n1 = taylor.pairwise { s = dot(%q, %k) } -> rows(softplus(s), %v) : !q, !k, !v -> !o
  taylor.yield %o, %n1 : !o, !o
}

// -----
!q = !taylor.array<[b, h, t, d = 16], f64>
!k = !taylor.array<[b, g, u, d = 16], f64>
!v = !taylor.array<[b, g, u, e = 16], f64>
!o = !taylor.array<[b, h, t, e = 16], f64>
!row = !taylor.array<[b, h, t], f64>
// The edge of f64.
// CHECK-LABEL: taylor.spec @wide
// CHECK: s0 < -37.0
taylor.spec @wide(%q: !q, %k: !k, %v: !v) {
  %n0, %z0 = taylor.pairwise { s = dot(%q, %k), w = softplus(s) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n0 / %z0 : !o, !row
  taylor.yield %o : !o
}

// -----
!q = !taylor.array<[b, h, t, d = 16], f16>
!k = !taylor.array<[b, g, u, d = 16], f16>
!v = !taylor.array<[b, g, u, e = 16], f16>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>
// The edge of f16, whose results and weights have 11 digits.
// CHECK-LABEL: taylor.spec @half
// CHECK: s0 < -8.0
taylor.spec @half(%q: !q, %k: !k, %v: !v) {
  %n0, %z0 = taylor.pairwise { s = dot(%q, %k), w = softplus(s) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n0 / %z0 : !o, !row
  taylor.yield %o : !o
}
