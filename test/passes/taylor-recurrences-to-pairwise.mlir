// Sums over keys become pairwise operations, and what depends on them is guarded by their count.
// RUN: taylor-opt --taylor-recurrences-to-pairwise %s | FileCheck %s

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!col = !taylor.array<[b, h, u]>
!head = !taylor.array<[h]>
!token = !taylor.array<[b, t]>
!at = !taylor.array<[t]>
!docq = !taylor.array<[b, t], i32>
!dock = !taylor.array<[b, u], i32>

// All orders with 1/n! are exp. The count of a causal mask is a formula.
// CHECK-LABEL: taylor.spec @exponential
// CHECK: %[[C:.*]] = taylor.map min(max(t + 1.0, 0.0), size(u))
// CHECK: %[[P:.*]]:2 = taylor.pairwise { s0 = dot(%q, %k), x0 = exp(s0 * rsqrt(size(d))) } visible(u <= t) -> rows(x0, %v), rows(x0)
// CHECK: %[[O:.*]] = taylor.map %[[P]]#0 / %[[P]]#1 live(%[[C]])
// CHECK: %[[R:.*]] = taylor.reduce sum over(e) %[[O]] live(%[[C]])
// CHECK: taylor.map %a * %[[R]] live(%[[C]])
taylor.spec @exponential(%q: !q, %k: !k, %v: !v, %a: !row from projection) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  %r = taylor.reduce sum over(e) %o : !o
  %y = taylor.map %a * %r : !row, !row
  taylor.yield %y : !row
}

// Finite orders are a Horner scheme; without a mask every key counts.
// CHECK-LABEL: taylor.spec @series
// CHECK: taylor.map size(u){{$}}
// CHECK: taylor.pairwise { s0 = dot(%q, %k) } -> rows((0.25 * s0 + 3.0) * s0 * s0, %v)
taylor.spec @series(%q: !q, %k: !k, %v: !v) {
  %o = taylor.recurrences %q, %k, %v orders(2 to 3) coefficients(3.0, 0.25) bidirectional : !q, !k, !v
  taylor.yield %o : !o
}

// One recurrence is a series of one order.
// CHECK-LABEL: taylor.spec @single
// CHECK: rows(0.5 * s0 * s0, %v)
taylor.spec @single(%q: !q, %k: !k, %v: !v) {
  %o = taylor.recurrence %q, %k, %v order(2) coefficient(0.5) causal : !q, !k, !v
  taylor.yield %o : !o
}

// The score is mapped before the weight; a decay joins the exponent of exp ..
// CHECK-LABEL: taylor.spec @decay
// CHECK: %[[L:.*]] = taylor.align %L to t
// CHECK: -> rows(exp(min(s0 * 0.5, 5.0) + (%[[L]] - %L)), %v)
taylor.spec @decay(%q: !q, %k: !k, %v: !v, %L: !col from projection) {
  %o = taylor.recurrences %q, %k, %v orders(all) scale(0.5) score(min(s, 5.0)) decay(%L) causal : !q, !k, !v, !col
  taylor.yield %o : !o
}

// .. and multiplies another weight.
// CHECK-LABEL: taylor.spec @decay_of_a_series
// CHECK: %[[L:.*]] = taylor.align %L to t
// CHECK: -> rows((1.0 * s0 + 1.0) * exp(%[[L]] - %L), %v)
taylor.spec @decay_of_a_series(%q: !q, %k: !k, %v: !v, %L: !col from projection) {
  %o = taylor.recurrences %q, %k, %v orders(0 to 1) decay(%L) causal : !q, !k, !v, !col
  taylor.yield %o : !o
}

// A formula as weight, with a scalar of the head.
// CHECK-LABEL: taylor.spec @weight
// CHECK: -> rows(softplus(s0 * %m), %v)
taylor.spec @weight(%q: !q, %k: !k, %v: !v, %m: !head from parameter(ones)) {
  %o = taylor.recurrences %q, %k, %v weight(softplus(s * %m)) causal : !q, !k, !v, !head
  taylor.yield %o : !o
}

// Further conditions: the count is a sum over pairs, over the axes that the conditions read.
// CHECK-LABEL: taylor.spec @conditions
// CHECK: %[[C:.*]] = taylor.pairwise { {{ *}}} visible(and(u <= t, %dq == %dk)) -> rows(1.0) : !bt_i32, !bu_i32 -> !bt
// CHECK: %[[W:.*]] = taylor.map %[[C]] : !bt -> !bht
// CHECK: %[[N:.*]] = taylor.pairwise { s0 = dot(%q, %k) } visible(and(u <= t, %dq == %dk)) -> rows(exp(s0), %v)
// CHECK: taylor.map %[[N]] / %[[W]] live(%[[C]])
taylor.spec @conditions(%q: !q, %k: !k, %v: !v, %dq: !docq from input, %dk: !dock from input) {
  %n, %c = taylor.recurrences [numerator, count] %q, %k, %v orders(all) causal visible(%dq == %dk) : !q, !k, !v, !docq, !dock
  %o = taylor.map %n / %c : !o, !row
  taylor.yield %o : !o
}

