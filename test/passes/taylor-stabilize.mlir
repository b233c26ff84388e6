// Exponents are shifted by their running maximum where that cancels.
// RUN: taylor-opt --split-input-file --taylor-stabilize %s | FileCheck %s

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// N / Z: every e^m cancels, and no constant is shifted, so the maximum needs no floor.
// CHECK-LABEL: taylor.function @quotient.joint
// CHECK: %[[P:.*]]:3 = taylor.pairwise { s0 = dot(%q, %k), m = maximum(s0), x0 = exp(s0 - m) } -> rows(x0, %v), rows(x0), maximum
// CHECK: taylor.map %[[P]]#0 / %[[P]]#1 :
taylor.function @quotient.joint of @quotient("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n, %z = taylor.pairwise { s = dot(%q, %k) w = exp(s) } -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n / %z : !o, !row
  taylor.yield "output:o" %o : !o
}

// -----
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// A constant of degree p gets exp(-p m), for which m must not be negative.
// CHECK-LABEL: taylor.function @constants.joint
// CHECK: %[[P:.*]]:3 = taylor.pairwise { s0 = dot(%q, %k), m = maximum(s0, 0.0)
// CHECK: %[[R:.*]] = taylor.reduce mean over(e) %[[P]]#0 * %[[P]]#0
// CHECK: taylor.map { x0 = exp(-%[[P]]#2), %[[P]]#0 / (%[[P]]#1 + max(x0, 2.2{{.*}}e-308))
// CHECK: taylor.map %[[P]]#0 * rsqrt(%[[R]] + max(1.0e-5 * exp(-2.0 * %[[P]]#2), 2.2{{.*}}e-308))
taylor.function @constants.joint of @constants("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n, %z = taylor.pairwise { s = dot(%q, %k) w = exp(s) } -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %r = taylor.reduce mean over(e) %n * %n : !o
  %o = taylor.map %n / (%z + 1.0) : !o, !row
  %y = taylor.map %n * rsqrt(%r + 1.0e-5) : !o, !row
  taylor.yield "output:o" %o, "output:y" %y : !o, !o
}

// -----
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// What is yielded grows with e^m: the formula stays.
// CHECK-LABEL: taylor.function @grows.joint
// CHECK-NOT: maximum
taylor.function @grows.joint of @grows("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n = taylor.pairwise { s = dot(%q, %k) } -> rows(exp(min(s, 5.0)), %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}

// -----
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// A function of a sum that is no power keeps it as written.
// CHECK-LABEL: taylor.function @no_power.joint
// CHECK-NOT: maximum
taylor.function @no_power.joint of @no_power("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n, %z = taylor.pairwise { s = dot(%q, %k) w = exp(s) } -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n / (%z * tanh(%z)) : !o, !row
  taylor.yield "output:o" %o : !o
}

// -----
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// The exponential that the backward recomputes is shifted by the maximum that the forward found; what leaves the rows has degree 0.
// CHECK-LABEL: taylor.function @backward.joint
// CHECK: %[[P:.*]]:3 = taylor.pairwise {{.*}} m = maximum(s0)
// CHECK: %[[D:.*]] = taylor.map %o / %[[P]]#1
// CHECK: taylor.pairwise { s0 = dot(%q, %k), s1 = dot(%[[D]], %v), x0 = exp(s0 - %[[P]]#2) } -> columns(x0, %[[D]]), columns(s1 * x0, %q)
taylor.function @backward.joint of @backward("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o) {
  %n, %z = taylor.pairwise { s = dot(%q, %k) w = exp(s) } -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n / %z : !o, !row
  %dn = taylor.map %do / %z : !o, !row
  %dv, %dk = taylor.pairwise { s = dot(%q, %k) p = dot(%dn, %v) w = exp(s) } -> columns(w, %dn), columns(p * w, %q) : !q, !k, !o, !v -> !v, !k
  taylor.yield "output:o" %o, "gradient:v" %dv, "gradient:k" %dk : !o, !v, !k
}

// -----
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// A sum over keys of another degree: an exponential that is multiplied by cotangents of degree 0 leaves its rows with degree 1.
// CHECK-LABEL: taylor.function @leaves_the_rows.joint
// CHECK-NOT: maximum
taylor.function @leaves_the_rows.joint of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n, %z = taylor.pairwise { s = dot(%q, %k) w = exp(s) } -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n / %z : !o, !row
  %c = taylor.pairwise { s = dot(%q, %k) } -> columns(exp(s)) : !q, !k -> !taylor.array<[b, g, u]>
  taylor.yield "output:o" %o, "output:c" %c : !o, !taylor.array<[b, g, u]>
}

