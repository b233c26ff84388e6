// A term that is 0 has no state: neither that of a coefficient nor that of terms that cancel. A sum of none is 0, in states' place or beside its pairs.
// RUN: taylor-opt --taylor-chunk-sums="chunk=64" %s | FileCheck %s
!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>

// CHECK-LABEL: taylor.function @constant.forward
// CHECK:      %[[NEAR:.*]] = taylor.pairwise
// CHECK-NEXT: %[[S:.*]] = taylor.states %k, %v orders(2 to 2) chunk(64) : (!bgud, !bgue) -> !bgtfe
// CHECK-NEXT: taylor.read_states %q from %[[S]] into %[[NEAR]] orders(2 to 2) weights [3.000000e+00]
taylor.function @constant.forward of @constant("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:c" %c: !column) sources [projection, projection, projection, projection] {
  %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(3.0 * s * s + 0.0 * s * %c, %v) : !q, !k, !column, !v -> !o
  taylor.yield "output:n" %n : !o
}

// CHECK-LABEL: taylor.function @cancelled.forward
// CHECK:      %[[NEAR:.*]] = taylor.pairwise
// CHECK-NEXT: %[[S:.*]] = taylor.states %k, %v orders(1 to 1) chunk(64) : (!bgud, !bgue) -> !bgtfe
// CHECK-NEXT: taylor.read_states %q from %[[S]] into %[[NEAR]]
taylor.function @cancelled.forward of @cancelled("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:c" %c: !column) sources [projection, projection, projection, projection] {
  %n = taylor.pairwise { s = dot(%q, %k), x = s * s * %c } visible(u <= t) -> rows(s + x - x, %v) : !q, !k, !column, !v -> !o
  taylor.yield "output:n" %n : !o
}

// A decay of which no term is left decays nothing.
// CHECK-LABEL: taylor.function @decay.forward
// CHECK-NOT:  taylor.scan
// CHECK:      taylor.states %k, %v orders(1 to 1) chunk(64) : (!bgud, !bgue) -> !bgtfe
taylor.function @decay.forward of @decay("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:c" %c: !column) sources [projection, projection, projection, projection] {
  %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s + 0.0 * exp(%c - t), %v) : !q, !k, !column, !v -> !o
  taylor.yield "output:n" %n : !o
}

// CHECK-LABEL: taylor.function @empty.forward
// CHECK:      %[[S:.*]] = taylor.states %k mass orders(1 to 1)
// CHECK-NEXT: %[[Z:.*]] = taylor.read_states %q from %[[S]] orders(1 to 1)
// CHECK-NEXT: %[[N:.*]] = taylor.map 0.0 -> !bhte
// CHECK-NEXT: taylor.yield "output:n" %[[N]], "output:z" %[[Z]]
taylor.function @empty.forward of @empty("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %n, %z = taylor.pairwise { s = dot(%q, %k) } -> rows(s - s, %v), rows(s) : !q, !k, !v -> !o, !row
  taylor.yield "output:n" %n, "output:z" %z : !o, !row
}

// CHECK-LABEL: taylor.function @alone.forward
// CHECK-NOT:  taylor.states
// CHECK:      %[[N:.*]] = taylor.map 0.0 -> !bhte
// CHECK-NEXT: taylor.yield "output:n" %[[N]]
taylor.function @alone.forward of @alone("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %n = taylor.pairwise { s = dot(%q, %k) } -> rows(s - s, %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}
