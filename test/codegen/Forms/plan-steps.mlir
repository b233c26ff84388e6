// The functions that decode, of a specialised specification: a recurrence from state to state where its sums have that form and its states are small, else
// a step over all keys; because of what, says `form`.
// RUN: split-file %s %t
// RUN: taylor-opt %t/series.mlir --taylor-specialize=head-dim=8 --taylor-plan-steps=block=8 | FileCheck %s --check-prefix=STATE --implicit-check-not='taylor.function @'
// RUN: taylor-opt %t/series.mlir --taylor-specialize=head-dim=8 --taylor-plan-steps='block=8 decode=cache' | FileCheck %s --check-prefix=CACHE --implicit-check-not='taylor.function @'
// RUN: taylor-opt %t/softmax.mlir --taylor-specialize=head-dim=8 --taylor-plan-steps | FileCheck %s --check-prefix=KEYS --implicit-check-not='taylor.function @'
// RUN: not taylor-opt %t/softmax.mlir --taylor-specialize=head-dim=8 --taylor-plan-steps=decode=state 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not taylor-opt %t/softmax.mlir --taylor-specialize=head-dim=8 --taylor-plan-steps=states 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: taylor-opt %t/series.mlir --taylor-specialize=head-dim=8 --taylor-plan-steps='block=8 channels=0' | FileCheck %s --check-prefix=LARGE --implicit-check-not='taylor.function @'
// RUN: not taylor-opt %t/name.mlir --taylor-specialize=head-dim=8 --taylor-plan-steps 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: taylor-opt %t/series.mlir --taylor-specialize=head-dim=8 --taylor-plan-steps=block=8 --mlir-pass-statistics -o %t/out 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: taylor-opt %t/programs.mlir --taylor-name-cache | FileCheck %s --check-prefix=CACHED
// RUN: not taylor-opt %t/axes.mlir --taylor-check-limits 2>&1 | FileCheck %s --check-prefix=AXES

// STATE: taylor.function @f.step {{.*}} form #tile.form<"recurrent" of "step", because = "--decode=auto: its sums are recurrences", in_place = {{\[\["input:initial.state0", "output:final.state0"\]\]}}> {
// STATE: taylor.step_states
// CACHE: taylor.function @f.step {{.*}} form #tile.form<"parallel" of "step", because = "--decode=cache"> {
// CACHE: taylor.pairwise
// KEYS: taylor.function @f.step {{.*}} form #tile.form<"parallel" of "step", because = "--decode=auto, over all keys: unsupported {{.*}}"> {
// KEYS: taylor.pairwise
// NONE: error: unsupported
// LARGE: taylor.function @f.step {{.*}} form #tile.form<"parallel" of "step", because = "--decode=auto, over all keys: its states have 0.0 GB per head, more than keys and values of 1000000 tokens"> {
// NAME: error: unsupported argument '%cache.k' with --decode: names that begin with 'cache.' are those of prepared keys; rename it
// COUNT: 1 recurrences

// CACHED: tile.program @step
// CACHED: tile.tensor "cache:k"
// CACHED: tile.tensor "append:k"

// AXES: error: unsupported array 'q' of 9 axes: kernels take at most 8; join some of its axes

//--- series.mlir
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @f(%q: !q, %k: !k, %v: !v) {
  %n = taylor.recurrences %q, %k, %v orders(0 to 1) causal : !q, !k, !v
  taylor.yield %n : !o
}
//--- softmax.mlir
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @f(%q: !q, %k: !k, %v: !v) {
  %n = taylor.recurrences %q, %k, %v exponential causal : !q, !k, !v
  taylor.yield %n : !o
}
//--- name.mlir
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @f(%q: !q, %cache.k: !k, %v: !v) {
  %n = taylor.recurrences %q, %cache.k, %v exponential causal : !q, !k, !v
  taylor.yield %n : !o
}
//--- axes.mlir
!a = !taylor.array<[b, h, t, d = 2, i = 2, j = 2, k = 2, l = 2, m = 2], f32>
taylor.function @f.forward of @f("input:q" %q: !a) sources [projection] {
  taylor.yield "output:n" %q : !a
}
//--- programs.mlir
tile.program @step {
  %k = tile.tensor "input:cache.k" : !tile.array<[b, g, u], f32>
  %n = tile.tensor "output:cache.k" : !tile.array<[b, g, u], f32>
}
