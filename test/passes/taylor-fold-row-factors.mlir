// A factor per row moves from an operand into the weights. Functions before and after are evaluated, too.
// RUN: taylor-opt --taylor-fold-row-factors %s | FileCheck %s
// RUN: sed 's/[.]forward of/.forward_long of/; s/[.]backward of/.backward_long of/' %s | taylor-opt --taylor-fold-row-factors | FileCheck %s --check-prefix=LONG
// RUN: taylorc %spec_dir/softmax.mlir --emit=pairwise -o %t.mlir
// RUN: taylor-opt --taylor-fold-row-factors %t.mlir -o %t.folded.mlir
// RUN: FileCheck %s --check-prefix=SPEC --input-file %t.folded.mlir
// RUN: taylor-run %spec_dir/softmax.mlir --functions=%t.folded.mlir --shape=b=1,h=4,g=2,t=5,u=7,d=64,e=64
// RUN: taylorc %spec_dir/softmax-taylor.mlir --set order=3 --emit=pairwise -o %t.mlir
// RUN: taylor-opt --taylor-fold-row-factors %t.mlir -o %t.folded.mlir
// RUN: FileCheck %s --check-prefix=SERIES --input-file %t.folded.mlir
// RUN: taylor-run %spec_dir/softmax-taylor.mlir --set order=3 --functions=%t.folded.mlir --shape=b=1,h=4,g=2,t=5,u=7,d=64,e=64

// The derivative of every softmax: dO is read as it lies.
// SPEC-LABEL: taylor.function @softmax.backward
// SPEC:       taylor.pairwise { {{.*}}, s1 = dot(%o_0, %v), x0 = exp({{.*}}), x1 = ({{.*}}) * x0 } visible(u <= t) -> columns(x0, %o_0),

// The derivative of every finite series: the weights of dO are multiplied by the factor.
// SERIES-LABEL: taylor.function @softmax_taylor.backward
// SERIES:       %[[A:.*]] = taylor.map 1.0 / %mass live(%{{.*}})
// SERIES:       s1 = dot(%o_0, %v){{.*}} (s1 * %[[A]] + %{{[0-9]+}}){{.*}} columns({{.*}} * %[[A]], %o_0)

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>

// A backward of another form has the forward of that form.
// LONG-LABEL: taylor.function @f.backward_long
// LONG:       %[[L:.*]] = taylor.map select(%{{.*}} <= 0.0, infinity(), %m - log(%{{.*}}))
// LONG:       x0 = exp(s0 - %[[L]]) * %g

// What tells that the saved mass is no less than 0 is how the forward makes it.
taylor.function @f.forward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n, %z, %m = taylor.pairwise { s = dot(%q, %k), m = maximum(s), w = exp(s - m) } visible(u <= t) -> rows(w, %v), rows(w), maximum : !q, !k, !v -> !o, !row, !row
  %x = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s) : !q, !k -> !row
  %o = taylor.map %n / %z : !o, !row
  taylor.yield "output:o" %o, "saved:z" %z, "saved:m" %m, "saved:x" %x : !o, !row, !row, !row
}

// The exponential takes the factor, what is added to a product with dO is divided by it, and a gate of keys stays.
// CHECK-LABEL: taylor.function @f.backward
// CHECK:      %[[A:.*]] = taylor.map 1.0 / %z : !bht
// CHECK-NEXT: %[[C:.*]] = taylor.map %z * %m : !bht, !bht
// CHECK-NEXT: %[[D:.*]] = taylor.map select(%[[A]] <= 0.0, 0.0, %[[C]] / %[[A]]) : !bht, !bht
// CHECK-NEXT: %[[L:.*]] = taylor.map select(%[[A]] <= 0.0, infinity(), %m - log(%[[A]])) : !bht, !bht
// CHECK-NEXT: taylor.pairwise { s0 = dot(%q, %k), s1 = dot(%o, %v), x0 = exp(s0 - %[[L]]) * %g, x1 = (%[[D]] - s1) * x0 } visible(u <= t) -> columns(x1, %q), rows(x1, %k), columns(x0, %o) : !bhtd, !bgud, !bhte, !bgue, !bht, !bgu, !bht -> !bgud, !bhtd, !bgue
// CHECK-NEXT: taylor.yield
taylor.function @f.backward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:g" %g: !column, "saved:z" %z: !row, "saved:m" %m: !row, "cotangent:o" %do: !o) {
  %n = taylor.map %do / %z : !o, !row
  %c = taylor.map %z * %m : !row, !row
  %dk, %dq, %dv = taylor.pairwise { s = dot(%q, %k), p = dot(%n, %v), w = exp(s - %m) * %g, ds = (%c - p) * w } visible(u <= t)
                  -> columns(ds, %q), rows(ds, %k), columns(w, %n) : !q, !k, !o, !v, !row, !column, !row -> !k, !q, !v
  taylor.yield "gradient:q" %dq, "gradient:k" %dk, "gradient:v" %dv : !q, !k, !v
}

