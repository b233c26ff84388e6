// The functions that decode, next to those of the whole sequence: a recurrence from state to state where its sums have that form and its states are small, else
// a step over all keys; because of what, says `form`.
// RUN: split-file %s %t
// RUN: taylor-opt %t/series.mlir --taylor-specialize=head-dim=8 --taylor-to-steps=block=8 | FileCheck %s --check-prefix=STATE --implicit-check-not='taylor.function @'
// RUN: taylor-opt %t/series.mlir --taylor-specialize=head-dim=8 --taylor-to-steps='block=8 decode=cache' | FileCheck %s --check-prefix=CACHE --implicit-check-not='taylor.function @'
// RUN: taylor-opt %t/softmax.mlir --taylor-specialize=head-dim=8 --taylor-to-steps | FileCheck %s --check-prefix=KEYS --implicit-check-not='taylor.function @'
// RUN: not taylor-opt %t/softmax.mlir --taylor-specialize=head-dim=8 --taylor-to-steps=decode=state 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not taylor-opt %t/softmax.mlir --taylor-specialize=head-dim=8 --taylor-to-steps=states 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: taylor-opt %t/series.mlir --taylor-specialize=head-dim=8 --taylor-to-steps='block=8 most-tokens=0' | FileCheck %s --check-prefix=LARGE --implicit-check-not='taylor.function @'
// RUN: not taylor-opt %t/name.mlir --taylor-specialize=head-dim=8 --taylor-plan-steps 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: taylor-opt %t/series.mlir --taylor-specialize=head-dim=8 --taylor-to-steps=block=8 --mlir-pass-statistics -o %t/out 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: taylor-opt %t/programs.mlir --taylor-name-cache | FileCheck %s --check-prefix=CACHED
// RUN: not taylor-opt %t/axes.mlir --taylor-check-limits 2>&1 | FileCheck %s --check-prefix=AXES

// The first pass by itself: with `auto` there are two specifications of a step, of which taylor-carry-states leaves one.
// RUN: taylor-opt %t/softmax.mlir --taylor-specialize=head-dim=8 --taylor-plan-steps='block=8 channels=16' | FileCheck %s --check-prefix=TWINS --implicit-check-not='taylor.spec'
// RUN: taylor-opt %t/softmax.mlir --taylor-specialize=head-dim=8 --taylor-plan-steps='decode=state block=8' | FileCheck %s --check-prefix=ONE --implicit-check-not='taylor.spec'
// RUN: taylor-opt %t/softmax.mlir --taylor-specialize=head-dim=8 --taylor-plan-steps=states | FileCheck %s --check-prefix=STATES --implicit-check-not='taylor.spec'
// RUN: taylor-opt %t/softmax.mlir --taylor-specialize=head-dim=8 --taylor-plan-steps=decode=cache | FileCheck %s --check-prefix=OVER --implicit-check-not='taylor.spec'
// RUN: taylor-opt %t/softmax.mlir --taylor-specialize=head-dim=8 --taylor-plan-states=mode=recurrent --taylor-plan-steps=decode=cache | FileCheck %s --check-prefix=SAID --implicit-check-not='taylor.spec'
// TWINS: taylor.spec @f({{[^)]*}}) {
// TWINS: taylor.spec @f.step.recurrent of @f({{.*}}) form #tile.form<recurrent of step, because = "--decode=auto: its sums are recurrences"> carries #taylor.carry<recurrent, block = 8, channels = 16> {
// TWINS: taylor.spec @f.step of @f({{.*}}) form #tile.form<parallel of step, because = "--decode=auto"> carries #taylor.carry<queries> {
// ONE: taylor.spec @f({{[^)]*}}) carries #taylor.carry<pieces, block = 8> {
// ONE: taylor.spec @f.step of @f({{.*}}) form #tile.form<recurrent of step, because = "--decode=state: its sums are recurrences"> carries #taylor.carry<recurrent, block = 8> {
// STATES: taylor.spec @f({{[^)]*}}) carries #taylor.carry<pieces> {
// STATES: taylor.spec @f.step of @f({{.*}}) form #tile.form<recurrent of step, because = "--decode=auto: its sums are recurrences"> carries #taylor.carry<recurrent> {
// OVER: taylor.spec @f({{[^)]*}}) carries #taylor.carry<queries> {
// OVER: taylor.spec @f.step of @f({{.*}}) form #tile.form<parallel of step, because = "--decode=cache"> carries #taylor.carry<queries> {
// What the specification says already stays.
// SAID: taylor.spec @f({{[^)]*}}) carries #taylor.carry<recurrent> {
// SAID: taylor.spec @f.step of @f({{.*}}) form #tile.form<parallel of step, because = "--decode=cache"> carries #taylor.carry<queries> {

