// A finite sum over orders becomes one recurrence per order.
// RUN: taylor-opt --taylor-expand-recurrences %s | FileCheck %s
// Collected again, it is the series it was.
// RUN: taylor-opt --taylor-expand-recurrences --taylor-collect-recurrences %s | FileCheck %s --check-prefix=BACK

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!col = !taylor.array<[b, h, u]>

// CHECK-LABEL: taylor.spec @numerator_and_mass
// CHECK: %[[R0:.*]]:2 = taylor.recurrence [numerator, mass] %q, %k, %v order(0) scale(rsqrt(size(d))) causal
// CHECK: %[[R1:.*]]:2 = taylor.recurrence [numerator, mass] %q, %k, %v order(1) scale(rsqrt(size(d))) causal
// CHECK: %[[N1:.*]] = taylor.map %[[R0]]#0 + %[[R1]]#0
// CHECK: %[[Z1:.*]] = taylor.map %[[R0]]#1 + %[[R1]]#1
// CHECK: %[[R2:.*]]:2 = taylor.recurrence [numerator, mass] %q, %k, %v order(2) coefficient(0.5) scale(rsqrt(size(d))) causal
// CHECK: %[[N:.*]] = taylor.map %[[N1]] + %[[R2]]#0
// CHECK: %[[Z:.*]] = taylor.map %[[Z1]] + %[[R2]]#1
// CHECK: taylor.map %[[N]] / %[[Z]]
// BACK-LABEL: taylor.spec @numerator_and_mass
// BACK: %[[S:.*]]:2 = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) scale(rsqrt(size(d))) causal
// BACK-NEXT: taylor.map %[[S]]#0 / %[[S]]#1
taylor.spec @numerator_and_mass(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) scale(rsqrt(size(d))) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

// An order with coefficient 0 needs no state; a count has no orders.
// CHECK-LABEL: taylor.spec @gap_decay_and_count
// CHECK: taylor.recurrence [numerator] %q, %k, %v order(1) coefficient(2.0) decay(%L) causal
// CHECK: taylor.recurrence [numerator] %q, %k, %v order(3) coefficient(0.25) decay(%L) causal
// CHECK: taylor.recurrences [count] %q, %k, %v orders(1 to 3) coefficients(2.0, 0.0, 0.25) decay(%L) causal
// BACK-LABEL: taylor.spec @gap_decay_and_count
// BACK: taylor.recurrences [numerator] %q, %k, %v orders(1 to 3) coefficients(2.0, 0.0, 0.25) decay(%L) causal
taylor.spec @gap_decay_and_count(%q: !q, %k: !k, %v: !v, %L: !col from projection) {
  %n, %c = taylor.recurrences [numerator, count] %q, %k, %v orders(1 to 3) coefficients(2.0, 0.0, 0.25) decay(%L) causal
           : !q, !k, !v, !col
  %o = taylor.map %n / %c : !o, !row
  taylor.yield %o : !o
}

// What has no state of finite size stays.
// CHECK-LABEL: taylor.spec @no_states
// CHECK-NOT: taylor.recurrence [
taylor.spec @no_states(%q: !q, %k: !k, %v: !v) {
  %a = taylor.recurrences %q, %k, %v exponential causal : !q, !k, !v
  %b = taylor.recurrences %q, %k, %v orders(0 to 2) score(min(s, 5.0)) causal : !q, !k, !v
  %c = taylor.recurrences %q, %k, %v orders(0 to 2) causal visible(t - u < 8.0) : !q, !k, !v
  %d = taylor.recurrences %q, %k, %v weight(softplus(s)) causal : !q, !k, !v
  %o = taylor.map %a + %b + %c + %d : !o, !o, !o, !o
  taylor.yield %o : !o
}
