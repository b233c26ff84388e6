// Documents that go on in another call: a token reads what the calls before left where its document starts before the call, and hands on what is of the last
// token's. Masks compare where documents start within the call.
// RUN: taylor-opt %s --taylor-add-documents --taylor-specialize=head-dim=4 --taylor-recurrences-to-pairwise --canonicalize --cse --taylor-plan-states --taylor-carry-states --canonicalize --cse | FileCheck %s
// RUN: taylor-opt %s --taylor-add-documents --taylor-specialize=head-dim=4 --taylor-recurrences-to-pairwise --canonicalize --cse --taylor-plan-states=mode=recurrent --taylor-carry-states --canonicalize --cse | FileCheck %s --check-prefix=STEPS

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!column = !taylor.array<[b, g, u]>
// CHECK-LABEL: taylor.spec @sums
// CHECK: %[[WHOLE:.*]] = taylor.scan max over(u) select(%{{.*}} == %{{.*}}, 0.0, u + %initial.position)
// CHECK: %[[STARTS:.*]] = taylor.map select(0.0 < %initial.position, max(%[[WHOLE]], stop(%initial.maximum1)), %[[WHOLE]])
// CHECK: %[[QUERIES:.*]] = taylor.align %[[STARTS]] to t
// CHECK: %[[LAST:.*]] = taylor.map select(size(u) == 0.0, stop(%{{.*}}), %{{.*}})
// CHECK: %[[LOCAL:.*]] = taylor.scan max over(u) select(%{{.*}} == %{{.*}}, 0.0, u)
// CHECK: %[[ALIGNED:.*]] = taylor.align %[[LOCAL]] to t
// CHECK: %[[SUM:.*]] = taylor.scan sum over(u) within(%[[LOCAL]]
// CHECK: %[[BEFORE:.*]] = taylor.map select(%[[STARTS]] < %initial.position, %initial.sum0, 0.0)
// CHECK: taylor.map select(%[[STARTS]] == %[[LAST]], %gate, 0.0)
// CHECK: taylor.map %[[SUM]] + %[[BEFORE]]
// CHECK: taylor.pairwise {{.*}} visible(and(u <= t, %[[ALIGNED]] == %[[LOCAL]])) -> rows(s0, %{{.*}})
// CHECK: taylor.map select(%[[QUERIES]] < %initial.position, 1.0, 0.0)
// CHECK: taylor.map select(%[[STARTS]] == %[[LAST]], 1.0, 0.0)
// CHECK: taylor.map select(%[[LAST]] < %initial.position, 1.0, 0.0)
// A recurrence begins again with each document.
// STEPS-LABEL: taylor.spec @sums
// STEPS: %[[PLACES:.*]] = taylor.map u + %initial.position
// STEPS: %[[KEEP:.*]] = taylor.map select(%{{.*}} < %[[PLACES]], 1.0, -1.0)
// STEPS: taylor.step_states {{.*}} keep(%[[KEEP]]) documents reads
taylor.spec @sums(%q: !q, %k: !k, %v: !v, %gate: !column from projection) {
  %s = taylor.scan sum over(u) %gate : !column
  %sv = taylor.map %s * %v : !column, !v
  %o = taylor.recurrences %q, %k, %sv orders(1 to 1) causal : !q, !k, !v
  taylor.yield %o : !o
}
