// Recurrences that are only added up are one series.
// RUN: taylor-opt --taylor-collect-recurrences %s | FileCheck %s

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!s = !taylor.array<[b, g, e, f]>

// In any order of addition; one order twice adds its coefficients.
// CHECK-LABEL: taylor.spec @sums
// CHECK-NEXT: %[[N:.*]] = taylor.recurrences [numerator] %q, %k, %v orders(0 to 3) coefficients(1.0, 0.0, 1.0, 0.125) causal
// CHECK-NEXT: taylor.yield "o" %[[N]]
taylor.spec @sums(%q: !q, %k: !k, %v: !v) {
  %3 = taylor.recurrence %q, %k, %v order(3) coefficient(0.125) causal : !q, !k, !v
  %2 = taylor.recurrence %q, %k, %v order(2) coefficient(0.5) causal : !q, !k, !v
  %again = taylor.recurrence %q, %k, %v order(2) coefficient(0.5) causal : !q, !k, !v
  %0 = taylor.recurrence %q, %k, %v order(0) causal : !q, !k, !v
  %a = taylor.map %2 + %again : !o, !o
  %b = taylor.map %3 + (%0 + %a) : !o, !o, !o
  taylor.yield "o" %b : !o
}

// Terms that cancel are series of their own: one needs a coefficient.
// CHECK-LABEL: taylor.spec @cancelled
// CHECK-NEXT: %[[A:.*]] = taylor.recurrences [numerator] %q, %k, %v orders(1 to 1) coefficients(0.5) causal
// CHECK-NEXT: %[[B:.*]] = taylor.recurrences [numerator] %q, %k, %v orders(1 to 1) coefficients(-0.5) causal
// CHECK-NEXT: taylor.map %[[A]] + %[[B]]
taylor.spec @cancelled(%q: !q, %k: !k, %v: !v) {
  %0 = taylor.recurrence %q, %k, %v order(1) coefficient(0.5) causal : !q, !k, !v
  %1 = taylor.recurrence %q, %k, %v order(1) coefficient(-0.5) causal : !q, !k, !v
  %a = taylor.map %0 + %1 : !o, !o
  taylor.yield %a : !o
}

// Terms that differ in scale are series of their own; one with a state stays a recurrence.
// CHECK-LABEL: taylor.spec @kept
// CHECK: taylor.recurrences [numerator] %q, %k, %v orders(0 to 0) causal
// CHECK: taylor.recurrences [numerator] %q, %k, %v orders(1 to 1) scale(2.0) causal
// CHECK: taylor.recurrence [numerator, state] %q, %k, %v order(1) causal
taylor.spec @kept(%q: !q, %k: !k, %v: !v) {
  %0 = taylor.recurrence %q, %k, %v order(0) causal : !q, !k, !v
  %1 = taylor.recurrence %q, %k, %v order(1) scale(2.0) causal : !q, !k, !v
  %2, %s = taylor.recurrence [numerator, state] %q, %k, %v order(1) causal : !q, !k, !v
  %a = taylor.map %0 + %1 + %2 : !o, !o, !o
  taylor.yield %a, %s : !o, !s
}

// What a map widens or rounds has another type than the series of its terms.
// CHECK-LABEL: taylor.spec @rounded
// CHECK: %[[A:.*]] = taylor.recurrences [numerator] %q, %k, %v orders(0 to 0) causal
// CHECK: %[[B:.*]] = taylor.recurrences [numerator] %q, %k, %v orders(1 to 1) causal
// CHECK: taylor.map %[[A]] + %[[B]] : {{.*}} -> !bhte_bf16
taylor.spec @rounded(%q: !q, %k: !k, %v: !v) {
  %0 = taylor.recurrence %q, %k, %v order(0) causal : !q, !k, !v
  %1 = taylor.recurrence %q, %k, %v order(1) causal : !q, !k, !v
  %a = taylor.map %0 + %1 : !o, !o -> !taylor.array<[b, h, t, e], bf16>
  taylor.yield %a : !taylor.array<[b, h, t, e], bf16>
}
