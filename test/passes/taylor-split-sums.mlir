// Sums into rows and sums into columns by operations of their own.
// RUN: taylor-opt --taylor-split-sums %s | FileCheck %s
// RUN: taylor-opt --taylor-split-sums=diagonals-only %s | FileCheck %s --check-prefix=DIAGONALS

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>

// Each operation has what its own outputs need. The total stays with the columns.
// CHECK-LABEL: taylor.function @gradients
// CHECK-NEXT: %[[DQ:.*]] = taylor.pairwise { s0 = dot(%q, %k), s1 = dot(%o, %v) } visible(u <= t) -> rows((s1 + %z) * exp(s0 * %a), %k) : !bhtd, !bgud, !bhte, !bgue, !bht, !h -> !bhtd
// CHECK-NEXT: %[[REST:.*]]:3 = taylor.pairwise { s0 = dot(%q, %k), s1 = dot(%o, %v), x0 = exp(s0 * %a), x1 = (s1 + %z) * x0 } visible(u <= t) -> columns(x1, %q), columns(x0, %o), total(x1) : !bhtd, !bgud, !bhte, !bgue, !h, !bht -> !bgud, !bgue, !h
// CHECK-NEXT: taylor.yield "gradient:q" %[[DQ]], "gradient:k" %[[REST]]#0, "gradient:v" %[[REST]]#1, "gradient:a" %[[REST]]#2
taylor.function @gradients of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "saved:z" %z: !row, "input:a" %a: !head, "cotangent:o" %do: !o) {
  %dk, %dq, %dv, %da = taylor.pairwise { s = dot(%q, %k), p = dot(%do, %v), w = exp(s * %a), ds = (p + %z) * w } visible(u <= t)
                       -> columns(ds, %q), rows(ds, %k), columns(w, %do), total(ds) : !q, !k, !o, !v, !head, !row -> !k, !q, !v, !head
  taylor.yield "gradient:q" %dq, "gradient:k" %dk, "gradient:v" %dv, "gradient:a" %da : !q, !k, !v, !head
}

// A product that one side does not need is not in its operation.
// CHECK-LABEL: taylor.function @fewer_products
// CHECK-NEXT: taylor.pairwise { s0 = dot(%q, %k) } -> rows(s0, %k)
// CHECK-NEXT: taylor.pairwise { s0 = dot(%o, %v) } -> columns(s0, %q)
taylor.function @fewer_products of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o) {
  %dq, %dk = taylor.pairwise { s = dot(%q, %k), p = dot(%do, %v) } -> rows(s, %k), columns(p, %q) : !q, !k, !o, !v -> !q, !k
  taylor.yield "gradient:q" %dq, "gradient:k" %dk : !q, !k
}

// One kind alone stays, and so does an operation with a running maximum.
// CHECK-LABEL: taylor.function @nothing_to_split
// CHECK-NEXT: taylor.pairwise {{.*}} -> rows({{.*}}, %v), rows({{.*}}), maximum
// CHECK-NEXT: taylor.pairwise {{.*}} -> columns({{.*}}, %q), columns(
// CHECK-NEXT: taylor.yield
taylor.function @nothing_to_split of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n, %z, %m = taylor.pairwise { s = dot(%q, %k), m = maximum(s), w = exp(s - m) } -> rows(w, %v), rows(w), maximum : !q, !k, !v -> !o, !row, !row
  %x, %y = taylor.pairwise { s = dot(%q, %k) } -> columns(s, %q), columns(s) : !q, !k -> !k, !taylor.array<[b, g, u]>
  taylor.yield "output:n" %n, "output:z" %z, "output:m" %m, "output:x" %x, "output:y" %y : !o, !row, !row, !k, !taylor.array<[b, g, u]>
}

// Sums along diagonals have an operation of their own too.
// CHECK-LABEL: taylor.function @diagonals
// CHECK-NEXT: taylor.pairwise {{.*}} -> rows(s0, %k)
// CHECK-NEXT: taylor.pairwise {{.*}} -> columns(s0, %q), total(s0)
// CHECK-NEXT: taylor.pairwise {{.*}} -> diagonals(s0)
// DIAGONALS-LABEL: taylor.function @diagonals
// DIAGONALS-NEXT: taylor.pairwise {{.*}} -> rows(s0, %k), columns(s0, %q), total(s0)
// DIAGONALS-NEXT: taylor.pairwise {{.*}} -> diagonals(s0)
taylor.function @diagonals of @f("input:q" %q: !q, "input:k" %k: !k) {
  %dq, %dl, %dk, %da = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %k), diagonals(s), columns(s, %q), total(s) : !q, !k -> !q, !taylor.array<[h, lag]>, !k, !head
  taylor.yield "gradient:q" %dq, "gradient:l" %dl, "gradient:k" %dk, "gradient:a" %da : !q, !taylor.array<[h, lag]>, !k, !head
}