// -----
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// Two sums with masses keep a maximum each; added before anything cancels, they share the larger.
// CHECK-LABEL: taylor.function @two_maxima.joint
// CHECK: %[[A:.*]]:3 = taylor.pairwise {{.*}} m = maximum(s0)
// CHECK: %[[B:.*]]:3 = taylor.pairwise {{.*}} m = maximum(s0)
// CHECK: taylor.map %[[A]]#0 / %[[A]]#1 - %[[B]]#0 / %[[B]]#1
taylor.function @two_maxima.joint of @f("input:q" %q: !q, "input:p" %p: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n1, %z1 = taylor.pairwise { s = dot(%q, %k) w = exp(s) } -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %n2, %z2 = taylor.pairwise { s = dot(%p, %k) w = exp(s) } -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n1 / %z1 - %n2 / %z2 : !o, !row, !o, !row
  taylor.yield "output:o" %o : !o
}

// -----
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// CHECK-LABEL: taylor.function @shared_maximum.joint
// CHECK: %[[A:.*]]:2 = taylor.pairwise {{.*}} m = maximum(s0) }
// CHECK: %[[B:.*]]:2 = taylor.pairwise {{.*}} m = maximum(s0) }
// CHECK: %[[M:.*]] = taylor.map max(%[[A]]#1, %[[B]]#1)
// CHECK-DAG: %[[N1:.*]] = taylor.map %[[A]]#0 * select(%[[A]]#1 < %[[M]], exp(%[[A]]#1 - %[[M]]), 1.0)
// CHECK-DAG: %[[N2:.*]] = taylor.map %[[B]]#0 * select(%[[B]]#1 < %[[M]], exp(%[[B]]#1 - %[[M]]), 1.0)
// CHECK: %[[Y:.*]] = taylor.map %[[N1]] - %[[N2]]
taylor.function @shared_maximum.joint of @f("input:q" %q: !q, "input:p" %p: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n1 = taylor.pairwise { s = dot(%q, %k) w = exp(s) } -> rows(w, %v) : !q, !k, !v -> !o
  %n2 = taylor.pairwise { s = dot(%p, %k) w = exp(s) } -> rows(w, %v) : !q, !k, !v -> !o
  %y = taylor.map %n1 - %n2 : !o, !o
  %r = taylor.reduce sum over(e) abs(%y) : !o
  %o = taylor.map %y / %r : !o, !row
  taylor.yield "output:o" %o : !o
}

// -----
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!col = !taylor.array<[b, h, u]>

// Of a truncated series with decay the exponent is the log-decay alone; a count beside it is no part of it.
// CHECK-LABEL: taylor.function @decay_and_count.joint
// CHECK: %[[P:.*]]:3 = taylor.pairwise {{.*}} m = maximum(%L - %K), x0 = (s0 + 1.0) * exp(%L - %K - m) } -> rows(x0, %v), rows(x0), maximum
// CHECK: %[[C:.*]] = taylor.pairwise { {{ *}}} -> rows(1.0)
taylor.function @decay_and_count.joint of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:L" %L: !row, "input:K" %K: !col) {
  %n, %z, %c = taylor.pairwise { s = dot(%q, %k) w = (s + 1.0) * exp(%L - %K) } -> rows(w, %v), rows(w), rows(1.0)
               : !q, !k, !row, !col, !v -> !o, !row, !row
  %o = taylor.map %n / %z * %c : !o, !row, !row
  taylor.yield "output:o" %o : !o
}

// -----
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// The logarithm of a mass is log Z' + m.
// CHECK-LABEL: taylor.function @logarithm.joint
// CHECK: %[[P:.*]]:2 = taylor.pairwise
// CHECK: taylor.map log(%[[P]]#0) + %[[P]]#1
taylor.function @logarithm.joint of @f("input:q" %q: !q, "input:k" %k: !k) {
  %z = taylor.pairwise { s = dot(%q, %k) } -> rows(exp(s)) : !q, !k -> !row
  %l = taylor.map log(%z) : !row
  taylor.yield "output:l" %l : !row
}