// Dead rows are no terms of a scan, which is alive: a sum's are 0, as what a sum over keys gives is already; a maximum's are minus infinity.
// CHECK-LABEL: taylor.spec @scans
// CHECK: %[[C:.*]] = taylor.map min(max(t + 1.0, 0.0), size(u))
// CHECK: %[[Z:.*]] = taylor.pairwise
// CHECK: %[[T:.*]] = taylor.map exp(-%[[Z]]) live(%[[C]])
// CHECK: %[[A:.*]] = taylor.scan sum over(t) %[[T]]
// CHECK: %[[B:.*]] = taylor.scan sum over(t) %[[Z]]
// CHECK: %[[M:.*]] = taylor.map -%[[Z]] live(%[[C]])
// CHECK: %[[D:.*]] = taylor.scan max over(t) select(0.0 < %[[C]], %[[M]], -infinity())
// CHECK: taylor.map %[[A]] + %[[B]] + %[[D]] : !bht
taylor.spec @scans(%q: !q, %k: !k, %v: !v) {
  %z = taylor.recurrences [mass] %q, %k, %v orders(all) causal : !q, !k, !v
  %a = taylor.scan sum over(t) exp(-%z) : !row
  %b = taylor.scan sum over(t) %z : !row
  %c = taylor.scan max over(t) -%z : !row
  %o = taylor.map %a + %b + %c : !row, !row, !row
  taylor.yield %o : !row
}

// A mask of its own for each head: its count has the axis too. What is reduced over heads is dead where all of them are.
// CHECK-LABEL: taylor.spec @heads
// CHECK: %[[C:.*]] = taylor.pairwise { {{ *}}} visible(and(u <= t, u + h <= t)) -> rows(1.0) : {{.*}}-> !ht
// CHECK: %[[Z:.*]] = taylor.pairwise { s0
// CHECK: %[[E:.*]] = taylor.reduce max over(h) %[[C]] : !ht
// CHECK: %[[S:.*]] = taylor.reduce sum over(h) exp(-%[[Z]]) live(%[[C]])
// CHECK: %[[T:.*]] = taylor.map -%[[Z]] live(%[[C]])
// CHECK: %[[M:.*]] = taylor.reduce max over(h) select(0.0 < %[[C]], %[[T]], -infinity()) live(%[[E]])
// CHECK: taylor.map %[[S]] / %[[M]] live(%[[E]])
taylor.spec @heads(%q: !q, %k: !k, %v: !v) {
  %z = taylor.recurrences [mass] %q, %k, %v orders(all) causal visible(u + h <= t) : !q, !k, !v
  %s = taylor.reduce sum over(h) exp(-%z) : !row
  %m = taylor.reduce max over(h) -%z : !row
  %o = taylor.map %s / %m : !token, !token
  taylor.yield %o : !token
}

// What only sums over keys read is guarded where it may be no finite number, or have such a derivative, but not what is finite (%s, %f), nor what others read too
// (%y). Of two sums with masks of their own, one that sees a key is enough.
// CHECK-LABEL: taylor.spec @operands
// CHECK-DAG: %[[C:.*]] = taylor.map min(max(t + 1.0, 0.0), size(u))
// CHECK-DAG: %[[D:.*]] = taylor.pairwise { {{ *}}} visible(and(u <= t, u + 2.0 <= t)) -> rows(1.0)
// CHECK: %[[A:.*]] = taylor.map max(%[[D]], %[[C]])
// CHECK: %[[R:.*]] = taylor.map %q / (t + 1.0) live(%[[A]])
// CHECK: %[[S:.*]] = taylor.map %[[R]] * 0.5 : !bhtd
// CHECK: %[[L:.*]] = taylor.reduce sum over(d) log(%q) live(%[[C]])
// CHECK: %[[F:.*]] = taylor.map %q / (max(%{{.*}}, 1.0) + 1.0) :
// CHECK: %[[Y:.*]] = taylor.map sqrt(t){{$}}
// CHECK: taylor.pairwise {{.*}}dot(%[[S]], %k)
taylor.spec @operands(%q: !q, %k: !k, %v: !v) {
  %r = taylor.map %q / (t + 1.0) : !q
  %s = taylor.map %r * 0.5 : !q
  %l = taylor.reduce sum over(d) log(%q) : !q
  %f = taylor.map %q / (max(%l, 1.0) + 1.0) : !q, !row
  %y = taylor.map sqrt(t) -> !at
  %n = taylor.recurrences %s, %k, %v exponential score(s + %y) causal : !q, !k, !v, !at
  %m = taylor.recurrences %s, %k, %v exponential causal visible(u + 2.0 <= t) : !q, !k, !v
  %p = taylor.recurrences %f, %k, %v exponential causal : !q, !k, !v
  %c = taylor.scan sum over(t) %y : !at
  %o = taylor.map %n + %m + %p + %c : !o, !o, !o, !at
  taylor.yield %o : !o
}
