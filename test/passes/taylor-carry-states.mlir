// A sum over keys reads what earlier calls left, and leaves what it adds; counts and places count from the first token of all; the backward gives the gradient
// of the states before the call from that of the states after it, begun where the caller's ends.
// RUN: taylor-opt %s --taylor-plan-states --taylor-carry-states | FileCheck %s
// RUN: taylor-opt %s --taylor-plan-states=mode=recurrent --taylor-carry-states | FileCheck %s --check-prefix=STEPS
// RUN: taylor-opt %s --taylor-plan-states=mode=queries --taylor-carry-states | FileCheck %s --check-prefix=QUERIES
// RUN: taylor-opt %s --taylor-plan-states=mode=recurrent --taylor-carry-states --canonicalize --taylor-derive-backward=forward-only --taylor-split-backward | FileCheck %s --check-prefix=ALONE
// RUN: taylor-opt %s --taylor-plan-states --taylor-carry-states --taylor-derive-backward --taylor-simplify-arrays --canonicalize --cse | FileCheck %s --check-prefix=BACK

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

// What decays is relative to the least column exponent so far: no factor is above 1 where it falls, and without tokens before nothing is read or kept.
!column = !taylor.array<[b, g, u], f32>
!grow = !taylor.array<[b, g, t], f32>
// CHECK-LABEL: taylor.spec @decayed
// CHECK-SAME: %initial.sum0: !bg_f32 from input, %initial.edge0: !bg_f32 from input, %initial.state0: {{.*}} from input, %initial.position: !b_f32 from input
// CHECK: %[[SCAN:.*]] = taylor.scan sum over(u) %f
// CHECK: %[[L:.*]] = taylor.map %[[SCAN]] + %initial.sum0
// CHECK: %[[LT:.*]] = taylor.align %[[L]] to t
// CHECK: %[[PAIRS:.*]] = taylor.pairwise { s0 = dot(%q, %k) } visible(u <= t) -> rows(s0 * exp(%[[LT]] - %[[L]]), %v)
// CHECK: %[[BEFORE:.*]] = taylor.map select(%initial.position == 0.0, 3.4{{.*}}, stop(%initial.edge0))
// CHECK: %[[LEAST:.*]] = taylor.scan max over(u) stop(-%[[L]])
// CHECK: %[[EDGES:.*]] = taylor.map stop(min(%[[BEFORE]], -%[[LEAST]]))
// CHECK: %[[LAST:.*]] = taylor.reduce sum over(u) select(u == size(u) - 1.0, stop(%[[EDGES]]), 0.0)
// CHECK: %[[EDGE:.*]] = taylor.map select(size(u) == 0.0, stop(%[[BEFORE]]), %[[LAST]])
// Nothing but the decay reads the sum: the next call's begins at how far it is above the edge, and the edge at 0.
// CHECK: %[[ABOVE:.*]] = taylor.reduce sum over(u) select(u == size(u) - 1.0, %[[L]] - stop(%[[EDGE]]), 0.0)
// CHECK: %[[SUM:.*]] = taylor.map select(size(u) == 0.0, %initial.sum0, %[[ABOVE]])
// CHECK: %[[NEXTEDGE:.*]] = taylor.map select(size(u) == 0.0, stop(%initial.edge0), 0.0)
// CHECK: %[[ROW:.*]] = taylor.map exp(%[[LT]] - %[[BEFORE]])
// CHECK: %[[COLUMN:.*]] = taylor.map exp(%[[EDGE]] - %[[L]])
// CHECK: %[[KEEP:.*]] = taylor.map exp(%[[EDGE]] - %[[BEFORE]])
// CHECK: %[[READ:.*]] = taylor.read_states %q from %initial.state0 orders
// CHECK: %[[SCALED:.*]] = taylor.map %[[READ]] * %[[ROW]]
// CHECK: %[[O:.*]] = taylor.map %[[PAIRS]] + %[[SCALED]]
// CHECK: %[[KEPT:.*]] = taylor.map %initial.state0 * %[[KEEP]]
// CHECK: %[[VALUES:.*]] = taylor.map %v * %[[COLUMN]]
// CHECK: %[[NEXT:.*]] = taylor.states %k, %[[VALUES]] initial %[[KEPT]] orders(1 to 1)
// CHECK: taylor.yield "o" %[[O]], "final.sum0" %[[SUM]], "final.edge0" %[[NEXTEDGE]], "final.state0" %[[NEXT]], "final.position"
// The recurrence keeps of its states what each token leaves of them.
// STEPS-LABEL: taylor.spec @decayed
// STEPS: %[[L:.*]] = taylor.map %{{.*}} + %initial.sum0
// STEPS: %[[EDGE:.*]] = taylor.map stop(min(%[[FIRST:.*]], -%{{.*}}))
// STEPS: taylor.scan max exclusive over(u) stop(-%[[L]])
// STEPS: %[[BEFORE:.*]] = taylor.map stop(min(%[[FIRST]], -%{{.*}}))
// STEPS: %[[KEEP:.*]] = taylor.map exp(%[[EDGE]] - %[[BEFORE]])
// STEPS: taylor.step_states %q with %k, %{{.*}} from %initial.state0 keep(%[[KEEP]]) reads [0]
taylor.spec @decayed(%q: !q, %k: !k, %v: !v, %f: !column) {
  %L = taylor.scan sum over(u) %f : !column
  %Lt = taylor.align %L to t : !column
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * exp(%Lt - %L), %v) : !q, !k, !grow, !column, !v -> !o
  taylor.yield %o : !o
}