// Without something subtracted the logarithm is added; a guard gives rows without keys a factor of 0.
// CHECK-LABEL: taylor.function @h.backward
// CHECK:      %[[A:.*]] = taylor.map 1.0 / exp(%y) live(%n) : !bht, !t
// CHECK-NEXT: %[[L:.*]] = taylor.map select(%[[A]] <= 0.0, -infinity(), log(%[[A]])) : !bht
// CHECK-NEXT: taylor.pairwise { s0 = dot(%q, %k) } visible(u <= t) -> columns(exp(s0 + %[[L]]), %o)
taylor.function @h.backward of @h("input:q" %q: !q, "input:k" %k: !k, "input:y" %y: !row, "saved:n" %n: !taylor.array<[t]>, "cotangent:o" %do: !o) {
  %a = taylor.map %do / exp(%y) live(%n) : !o, !row, !taylor.array<[t]>
  %dv = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> columns(exp(s), %a) : !q, !k, !o -> !v
  taylor.yield "gradient:v" %dv : !v
}

// Weights without an exponential are multiplied by the factor, and so are the products with dO; a weight that another
// sum takes keeps its value there.
// CHECK-LABEL: taylor.function @p.backward
// CHECK:      %[[A:.*]] = taylor.map 1.0 / %z : !bht
// CHECK-NEXT: taylor.pairwise { s0 = dot(%q, %k), s1 = dot(%o, %v), x0 = s0 + 1.0 } visible(u <= t) -> columns((s1 * %[[A]] + %c) * s0, %q), columns(x0 * %[[A]], %o), columns(x0) :
// CHECK-NEXT: taylor.yield
taylor.function @p.backward of @p("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:c" %c: !row, "saved:z" %z: !row, "cotangent:o" %do: !o) {
  %n = taylor.map %do / %z : !o, !row
  %dk, %dv, %mass = taylor.pairwise { s = dot(%q, %k), p = dot(%n, %v), w = s + 1.0, ds = (p + %c) * s } visible(u <= t)
                    -> columns(ds, %q), columns(w, %n), columns(w) : !q, !k, !o, !v, !row -> !k, !v, !column
  taylor.yield "gradient:q" %dk, "gradient:v" %dv, "gradient:c" %mass : !k, !v, !column
}

// Left alone: a factor of exponentials that may be negative, weights that are not linear in the products that would be
// multiplied, an output that would change, a factor of channels, one that may be 0 in a row with keys where a scalar
// would be divided by it, and a quotient of scalars that contain the factor in different powers.
// CHECK-LABEL: taylor.function @g.backward
// CHECK-NOT:   log
// CHECK:       taylor.pairwise { s0 = dot(%{{[0-9]+}}, %v) } visible(u <= t) -> columns(s0 * s0, %q)
// CHECK-COUNT-4: taylor.pairwise
// CHECK-NOT:   log
// CHECK:       taylor.yield
taylor.function @g.backward of @g("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "saved:x" %x: !row, "saved:z" %z: !row, "saved:y" %y: !o, "cotangent:o" %do: !o) {
  %a = taylor.map %do * %x : !o, !row
  %b = taylor.map %do / exp(%z) : !o, !row
  %c = taylor.map %do / exp(%y) : !o, !o
  %d = taylor.map %do * sigmoid(%z) : !o, !row
  %0 = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> columns(exp(s), %a) : !q, !k, !o -> !v
  %1 = taylor.pairwise { s = dot(%b, %v) } visible(u <= t) -> columns(s * s, %q) : !o, !v, !q -> !k
  %2, %3 = taylor.pairwise { s = dot(%q, %k), w = exp(s) } visible(u <= t) -> columns(w, %b), columns(w, %q) : !q, !k, !o -> !v, !k
  %4 = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> columns(exp(s), %c) : !q, !k, !o -> !v
  %5 = taylor.pairwise { s = dot(%q, %k), p = dot(%d, %v), w = exp(s) } visible(u <= t) -> columns(w * (p + %z), %q) : !q, !k, !o, !v, !row -> !k
  %6 = taylor.pairwise { s = dot(%b, %v) } visible(u <= t) -> rows(s * exp(s) * abs(s) / (1.0 + abs(s)), %v) : !o, !v -> !o
  taylor.yield "gradient:a" %0, "gradient:b" %1, "gradient:c" %2, "gradient:d" %3, "gradient:e" %4, "gradient:f" %5, "gradient:g" %6 : !v, !k, !v, !k, !v, !k, !o
}
