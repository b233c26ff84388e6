// What comes before a series and what comes after, each a specification of its own.
// RUN: taylor-opt --taylor-split-series %s | FileCheck %s
// Both halves are specifications like any other.
// RUN: taylor-opt --taylor-split-series %s | taylor-opt --taylor-to-pairwise | FileCheck %s --check-prefix=PAIRWISE
// PAIRWISE: taylor.function @softmax_operands.forward
// PAIRWISE: taylor.function @softmax_rest.forward

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
!head = !taylor.array<[h]>

// The scale goes to the query; what the other half needs is not computed.
// CHECK-LABEL: taylor.spec @softmax_operands(%q: {{.*}}, %k: {{.*}}, %v: {{.*}}) series {decay = false, mask = "causal", sums = {mass = "mass", numerator = "numerator"}} {
// CHECK-NEXT: %[[Q:.*]] = taylor.rope %q
// CHECK-NEXT: %[[K:.*]] = taylor.rope %k
// CHECK-NEXT: %[[S:.*]] = taylor.map %[[Q]] * rsqrt(size(d))
// CHECK-NEXT: taylor.yield "query" %[[S]], "key" %[[K]], "value" %v
// CHECK-LABEL: taylor.spec @softmax_rest(%gate: {{.*}}, %numerator: {{.*}} from input, %mass: {{.*}} from input) {
// CHECK-NEXT: %[[O:.*]] = taylor.map sigmoid(%gate) * %numerator / %mass
// CHECK-NEXT: taylor.yield "o" %[[O]]
taylor.spec @softmax(%q: !q, %k: !k, %v: !v, %gate: !row from projection(bias)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential causal : !q, !k, !v
  %o = taylor.map sigmoid(%gate) * %n / %z : !row, !o, !row
  taylor.yield %o : !o
}

// Orders named by a parameter become numbers; what is computed before the series and read after it is in both.
// CHECK-LABEL: taylor.spec @finite_operands
// CHECK-SAME: series {coefficients = [1.000000e+00, 5.000000e-01, 0.16666666666666666], decay = false, first = 1 : i64, mask = "bidirectional"
// CHECK-SAME: sums = {count = "count", numerator = "numerator"}
// CHECK-NEXT: %[[Q:.*]] = taylor.map select(%q <= 0.0, 0.0, %q)
// CHECK-NEXT: taylor.yield "query" %[[Q]], "key" %k, "value" %v
// CHECK-LABEL: taylor.spec @finite_rest(%q: {{.*}}, %power: {{.*}} from parameter(constant(0.5)), %numerator: {{.*}} from input, %count: {{.*}} from input) parameters(order : index = 3) {
// CHECK-NEXT: %[[Q:.*]] = taylor.map select(%q <= 0.0, 0.0, %q)
// CHECK-NEXT: %[[R:.*]] = taylor.reduce sum over(d) %[[Q]]
// CHECK-NEXT: taylor.map %[[R]] * %numerator / pow(%count, %power)
taylor.spec @finite(%q: !q, %k: !k, %v: !v, %power: !head from parameter(constant(0.5))) parameters(order : index = 3) {
  %qf = taylor.map relu(%q) : !q
  %n, %c = taylor.recurrences [numerator, count] %qf, %k, %v orders(1 to order) bidirectional : !q, !k, !v
  %r = taylor.reduce sum over(d) %qf : !q
  %o = taylor.map %r * %n / pow(%c, %power) : !row, !o, !row, !head
  taylor.yield %o : !o
}

// A decay is a fourth operand; a sum gets a name that no argument has.
// CHECK-LABEL: taylor.spec @decayed_operands
// CHECK-SAME: decay = true
// CHECK-SAME: sums = {numerator = "numerator_sum"}
// CHECK: %[[L:.*]] = taylor.scan sum over(u) %numerator
// CHECK-NEXT: taylor.yield "query" %q, "key" %k, "value" %v, "decay" %[[L]]
// CHECK-LABEL: taylor.spec @decayed_rest(%numerator_sum: {{.*}} from input) {
// CHECK-NEXT: taylor.map %numerator_sum * 2.0
taylor.spec @decayed(%q: !q, %k: !k, %v: !v, %numerator: !column from projection(bias)) {
  %l = taylor.scan sum over(u) %numerator : !column
  %n = taylor.recurrences %q, %k, %v orders(0 to 1) coefficients(1.0, 0.25) decay(%l) causal : !q, !k, !v, !column
  %o = taylor.map %n * 2.0 : !o
  taylor.yield %o : !o
}

// A weight that is a polynomial of the score has orders, however it is written.
// CHECK-LABEL: taylor.spec @polynomial_operands
// CHECK-SAME: series {coefficients = [1.000000e+00, 5.000000e-01, 0.000000e+00, -2.500000e-01], decay = false, first = 0 : i64, mask = "causal"
// CHECK-LABEL: taylor.spec @polynomial_rest
taylor.spec @polynomial(%q: !q, %k: !k, %v: !v) {
  %n = taylor.recurrences %q, %k, %v weight(1.0 + s / 2.0 - pow(s, 3.0) / 4.0) causal : !q, !k, !v
  taylor.yield %n : !o
}
