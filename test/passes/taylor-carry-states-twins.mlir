// Of a specification and its twin, which carries states, one stays (taylor-plan-steps): the twin where it can be, in states that are not too large.
// RUN: split-file %s %t
// RUN: taylor-opt %t/sum.mlir --taylor-carry-states | FileCheck %s --check-prefix=TAKEN --implicit-check-not='taylor.spec'
// RUN: taylor-opt %t/sum.mlir --taylor-carry-states='channels=9 most-tokens=3' | FileCheck %s --check-prefix=TAKEN --implicit-check-not='taylor.spec'
// RUN: taylor-opt %t/sum.mlir --taylor-carry-states='channels=9 most-tokens=2' 2>&1 | FileCheck %s --check-prefix=LARGE --implicit-check-not='taylor.spec' --implicit-check-not=warning
// RUN: taylor-opt %t/exponential.mlir --taylor-carry-states | FileCheck %s --check-prefix=ERASED --implicit-check-not='taylor.spec'
// RUN: taylor-opt %t/exponential.mlir --taylor-carry-states --taylor-carry-states=queries-only | FileCheck %s --check-prefix=ERASED --implicit-check-not='taylor.spec'
// RUN: taylor-opt %t/sum.mlir --taylor-carry-states=queries-only | FileCheck %s --check-prefix=OTHER
// RUN: taylor-opt %t/sum.mlir --taylor-carry-states --mlir-pass-statistics -o %t/out 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: taylor-opt %t/square.mlir --taylor-carry-states 2>&1 | FileCheck %s --check-prefix=WARNED
// RUN: taylor-opt %t/square.mlir --taylor-carry-states='channels=9 most-tokens=1' 2>&1 | FileCheck %s --check-prefix=LARGE --implicit-check-not='taylor.spec' --implicit-check-not=warning

// Of order 1, [4, 5] numbers of 4 bytes for each head.
// TAKEN: taylor.spec @f({{.*}}initial.state0{{.*}}) form #tile.form<recurrent of step, because = "--decode=auto: its sums are recurrences"> {
// TAKEN: taylor.step_states
// LARGE: taylor.spec @f({{.*}}) form #tile.form<parallel of step, because = "--decode=auto, over all keys: its states have 0.0 GB per head, more than keys and values of {{[12]}} tokens"> {
// LARGE-NOT: taylor.step_states
// ERASED: taylor.spec @f({{.*}}) form #tile.form<parallel of step, because = "--decode=auto, over all keys: unsupported recurrent form: {{[^;]*}}"> {
// The twin waits for a run of its own form.
// OTHER: taylor.spec @f.recurrent(%q: {{[^,]*}}, %k: {{[^,]*}}, %v: {{[^,]*}}) form
// OTHER-NOT: taylor.step_states
// COUNT: 1 carried
// COUNT: 1 twins
// WARNED: warning: a mass without orders 0 and 1 has few digits as a recurrence
// WARNED-NOT: warning

// The name alone makes no twin: what is asked for is refused by a message.
// RUN: not taylor-opt %t/alone.mlir --taylor-carry-states=recurrent 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: error: unsupported recurrent form: 'exp' of a pair

//--- alone.mlir
!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
taylor.spec @f.recurrent(%q: !q, %k: !k, %v: !v) {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(exp(s), %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
//--- sum.mlir
!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
taylor.spec @f.recurrent(%q: !q, %k: !k, %v: !v) form #tile.form<recurrent of step, because = "--decode=auto: its sums are recurrences"> {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
taylor.spec @f(%q: !q, %k: !k, %v: !v) form #tile.form<parallel of step, because = "--decode=auto"> {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
//--- exponential.mlir
!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
taylor.spec @f.recurrent(%q: !q, %k: !k, %v: !v) form #tile.form<recurrent of step, because = "--decode=auto: its sums are recurrences"> {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(exp(s), %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
taylor.spec @f(%q: !q, %k: !k, %v: !v) form #tile.form<parallel of step, because = "--decode=auto"> {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(exp(s), %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
//--- square.mlir
!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!row = !taylor.array<[b, h, t], f32>
taylor.spec @f.recurrent(%q: !q, %k: !k) form #tile.form<recurrent of step, because = "--decode=auto: its sums are recurrences"> {
  %z = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * s) : !q, !k -> !row
  %o = taylor.map 1.0 / %z : !row
  taylor.yield %o : !row
}
taylor.spec @f(%q: !q, %k: !k) form #tile.form<parallel of step, because = "--decode=auto"> {
  %z = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * s) : !q, !k -> !row
  %o = taylor.map 1.0 / %z : !row
  taylor.yield %o : !row
}
