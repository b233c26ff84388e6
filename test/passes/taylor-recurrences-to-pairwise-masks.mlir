// Sums that see different keys, joined: functions of one of them alone are maps that run where it sees a key, the whole runs where any does, and nothing is warned of.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics --taylor-specialize=head-dim=4 --taylor-expand-normalize --taylor-recurrences-to-pairwise | FileCheck %s

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
// One quotient of both: no function depends on one sum alone.
// CHECK-LABEL: taylor.spec @beyond_the_window
// CHECK:       %[[NEAR:.*]] = taylor.pairwise {  } visible(and(u <= t, t - u < 8.0)) -> rows(1.0)
// CHECK:       %[[N:.*]]:2 = taylor.pairwise
// CHECK:       %[[FAR:.*]] = taylor.pairwise {  } visible(and(u <= t, 8.0 <= t - u)) -> rows(1.0)
// CHECK:       %[[M:.*]]:2 = taylor.pairwise
// CHECK-NEXT:  %[[ANY:.*]] = taylor.map max(%[[NEAR]], %[[FAR]])
// CHECK-NEXT:  %[[O:.*]] = taylor.map (%[[N]]#0 + %[[M]]#0) / (%[[N]]#1 + %[[M]]#1) live(%[[ANY]])
// CHECK-NEXT:  taylor.yield "o" %[[O]]
taylor.spec @beyond_the_window(%q: !q, %k: !k, %v: !v) parameters(window : index = 8) {
  %n1, %z1 = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal visible(t - u < window) : !q, !k, !v
  %n2, %z2 = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) causal visible(window <= t - u) : !q, !k, !v
  %o = taylor.map (%n1 + %n2) / (%z1 + %z2) : !o, !o, !row, !row
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
// Functions of each; a number next to them is no sum.
// CHECK-LABEL: taylor.spec @parts
// CHECK:       %[[NEAR:.*]] = taylor.map min(max(t + 1.0, 0.0), size(u))
// CHECK:       %[[N:.*]]:2 = taylor.pairwise
// CHECK:       %[[FAR:.*]] = taylor.pairwise {  } visible(and(u <= t, u < t)) -> rows(1.0)
// CHECK:       %[[M:.*]]:2 = taylor.pairwise
// CHECK-NEXT:  %[[ANY:.*]] = taylor.map max(%[[NEAR]], %[[FAR]])
// CHECK-NEXT:  %[[A:.*]] = taylor.map exp(%[[N]]#0 / %[[N]]#1) live(%[[NEAR]])
// CHECK-NEXT:  %[[B:.*]] = taylor.map %[[M]]#0 / %[[M]]#1 live(%[[FAR]])
// CHECK-NEXT:  %[[O:.*]] = taylor.map 1.0 + %[[A]] - %[[B]] * 0.5 live(%[[ANY]])
// CHECK-NEXT:  taylor.yield "o" %[[O]]
taylor.spec @parts(%q: !q, %k: !k, %v: !v) {
  %n1, %z1 = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %n2, %z2 = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal visible(u < t) : !q, !k, !v
  %o = taylor.map 1.0 + exp(%n1 / %z1) - %n2 / %z2 * 0.5 : !o, !row, !o, !row
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
// What mixes tokens is alive, so what joins it is never dead; a function of the other sum alone is.
// CHECK-LABEL: taylor.spec @scanned
// CHECK:       %[[COUNT:.*]] = taylor.pairwise {  } visible(and(u <= t, u < t)) -> rows(1.0)
// CHECK:       %[[N:.*]]:2 = taylor.pairwise
// CHECK:       %[[TERM:.*]] = taylor.map exp(%[[N]]#1) live(%[[COUNT]])
// CHECK-NEXT:  %[[C:.*]] = taylor.scan sum over(t) %[[TERM]]
// CHECK-NEXT:  %[[Q:.*]] = taylor.map %[[N]]#0 / %[[N]]#1 live(%[[COUNT]])
// CHECK-NEXT:  %[[O:.*]] = taylor.map %[[Q]] + %[[C]] :
// CHECK-NEXT:  taylor.yield "o" %[[O]]
taylor.spec @scanned(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal visible(u < t) : !q, !k, !v
  %c = taylor.scan sum over(t) exp(%z) : !row
  %o = taylor.map %n / %z + %c : !o, !row, !row
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
// Two sums with one mask are guarded once.
// CHECK-LABEL: taylor.spec @alike
// CHECK:       taylor.map %{{.*}} / %{{.*}} - %{{.*}} / %{{.*}} live(%[[COUNT:[0-9]+]]) : !bhte_f32, !bht_f32, !bhte_f32, !bht_f32, !t_f32
taylor.spec @alike(%q: !q, %k: !k, %v: !v) {
  %n1, %z1 = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal visible(u < t) : !q, !k, !v
  %n2, %z2 = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) causal visible(u < t) : !q, !k, !v
  %o = taylor.map %n1 / %z1 - %n2 / %z2 : !o, !row, !o, !row
  taylor.yield %o : !o
}
