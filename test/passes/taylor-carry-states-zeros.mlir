// A sum whose weights are 0 has no states that calls hand on; token after token it is 0.
// RUN: taylor-opt %s --taylor-plan-states --taylor-carry-states | FileCheck %s
// RUN: taylor-opt %s --taylor-plan-states=mode=recurrent --taylor-carry-states | FileCheck %s --check-prefix=STEPS

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
!row = !taylor.array<[b, h, t], f32>
!column = !taylor.array<[b, g, u], f32>

// CHECK-LABEL: taylor.spec @alone
// CHECK-NOT:   {{initial.(state|edge)}}
// CHECK:       %[[N:.*]] = taylor.pairwise
// CHECK:       taylor.yield "n" %[[N]]
// STEPS-LABEL: taylor.spec @alone
// STEPS-NOT:   {{initial.(state|edge)}}
// STEPS:       %[[N:.*]] = taylor.map 0.0 -> !bhte
// STEPS:       taylor.yield "n" %[[N]]
taylor.spec @alone(%q: !q, %k: !k, %v: !v, %c: !column) {
  %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows((s - s) * exp(t - %c), %v) : !q, !k, !column, !v -> !o
  taylor.yield %n : !o
}

// STEPS-LABEL: taylor.spec @beside
// STEPS:       %[[STEP:.*]]:2 = taylor.step_states
// STEPS-NEXT:  %[[N:.*]] = taylor.map 0.0 -> !bhte
// STEPS:       taylor.map %[[N]] + %[[STEP]]#0
taylor.spec @beside(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s - s, %v), rows(s) : !q, !k, !v -> !o, !row
  %o = taylor.map %n + %z : !o, !row
  taylor.yield %o : !o
}
