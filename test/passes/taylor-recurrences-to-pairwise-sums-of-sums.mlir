// Sums over keys that read other sums: what guards rows is made of none of them.
// RUN: taylor-opt %s --taylor-recurrences-to-pairwise --cse | FileCheck %s

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!of = !taylor.array<[b, t]>
!column = !taylor.array<[b, u]>

// Keys are counted without what scores alone read, so queries that both sums read are guarded by it; a count that a mask makes of
// such a sum guards none of them.
// CHECK-LABEL: taylor.spec @mass_of_scores
// CHECK-NEXT: %[[COUNT:.*]] = taylor.pairwise {{{ *}}} visible(and(u <= t, %a == %c)) -> rows(1.0) : !bt, !bu -> !bt
// CHECK-NEXT: %[[Q:.*]] = taylor.map %q * log(%a) live(%[[COUNT]])
// CHECK:      %[[Z:.*]] = taylor.pairwise { s0 = dot(%[[Q]], %k)
// CHECK:      %[[N:.*]] = taylor.pairwise { s0 = dot(%[[Q]], %k) {{.*}} -> rows({{.*}}, %v)
// CHECK-LABEL: taylor.spec @mask_of_sums
// CHECK-NEXT: %[[Q:.*]] = taylor.map %q * log(%a) : !
taylor.spec @mass_of_scores(%q: !q, %k: !k, %v: !v, %a: !of from input, %c: !column from input) {
  %qs = taylor.map %q * log(%a) : !q, !of
  %z = taylor.recurrences [mass] %qs, %k, %v exponential causal visible(%a == %c) : !q, !k, !v, !of, !column
  %n = taylor.recurrences %qs, %k, %v exponential score(s / %z) causal visible(%a == %c) : !q, !k, !v, !row, !of, !column
  taylor.yield %n : !o
}
taylor.spec @mask_of_sums(%q: !q, %k: !k, %v: !v, %a: !of from input) {
  %qs = taylor.map %q * log(%a) : !q, !of
  %z = taylor.recurrences [mass] %qs, %k, %v exponential causal : !q, !k, !v
  %n = taylor.recurrences %qs, %k, %v exponential causal visible(0.5 < %z) : !q, !k, !v, !row
  taylor.yield %n : !o
}