// With storage in f16 the floor under an epsilon is low enough for weights of f16.
// CHECK-LABEL: taylor.function @half
// CHECK: m = maximum({{.*}}, -40.0)
!qh = !taylor.array<[b, h, t, d = 8], f16>
!kh = !taylor.array<[b, g, u, d = 8], f16>
!oh = !taylor.array<[b, h, t, d = 8], f32>
!rowh = !taylor.array<[b, h, t], f32>
taylor.function @half of @f("input:q" %q: !qh, "input:k" %k: !kh) {
  %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(exp(s), %k) : !qh, !kh -> !oh
  %r = taylor.reduce sum over(d) %n * %n : !oh
  %o = taylor.map %n / sqrt(max(%r, 1.0e-24)) : !oh, !rowh
  taylor.yield "output:o" %o : !oh
}

// -----
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>
!channel = !taylor.array<[e]>

// What is added up over rows, or leaves the function, at a degree below 0 takes a factor of at most 1, in rows without keys too.
// CHECK-LABEL: taylor.function @sink.joint
// CHECK: %[[P:.*]]:3 = taylor.pairwise {{.*}} m = maximum({{.*}}, 0.0)
// CHECK: %[[D:.*]] = taylor.map %{{.*}} / (%[[P]]#1 + exp(%sink) * exp(-%[[P]]#2))
// CHECK: %[[V:.*]] = taylor.reduce sum over(b, h, t) %[[D]] * exp(-max(%[[P]]#2, 0.0))
// CHECK: %[[Y:.*]] = taylor.map %[[D]] * exp(-max(%[[P]]#2, 0.0))
// CHECK: taylor.yield {{.*}}"gradient:v0" %[[V]], "gradient:r" %[[Y]]
taylor.function @sink.joint of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:sink" %sink: !head, "cotangent:o" %g: !o) {
  %n, %z = taylor.pairwise { s = dot(%q, %k) w = exp(s) } -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %d = taylor.map %g / (%z + exp(%sink)) : !o, !row, !head
  %dv0 = taylor.reduce sum over(b, h, t) %d : !o
  %o = taylor.map %n * %d : !o, !o
  taylor.yield "gradient:s" %o, "gradient:v0" %dv0, "gradient:r" %d : !o, !channel, !o
}

// -----
!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>

// What states add up stays 0 where it is 0. That query may be of another document and see NaN: so is its maximum.
// CHECK-LABEL: taylor.function @states.backward
// CHECK: %[[D:.*]] = taylor.map %{{.*}} / (%{{.*}} + exp(%sink) * exp(-%{{.*}}))
// CHECK: %[[SCALED:.*]] = taylor.map region(%[[D]], %{{.*}}) {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f64, %{{.*}}: f64):
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[X]], %{{.*}}
// CHECK: %[[ASKED:.*]] = arith.cmpf une, %[[X]], %{{.*}}
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK-NEXT: arith.select %[[ASKED]], %[[PRODUCT]], %[[ZERO]]
// CHECK: taylor.states %q, %[[SCALED]] orders(0 to 1)
taylor.function @states.backward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:sink" %sink: !head, "cotangent:o" %g: !o) {
  %n, %z = taylor.pairwise { s = dot(%q, %k) w = exp(s) } -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %d = taylor.map %g / (%z + exp(%sink)) : !o, !row, !head
  %H = taylor.states %q, %d orders(0 to 1) : (!q, !o) -> !taylor.array<[b, h, f = 5, e = 5]>
  %o = taylor.map %n * %d : !o, !o
  taylor.yield "gradient:s" %o, "gradient:initial.state0" %H : !o, !taylor.array<[b, h, f = 5, e = 5]>
}

// -----
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, h, u, d]>
!v = !taylor.array<[b, h, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// A maximum beside sums without exponentials stays with them.
// CHECK-LABEL: taylor.function @maximum_alone
// CHECK: taylor.pairwise { {{.*}}m = maximum(s0) } -> rows(h, %v), maximum
taylor.function @maximum_alone of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n, %m = taylor.pairwise { s = dot(%q, %k), m = maximum(s), w = exp(s - m) } -> rows(h, %v), maximum : !q, !k, !v -> !o, !row
  taylor.yield "output:n" %n, "saved:m" %m : !o, !row
}

// -----
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, h, u, d]>
!row = !taylor.array<[b, h, t]>

// To base 2 it is log2 Z' + m log2(e).
// CHECK-LABEL: taylor.function @binary_logarithm
// CHECK: %[[P:.*]]:2 = taylor.pairwise
// CHECK: taylor.map log2(%[[P]]#0) + %[[P]]#1 * 1.4426950408889634
taylor.function @binary_logarithm of @f("input:q" %q: !q, "input:k" %k: !k) {
  %z = taylor.pairwise { s = dot(%q, %k) } -> rows(exp(s)) : !q, !k -> !row
  %l = taylor.map log2(%z) : !row
  taylor.yield "output:l" %l : !row
}

