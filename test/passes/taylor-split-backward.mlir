// A joint function is parted at the cheapest cut.
// RUN: taylor-opt --taylor-split-backward %s | FileCheck %s

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!col = !taylor.array<[b, g, u]>

// A row scalar is saved before an array with channels; an output is free; what inputs give is computed again; arguments that the
// backward does not read are not its own.
// CHECK-LABEL: taylor.function @f.forward of @f("input:q" %q: !bhtd, "input:k" %k: !bgud, "input:v" %v: !bgue, "input:a" %a: !bht)
// CHECK-SAME: sources [projection, projection, projection, projection(bias)]
// CHECK: %[[R:.*]] = taylor.rope %q
// CHECK: %[[N:.*]] = taylor.pairwise
// CHECK: %[[L:.*]] = taylor.reduce sum over(e) %[[N]] * %[[N]]
// CHECK: %[[O:.*]] = taylor.map %[[N]] / sqrt(%[[L]])
// CHECK: taylor.yield "output:o" %[[O]], "saved:row" %[[L]] : !bhte, !bht
// CHECK-LABEL: taylor.function @f.backward of @f("input:q" %q: !bhtd, "input:k" %k: !bgud, "output:o" %o: !bhte, "saved:row" %row: !bht, "cotangent:o" %o_0: !bhte)
// CHECK: %[[R:.*]] = taylor.rope %q
// CHECK: %[[D:.*]] = taylor.map %o_0 / sqrt(%row) + %o
// CHECK: %[[P:.*]] = taylor.pairwise { s0 = dot(%[[R]], %k) } -> columns(s0, %[[D]])
// CHECK: taylor.yield "gradient:v" %[[P]]
taylor.function @f.joint of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:a" %a: !row, "cotangent:o" %do: !o)
    sources [projection, projection, projection, projection(bias)] {
  %qr = taylor.rope %q : !q
  %n = taylor.pairwise { s = dot(%qr, %k) } -> rows(s, %v) : !q, !k, !v -> !o
  %r = taylor.reduce sum over(e) %n * %n : !o
  %l = taylor.map sqrt(%r) : !row
  %o = taylor.map %n / sqrt(%r) : !o, !row
  %dn = taylor.map %do / sqrt(%r) + %o : !o, !row, !o
  %dv = taylor.pairwise { s = dot(%qr, %k) } -> columns(s, %dn) : !q, !k, !o -> !v
  taylor.yield "output:o" %o, "gradient:v" %dv : !o, !v
}

// Names of saved arrays say what they are.
// CHECK-LABEL: taylor.function @g.forward
// CHECK: taylor.yield "output:o" %{{.*}}, "saved:numerator" %{{.*}}, "saved:mass" %{{.*}}, "saved:maximum" %{{.*}}
taylor.function @g.joint of @g("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o) {
  %n, %z, %m = taylor.pairwise { s = dot(%q, %k) m = maximum(s) w = exp(s - m) } -> rows(w, %v), rows(w), maximum : !q, !k, !v -> !o, !row, !row
  %o = taylor.map tanh(%n / %z) : !o, !row
  %dq = taylor.pairwise { s = dot(%q, %k) p = dot(%do, %v) t = dot(%n, %v) } -> rows((p + t) * exp(s - %m) / %z, %k) : !q, !k, !o, !v, !o, !row, !row -> !q
  taylor.yield "output:o" %o, "gradient:q" %dq : !o, !q
}

// What calls hand on may be left out of one, so the backward computes it again, or saves it where it follows from sums.
// CHECK-LABEL: taylor.function @h.forward
// CHECK: %[[E:.*]] = taylor.reduce sum over(u) %x
// CHECK: %[[Z:.*]] = taylor.pairwise
// CHECK: %[[S:.*]] = taylor.map exp(%[[Z]])
// CHECK: taylor.yield "output:o" %{{.*}}, "output:final.edge0" %[[E]], "output:final.sum0" %[[S]], "saved:{{.*}}" %{{.*}} :
// CHECK-LABEL: taylor.function @h.backward of @h("input:x" %x: !bgu, "saved:{{.*}}" %{{.*}}: !bht, "cotangent:o" %{{.*}}: !bht)
// CHECK: taylor.reduce sum over(u) %x
taylor.function @h.joint of @h("input:q" %q: !q, "input:k" %k: !k, "input:x" %x: !col, "cotangent:o" %do: !row) sources [projection, projection, projection] {
  %e = taylor.reduce sum over(u) %x : !col
  %z = taylor.pairwise { s = dot(%q, %k) } -> rows(s) : !q, !k -> !row
  %s = taylor.map exp(%z) : !row
  %o = taylor.map %s * %s : !row
  %t = taylor.map %do * %s : !row, !row
  %n = taylor.reduce sum over(t, h) %t : !row
  %dx = taylor.map exp(%x - %e) * %n : !col, !taylor.array<[b, g]>, !taylor.array<[b]>
  taylor.yield "output:o" %o, "output:final.edge0" %e, "output:final.sum0" %s, "gradient:x" %dx : !row, !taylor.array<[b, g]>, !row, !col
}

// The name is the joint function's: a step's is another one than that of its specification.
// CHECK-LABEL: taylor.function @f.step.forward of @f("input:q" %q: !bhtd) sources [projection] form #tile.form<parallel of step> carries #taylor.carry<queries> {
taylor.function @f.step.joint of @f("input:q" %q: !q) sources [projection] form #tile.form<parallel of step> carries #taylor.carry<queries> {
  %n = taylor.map %q * 2.0 : !q
  taylor.yield "output:n" %n : !q
}
