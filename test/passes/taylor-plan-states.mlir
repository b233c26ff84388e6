// What calls hand on is said of each specification that does not say it; taylor-carry-states does what is said, and nothing where nothing is.
// RUN: taylor-opt %s --taylor-plan-states='mode=pieces block=8' | FileCheck %s --check-prefixes=CHECK,PIECES
// RUN: taylor-opt %s --taylor-plan-states=mode=recurrent | FileCheck %s --check-prefixes=CHECK,RECURRENT
// RUN: taylor-opt %s --taylor-plan-states=mode=queries --mlir-pass-statistics 2>&1 | FileCheck %s --check-prefixes=COUNT
// RUN: taylor-opt %s --taylor-plan-states | taylor-opt | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: taylor-opt %s --taylor-carry-states | FileCheck %s --check-prefix=CARRIED
// RUN: not taylor-opt %s --taylor-plan-states=mode=all 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: for the --mode option: Cannot find option named 'all'!
// COUNT: 1 planned

!q = !taylor.array<[b, h, t, d = 4], f32>
// PIECES: taylor.spec @unsaid(%q: !bhtd_f32) carries #taylor.carry<pieces, block = 8> {
// RECURRENT: taylor.spec @unsaid(%q: !bhtd_f32) carries #taylor.carry<recurrent> {
// ONE: taylor.spec @unsaid(%q: !bhtd_f32) carries #taylor.carry<pieces> {
// CARRIED: taylor.spec @unsaid(%q: !bhtd_f32) {
taylor.spec @unsaid(%q: !q) {
  %o = taylor.scan sum over(t) %q : !q
  taylor.yield %o : !q
}
// CHECK: taylor.spec @said(%q: !bhtd_f32) carries #taylor.carry<queries> {
// CARRIED: taylor.spec @said(%q: !bhtd_f32, %initial.sum0: {{.*}} from input) carries #taylor.carry<queries> {
taylor.spec @said(%q: !q) carries #taylor.carry<queries> {
  %o = taylor.scan sum over(t) %q : !q
  taylor.yield %o : !q
}
