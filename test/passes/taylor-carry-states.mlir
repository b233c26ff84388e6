// A sum over keys reads what earlier calls left, and leaves what it adds; counts and places count from the first token of all; the backward gives the gradient
// of the states before the call from that of the states after it, begun where the caller's ends.
// RUN: taylor-opt %s --taylor-carry-states | FileCheck %s
// RUN: taylor-opt %s --taylor-carry-states=recurrent | FileCheck %s --check-prefix=STEPS
// RUN: taylor-opt %s --taylor-carry-states=recurrent --canonicalize --taylor-derive-backward=forward-only --taylor-split-backward | FileCheck %s --check-prefix=ALONE
// RUN: taylor-opt %s --taylor-carry-states --taylor-derive-backward --taylor-simplify-arrays --canonicalize --cse | FileCheck %s --check-prefix=BACK

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
!row = !taylor.array<[b, h, t], f32>
!t = !taylor.array<[t], f32>
// CHECK-LABEL: taylor.spec @series
// CHECK-SAME: %initial.state0: !bgfe_f32 from input, %initial.state1: !bgf_f32 from input, %initial.position: !b_f32 from input
// CHECK: %[[COUNT:.*]] = taylor.map min(max(t + %initial.position + 1.0, 0.0), size(u) + %initial.position)
// CHECK: %[[SUMS:.*]]:2 = taylor.pairwise
// CHECK: %[[READ:.*]]:2 = taylor.read_states %q from %initial.state0, %initial.state1 into %[[SUMS]]#0, %[[SUMS]]#1 orders(0 to 1) weights [2.000000e+00, 1.000000e+00]
// CHECK: %[[NEXT:.*]]:2 = taylor.states %k, %v initial %initial.state0, %initial.state1 mass orders(0 to 1)
// CHECK: taylor.map %[[READ]]#0 / (%[[READ]]#1 * %[[COUNT]])
// CHECK: %[[POSITION:.*]] = taylor.map %initial.position + size(u)
// CHECK: taylor.yield "o" %{{.*}}, "final.state0" %[[NEXT]]#0, "final.state1" %[[NEXT]]#1, "final.position" %[[POSITION]]
// BACK: taylor.states %q, %{{.*}}, %{{.*}} initial %final.state0, %final.state1 orders(0 to 1) weights [2.000000e+00, 1.000000e+00]
// Of the recurrence, no sum over pairs is left.
// STEPS-LABEL: taylor.spec @series
// STEPS: %[[ROWS:.*]]:4 = taylor.step_states %q with %k, %v mass from %initial.state0, %initial.state1 reads [0, 1] orders(0 to 1) weights {{\[\[}}2.000000e+00, 1.000000e+00], [2.000000e+00, 1.000000e+00]]
// STEPS: taylor.map %[[ROWS]]#0 / (%[[ROWS]]#1 *
// STEPS: taylor.yield "o" %{{.*}}, "final.state0" %[[ROWS]]#2, "final.state1" %[[ROWS]]#3, "final.position"
// ALONE-LABEL: taylor.function @series.forward
// ALONE-NOT: taylor.pairwise
// ALONE: taylor.step_states
// ALONE-NOT: @series.backward
taylor.spec @series(%q: !q, %k: !k, %v: !v) {
  %c = taylor.map min(max(t + 1.0, 0.0), size(u)) -> !t
  %n, %z = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s + 2.0, %v), rows(s + 2.0) : !q, !k, !v -> !o, !row
  %o = taylor.map %n / (%z * %c) : !o, !row, !t
  taylor.yield %o : !o
}
