// RUN: taylor-opt --taylor-chunk-sums="chunk=64" %s | FileCheck %s
// A sum over all pairs, such as the gradient of a learned number per head in the score, is one of rows that are added up.
!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!head = !taylor.array<[h]>
// CHECK-LABEL: taylor.function @total.backward
// CHECK:         %[[NEAR:.*]] = taylor.pairwise {{.*}} chunk(64) -> rows(
// CHECK:         %[[FAR:.*]] = taylor.read_states %q from {{.*}} into %[[NEAR]]
// CHECK:         %[[SUM:.*]] = taylor.reduce sum over(b, t) %[[FAR]]
// CHECK:         taylor.yield "gradient:scale" %[[SUM]]
taylor.function @total.backward of @total("input:q" %q: !q, "input:k" %k: !k) sources [projection, projection] {
  %s = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> total(s * s) : !q, !k -> !head
  taylor.yield "gradient:scale" %s : !head
}
