// Of two specifications of one step one stays (taylor-plan-steps): the one that carries states where it can be, in states that are not too large. What it is
// decides what calls of the whole sequence carry.
// RUN: split-file %s %t
// RUN: taylor-opt %t/sum.mlir --taylor-carry-states | FileCheck %s --check-prefix=TAKEN --implicit-check-not='taylor.spec'
// RUN: sed 's/carry<recurrent>/carry<recurrent, block = 2, channels = 9, most_tokens = 3>/' %t/sum.mlir | taylor-opt --taylor-carry-states | FileCheck %s --check-prefix=BLOCKS --implicit-check-not='taylor.spec'
// RUN: sed 's/carry<recurrent>/carry<recurrent, channels = 9, most_tokens = 2>/' %t/sum.mlir | taylor-opt --taylor-carry-states 2>&1 | FileCheck %s --check-prefix=LARGE --implicit-check-not='taylor.spec' --implicit-check-not=warning
// RUN: taylor-opt %t/exponential.mlir --taylor-carry-states | FileCheck %s --check-prefix=ERASED --implicit-check-not='taylor.spec'
// RUN: taylor-opt %t/keys.mlir --taylor-carry-states | FileCheck %s --check-prefix=KEYS --implicit-check-not='taylor.spec'
// RUN: taylor-opt %t/sum.mlir --taylor-carry-states --mlir-pass-statistics -o %t/out 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: taylor-opt %t/square.mlir --taylor-carry-states 2>&1 | FileCheck %s --check-prefix=WARNED
// RUN: sed 's/carry<recurrent>/carry<recurrent, channels = 9, most_tokens = 1>/' %t/square.mlir | taylor-opt --taylor-carry-states 2>&1 | FileCheck %s --check-prefix=LARGE --implicit-check-not='taylor.spec' --implicit-check-not=warning

// Of order 1, [4, 5] numbers of 4 bytes for each head.
// TAKEN: taylor.spec @f({{.*}}initial.state0{{.*}}) carries #taylor.carry<pieces> {
// TAKEN: taylor.read_states
// TAKEN: taylor.spec @f.step of @f({{.*}}initial.state0{{.*}}) form #tile.form<recurrent of step, because = "--decode=auto: its sums are recurrences"> carries #taylor.carry<recurrent> {
// TAKEN: taylor.step_states
// BLOCKS: taylor.spec @f({{.*}}) carries #taylor.carry<pieces, block = 2> {
// BLOCKS: taylor.spec @f.step of @f({{.*}} carries #taylor.carry<recurrent, block = 2> {
// LARGE: taylor.spec @f({{.*}}) carries #taylor.carry<queries> {
// LARGE-NOT: taylor.read_states
// LARGE: taylor.spec @f.step of @f({{.*}}) form #tile.form<parallel of step, because = "--decode=auto, over all keys: its states have 0.0 GB per head, more than keys and values of {{[12]}} tokens"> carries #taylor.carry<queries> {
// LARGE-NOT: taylor.step_states
// ERASED: taylor.spec @f({{.*}}) carries #taylor.carry<queries> {
// ERASED: taylor.spec @f.step of @f({{.*}}) form #tile.form<parallel of step, because = "--decode=auto, over all keys: unsupported recurrent form: {{[^;]*}}"> carries #taylor.carry<queries> {
// What prepares keys goes with the step that reads them; what is said of the whole sequence stays.
// KEYS: taylor.spec @f({{.*}}) carries #taylor.carry<recurrent> {
// KEYS: taylor.spec @f.step of @f({{.*}}) form #tile.form<recurrent of step, {{.*}}> carries #taylor.carry<recurrent> {
// COUNT: 2 carried
// COUNT: 1 twins
// WARNED: warning: a mass without orders 0 and 1 has few digits as a recurrence
// WARNED-NOT: warning

// The name alone makes no twin: what is asked for is refused by a message.
// RUN: not taylor-opt %t/alone.mlir --taylor-carry-states 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: error: unsupported recurrent form: 'exp' of a pair

//--- alone.mlir
!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
taylor.spec @f.step.recurrent(%q: !q, %k: !k, %v: !v) carries #taylor.carry<recurrent> {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(exp(s), %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
//--- sum.mlir
!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
taylor.spec @f(%q: !q, %k: !k, %v: !v) {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
taylor.spec @f.step.recurrent of @f(%q: !q, %k: !k, %v: !v) form #tile.form<recurrent of step, because = "--decode=auto: its sums are recurrences"> carries #taylor.carry<recurrent> {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
taylor.spec @f.step of @f(%q: !q, %k: !k, %v: !v) form #tile.form<parallel of step, because = "--decode=auto"> carries #taylor.carry<queries> {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
//--- exponential.mlir
!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
taylor.spec @f(%q: !q, %k: !k, %v: !v) {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(exp(s), %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
taylor.spec @f.step.recurrent of @f(%q: !q, %k: !k, %v: !v) form #tile.form<recurrent of step, because = "--decode=auto: its sums are recurrences"> carries #taylor.carry<recurrent> {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(exp(s), %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
taylor.spec @f.step of @f(%q: !q, %k: !k, %v: !v) form #tile.form<parallel of step, because = "--decode=auto"> carries #taylor.carry<queries> {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(exp(s), %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
//--- square.mlir
!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!row = !taylor.array<[b, h, t], f32>
taylor.spec @f(%q: !q, %k: !k) {
  %z = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * s) : !q, !k -> !row
  %o = taylor.map 1.0 / %z : !row
  taylor.yield %o : !row
}
taylor.spec @f.step.recurrent of @f(%q: !q, %k: !k) form #tile.form<recurrent of step, because = "--decode=auto: its sums are recurrences"> carries #taylor.carry<recurrent> {
  %z = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * s) : !q, !k -> !row
  %o = taylor.map 1.0 / %z : !row
  taylor.yield %o : !row
}
taylor.spec @f.step of @f(%q: !q, %k: !k) form #tile.form<parallel of step, because = "--decode=auto"> carries #taylor.carry<queries> {
  %z = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * s) : !q, !k -> !row
  %o = taylor.map 1.0 / %z : !row
  taylor.yield %o : !row
}
//--- keys.mlir
!k = !taylor.array<[b, g, u, d = 4], f32>
!q = !taylor.array<[b, h, t, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
taylor.spec @f(%q: !q, %k: !k, %v: !v) carries #taylor.carry<recurrent> {
  %r = taylor.rope %k : !k
  %o = taylor.pairwise { s = dot(%q, %r) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
taylor.spec @f.step.recurrent of @f(%q: !q, %k: !k, %v: !v) form #tile.form<recurrent of step, because = "--decode=auto: its sums are recurrences"> carries #taylor.carry<recurrent> {
  %r = taylor.rope %k : !k
  %o = taylor.pairwise { s = dot(%q, %r) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
taylor.spec @f.step_keys of @f(%k: !k) form #tile.form<parallel of append> carries #taylor.carry<keys> prepares_keys {
  %r = taylor.rope %k : !k
  taylor.yield "cache.key0" %r : !k
}
taylor.spec @f.step of @f(%q: !q, %v: !v, %cache.key0: !k from input) form #tile.form<parallel of step, because = "--decode=auto"> carries #taylor.carry<queries> {
  %o = taylor.pairwise { s = dot(%q, %cache.key0) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