// Weights that read places read them in the whole sequence.
// CHECK-LABEL: taylor.spec @distance
// CHECK: %[[T:.*]] = taylor.map t + %initial.position
// CHECK: %[[U:.*]] = taylor.map u + %initial.position
// CHECK: taylor.pairwise { s0 = dot(%q, %k) } visible(u <= t) -> rows(s0 * exp((%[[U]] - %[[T]]) * 0.5), %v)
taylor.spec @distance(%q: !q, %k: !k, %v: !v) {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * exp((u - t) * 0.5), %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// The last inputs of a convolution: its first tokens read them, the newest T of them are the call's own.
!taps = !taylor.array<[h, d = 4, j = 3], f32>
// CHECK-LABEL: taylor.spec @convolution
// CHECK-SAME: %initial.inputs0: !bhdlast2_f32 from input
// CHECK: %[[Y:.*]] = taylor.convolve %q, %w
// CHECK: %[[NEW:.*]] = taylor.reduce sum over(t) region(%q, %initial.inputs0)
// CHECK: %[[OLD0:.*]] = taylor.reduce sum over(last2) select(last2 == size(t) + 0.0, %initial.inputs0, 0.0)
// CHECK: %[[OLD1:.*]] = taylor.reduce sum over(last2) select(last2 == size(t) + 1.0, %initial.inputs0, 0.0)
// CHECK: %[[LAST:.*]] = taylor.map %[[NEW]] + select(last2 == 0.0, %[[OLD0]], 0.0) + select(last2 == 1.0, %[[OLD1]], 0.0)
// CHECK: %[[FIRST:.*]] = taylor.reduce sum over(last2, j) select(last2 == j + 0.0, %initial.inputs0 * %w, 0.0)
// CHECK: %[[SECOND:.*]] = taylor.reduce sum over(last2, j) select(last2 == j + 1.0, %initial.inputs0 * %w, 0.0)
// CHECK: %[[O:.*]] = taylor.map { x0 = t - (size(u) - size(t)), %[[Y]] + select(x0 == 0.0, %[[FIRST]], 0.0) + select(x0 == 1.0, %[[SECOND]], 0.0) }
// CHECK: taylor.yield "o" %[[O]], "final.inputs0" %[[LAST]]
// So are those of a call that has all keys.
// QUERIES-LABEL: taylor.spec @convolution
// QUERIES-SAME: %initial.inputs0
// QUERIES: taylor.yield "o" %{{.*}}, "final.inputs0"
taylor.spec @convolution(%q: !q, %w: !taps from parameter(ones)) {
  %o = taylor.convolve %q, %w : !q, !taps
  taylor.yield %o : !q
}

// The last result of a recurrence: the first token continues from it.
!gates = !taylor.array<[g, d = 4], f32>
// CHECK-LABEL: taylor.spec @recurrence
// CHECK-SAME: %initial.recurrence0: !bgd_f32 from input
// CHECK: %[[BEFORE:.*]] = taylor.map select(u == 0.0, %initial.recurrence0, 0.0) : !bgd_f32
// CHECK: %[[TERMS:.*]] = taylor.map %k + %a * %[[BEFORE]]
// CHECK: %[[Y:.*]] = taylor.gated_sum %[[TERMS]], %a
// CHECK: %[[LAST:.*]] = taylor.reduce sum over(u) select(u == size(u) - 1.0, %[[Y]], 0.0)
// CHECK: %[[FINAL:.*]] = taylor.map select(size(u) == 0.0, %initial.recurrence0, %[[LAST]])
// CHECK: taylor.yield "o" %[[Y]], "final.recurrence0" %[[FINAL]]
taylor.spec @recurrence(%k: !k, %a: !gates from parameter(ones)) {
  %o = taylor.gated_sum %k, %a : !k, !gates
  taylor.yield %o : !k
}

// A running maximum goes on where a token was before; a shift hands on the last tokens; what mixes keys stays as it is where a call has them all.
!keys = !taylor.array<[u], f32>
// CHECK-LABEL: taylor.spec @tokens
// CHECK-SAME: %initial.sum0: !b_f32 from input, %initial.maximum0: !b_f32 from input, %initial.inputs0: !blast1_f32 from input, %initial.position: !b_f32 from input
// CHECK: %[[SUM:.*]] = taylor.scan sum exclusive over(u) %a
// CHECK: taylor.map %[[SUM]] + %initial.sum0 : !u_f32, !b_f32
// CHECK: %[[MAX:.*]] = taylor.scan max over(u)
// CHECK: taylor.map select(0.0 < %initial.position, max(%[[MAX]], stop(%initial.maximum0)), %[[MAX]])
// CHECK: %[[SHIFT:.*]] = taylor.scan shift(1) over(u)
// CHECK: %[[HERE:.*]] = taylor.reduce sum over(last1) select(last1 == 0.0, %initial.inputs0, 0.0)
// CHECK: taylor.map %[[SHIFT]] + select(u == 0.0, %[[HERE]], 0.0)
// CHECK: taylor.yield {{.*}} "final.sum0" %{{.*}}, "final.maximum0" %{{.*}}, "final.inputs0" %{{.*}}, "final.position"
// QUERIES-LABEL: taylor.spec @tokens
// QUERIES-NOT: initial
taylor.spec @tokens(%a: !keys) {
  %s = taylor.scan sum exclusive over(u) %a : !keys
  %m = taylor.scan max over(u) %s * u : !keys
  %p = taylor.scan shift(1) over(u) %a : !keys
  %o = taylor.map %s + stop(%m) + %p : !keys, !keys, !keys
  taylor.yield %o : !keys
}

// Values that are the keys are values as any others: a contraction with the states of others would have no derivative.
// CHECK-LABEL: taylor.spec @recalled
// CHECK: taylor.read_states %q from %initial.state0 into %{{.*}} orders(1 to 1) weights [1.000000e+00]
// CHECK: taylor.states %k, %k initial %initial.state0 orders(1 to 1)
// STEPS-LABEL: taylor.spec @recalled
// STEPS: taylor.step_states %q with %k, %k from %initial.state0 reads [0] orders(1 to 1) weights {{\[\[}}1.000000e+00]]
taylor.spec @recalled(%q: !q, %k: !k) {
  %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %k) : !q, !k -> !q
  taylor.yield %n : !q
}

// States of different orders have features of their own.
// CHECK-LABEL: taylor.spec @two
// CHECK-SAME: %initial.state0: [[LOW:![a-z_0-9]+]] from input, %initial.state1: [[HIGH:![a-z_0-9]+]] from input
// CHECK: taylor.states %k, %v initial %initial.state0 orders(1 to 1)
// CHECK: taylor.states %k, %v initial %initial.state1 orders(2 to 2)
// STEPS-LABEL: taylor.spec @two
// STEPS: taylor.step_states %q with %k, %v from %initial.state0 reads [0] orders(1 to 1)
// STEPS: taylor.step_states %q with %k, %v from %initial.state1 reads [0] orders(2 to 2)
taylor.spec @two(%q: !q, %k: !k, %v: !v) {
  %a = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  %b = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * s, %v) : !q, !k, !v -> !o
  %o = taylor.map %a + %b : !o, !o
  taylor.yield %o : !o
}
