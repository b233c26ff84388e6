// A window of softmax beside a recurrence over all keys: the recurrence has states, and the window stays.
// RUN: taylor-opt --taylor-chunk-sums="chunk=64" %s 2>/dev/null | FileCheck %s
!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
// CHECK-LABEL: taylor.function @mixture.forward
// CHECK:         %[[WINDOW:.*]] = taylor.pairwise { {{.*}} } visible(and(u <= t, t < u + 8.0)) -> rows(exp(s0), %v)
// CHECK:         %[[NEAR:.*]] = taylor.pairwise { {{.*}} } visible(u <= t) chunk(64) -> rows(s0, %v)
// CHECK:         %[[STATES:.*]] = taylor.states %k, %v orders(1 to 1) chunk(64)
// CHECK:         %[[FAR:.*]] = taylor.read_states %q from %[[STATES]] into %[[NEAR]] {{.*}} chunk(64)
// CHECK:         taylor.yield "output:o" %[[WINDOW]], "output:n" %[[FAR]]
taylor.function @mixture.forward of @mixture("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t, t < u + 8.0) -> rows(exp(s), %v) : !q, !k, !v -> !o
  %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield "output:o" %o, "output:n" %n : !o, !o
}