// Calls of the whole sequence leave what the step goes on from.
// STATE: taylor.function @f.forward of @f({{.*}}initial.state0{{.*}} carries #taylor.carry<pieces, block = 8> {
// STATE: taylor.function @f.backward of @f({{.*}} carries #taylor.carry<pieces, block = 8> {
// STATE: taylor.function @f.step of @f({{.*}} form #tile.form<recurrent of step, because = "--decode=auto: its sums are recurrences", in_place = {{\[\["input:initial.state0", "output:final.state0"\]\]}}> carries #taylor.carry<recurrent, block = 8> {
// STATE: taylor.step_states
// CACHE: taylor.function @f.forward of @f({{.*}} carries #taylor.carry<queries> {
// CACHE: taylor.function @f.backward of @f({{.*}} carries #taylor.carry<queries> {
// CACHE: taylor.function @f.step of @f({{.*}} form #tile.form<parallel of step, because = "--decode=cache"> carries #taylor.carry<queries> {
// CACHE: taylor.pairwise
// KEYS: taylor.function @f.forward of @f({{.*}} carries #taylor.carry<queries> {
// KEYS: taylor.function @f.backward of @f({{.*}} carries #taylor.carry<queries> {
// KEYS: taylor.function @f.step of @f({{.*}} form #tile.form<parallel of step, because = "--decode=auto, over all keys: unsupported recurrent form: {{[^;]*}}"> carries #taylor.carry<queries> {
// KEYS: taylor.pairwise
// NONE: error: unsupported recurrent form:
// LARGE: taylor.function @f.forward of
// LARGE: taylor.function @f.backward of
// LARGE: taylor.function @f.step of @f({{.*}} form #tile.form<parallel of step, because = "--decode=auto, over all keys: its states have 0.0 GB per head, more than keys and values of 0 tokens"> carries #taylor.carry<queries> {
// RUN: not taylor-opt %t/series.mlir --taylor-specialize=head-dim=8 --taylor-plan-steps=decode=ring 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: for the --decode option: Cannot find option named 'ring'!
// NAME: error: unsupported argument '%cache.k' with --decode: names that begin with 'cache.' are those of prepared keys; rename it
// COUNT-DAG: 1 recurrences
// COUNT-DAG: 2 steps
// COUNT-DAG: 1 twins {{.*}} of which one stays
// COUNT-DAG: 1 twins {{.*}} whose place another one took

// A name that is taken is no obstacle: `of` says whose step it is.
// RUN: taylor-opt %t/taken.mlir --taylor-specialize=head-dim=8 --taylor-to-steps=decode=cache | FileCheck %s --check-prefix=TAKEN
// TAKEN-DAG: taylor.function @f.step of @f(
// TAKEN-DAG: taylor.function @f.step.forward of @f.step(
// TAKEN-DAG: taylor.function @f.step.step of @f.step(
// TAKEN-DAG: taylor.function @f.step_keys.step of @f.step_keys(

// The last one by itself.
// RUN: taylor-opt %t/functions.mlir --taylor-name-steps --mlir-pass-statistics 2>%t/statistics | FileCheck %s --check-prefix=NAMED --implicit-check-not='taylor.function @'
// RUN: FileCheck %s --check-prefix=NUMBERS --input-file=%t/statistics
// NAMED: taylor.function @rotated.append of @rotated({{.*}} form #tile.form<parallel of append> prepares_keys {
// NAMED: taylor.function @rotated.step of @rotated({{.*}} form #tile.form<parallel of step, because = "--decode=cache"> {
// NAMED: taylor.function @plain.forward of @plain(
// NAMED: taylor.function @rotated.extend of @rotated({{.*}} form #tile.form<parallel of extend> {
// NUMBERS: 1 over-keys

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
//--- taken.mlir
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @f(%q: !q, %k: !k, %v: !v) {
  %kr = taylor.rope %k : !k
  %n = taylor.recurrences %q, %kr, %v exponential causal : !q, !k, !v
  taylor.yield %n : !o
}
taylor.spec @f.step(%q: !q, %k: !k, %v: !v) {
  %n = taylor.recurrences %q, %k, %v orders(0 to 1) causal : !q, !k, !v
  taylor.yield %n : !o
}
taylor.spec @f.step_keys(%q: !q, %k: !k, %v: !v) {
  %kr = taylor.rope %k : !k
  %n = taylor.recurrences %q, %kr, %v exponential causal : !q, !k, !v
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
//--- functions.mlir
!k = !taylor.array<[b, g, u, d = 8], f32>
!q = !taylor.array<[b, h, t, d = 8], f32>
taylor.function @rotated.step_keys.forward of @rotated("input:k" %k: !k) sources [projection] form #tile.form<parallel of append> prepares_keys {
  %r = taylor.rope %k : !k
  taylor.yield "output:cache.key0" %r : !k
}
taylor.function @rotated.step.forward of @rotated("input:q" %q: !q, "input:cache.key0" %k: !k) sources [projection, input] form #tile.form<parallel of step, because = "--decode=cache"> {
  taylor.yield "output:n" %q : !q
}
taylor.function @plain.forward of @plain("input:q" %q: !q) sources [projection] {
  taylor.yield "output:n" %q : !q
}
