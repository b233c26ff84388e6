// Sums of high powers alone that are divided by their mass are told where the recurrence makes of them sums that cancel; where components are not
// negative, a lower order is beside them, or a number is added to them, none do, and pieces have pairs.
// RUN: taylor-opt %s --taylor-plan-states=mode=recurrent --taylor-carry-states --split-input-file --verify-diagnostics -o %t
// RUN: taylor-opt %s --taylor-plan-states --taylor-carry-states --split-input-file 2>&1 | FileCheck %s --implicit-check-not='warning: '
// CHECK: taylor.spec @square

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
!row = !taylor.array<[b, h, t], f32>
taylor.spec @square(%q: !q, %k: !k, %v: !v) {
  // expected-warning @below {{a mass without orders 0 and 1 has few digits as a recurrence in rows whose scores are all near 0, where its features cancel: add an order 0, or to the mass a number of its usual size}}
  %n, %z = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * s, %v), rows(s * s) : !q, !k, !v -> !o, !row
  %o = taylor.map %n / (%z + 1.0e-6) : !o, !row
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
!row = !taylor.array<[b, h, t], f32>
taylor.spec @others(%q: !q, %k: !k, %v: !v) {
  %qf = taylor.map relu(%q) : !q
  %kf = taylor.map relu(%k) : !k
  %a, %x = taylor.pairwise { s = dot(%qf, %kf) } visible(u <= t) -> rows(s * s, %v), rows(s * s) : !q, !k, !v -> !o, !row
  %b, %y = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * s + 1.0, %v), rows(s * s + 1.0) : !q, !k, !v -> !o, !row
  %c = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * s, %v) : !q, !k, !v -> !o
  %d, %z = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * s, %v), rows(s * s) : !q, !k, !v -> !o, !row
  %o = taylor.map %a / (%x + 1.0e-6) + %b / %y + %c + %d / (1.0 + %z) : !o, !row, !o, !row, !o, !o, !row
  taylor.yield %o : !o
}