// -----
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// The same scores over other keys have a maximum of their own; over the same keys they share one.
// CHECK-LABEL: taylor.function @windows.joint
// CHECK: %[[A:.*]]:3 = taylor.pairwise { s0 = dot(%q, %k), m = maximum(s0), x0 = exp(s0 - m) } visible(u <= t) -> rows(x0, %v), rows(x0), maximum
// CHECK: %[[B:.*]]:3 = taylor.pairwise { s0 = dot(%q, %k), m = maximum(s0), x0 = exp(s0 - m) } visible(and(u <= t, t - u < 8.0)) -> rows(x0, %v), rows(x0), maximum
// CHECK: %[[C:.*]] = taylor.pairwise { s0 = dot(%q, %k) } visible(and(u <= t, t - u < 8.0)) -> rows(exp(s0 - %[[B]]#2) * s0)
// CHECK: taylor.map %[[A]]#0 / %[[A]]#1 + %[[B]]#0 / %[[B]]#1 + %[[C]] / %[[B]]#1 :
taylor.function @windows.joint of @windows("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n, %z = taylor.pairwise { s = dot(%q, %k) w = exp(s) } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %m, %y = taylor.pairwise { s = dot(%q, %k) w = exp(s) } visible(and(u <= t, t - u < 8.0)) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %x = taylor.pairwise { s = dot(%q, %k) w = exp(s) } visible(and(u <= t, t - u < 8.0)) -> rows(w * s) : !q, !k -> !row
  %o = taylor.map %n / %z + %m / %y + %x / %y : !o, !row, !o, !row, !row
  taylor.yield "output:o" %o : !o
}

// -----
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// expm1 is an exponential less 1 where nothing cancels; of what is bounded from above it stays (elu).
// CHECK-LABEL: taylor.function @minus_one.forward
// CHECK: taylor.pairwise { s0 = dot(%q, %k), m = maximum(s0, 0.0), {{.*}} = select(s0 < 1.0, expm1(min(s0, 1.0)) * {{.*}}, exp(s0 - m) - {{.*}}) {{.*}}} -> rows(
// CHECK: taylor.pairwise { s0 = dot(%q, %k), x0 = 0.0 < s0 } -> rows(select(x0, s0, expm1(select(x0, 0.0, s0))), %v)
taylor.function @minus_one.forward of @minus_one("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n, %z = taylor.pairwise { s = dot(%q, %k) w = expm1(s) } -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n / %z : !o, !row
  %e = taylor.pairwise { s = dot(%q, %k) } -> rows(elu(s), %v) : !q, !k, !v -> !o
  taylor.yield "output:o" %o, "output:e" %e : !o, !o
}

// -----
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// Exponentials that are added share the larger maximum; sums that have none in common get an operation each.
// CHECK-LABEL: taylor.function @several.forward
// CHECK: taylor.pairwise { s0 = dot(%q, %k), m = maximum(max(s0, -s0)), x0 = exp(s0 - m) + exp(-s0 - m) } -> rows(x0, %v), rows(x0), maximum
// CHECK: %[[A:.*]]:3 = taylor.pairwise { s0 = dot(%q, %k), m = maximum(2.0 * s0), x0 = exp(2.0 * s0 - m) } -> rows(x0, %v), rows(x0), maximum
// CHECK: %[[B:.*]]:3 = taylor.pairwise { s0 = dot(%q, %k), m = maximum(3.0 * s0), x0 = exp(3.0 * s0 - m) } -> rows(x0, %v), rows(x0), maximum
// CHECK: taylor.map %[[A]]#0 / %[[A]]#1 - %[[B]]#0 / %[[B]]#1 :
taylor.function @several.forward of @several("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n, %z = taylor.pairwise { s = dot(%q, %k) w = exp(s) + exp(-s) } -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n / %z : !o, !row
  %l, %x, %m, %y = taylor.pairwise { s = dot(%q, %k) a = exp(2.0 * s) b = exp(3.0 * s) } -> rows(a, %v), rows(a), rows(b, %v), rows(b) : !q, !k, !v -> !o, !row, !o, !row
  %p = taylor.map %l / %x - %m / %y : !o, !row, !o, !row
  taylor.yield "output:o" %o, "output:p" %p : !o, !o
}
