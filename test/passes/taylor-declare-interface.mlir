// What callers of a specification must know is an attribute of the module, which stays where the specification does not.
// RUN: split-file %s %t
// RUN: taylor-opt %t/softmax.mlir --taylor-declare-interface | taylor-opt | FileCheck %s --check-prefix=SOFTMAX
// RUN: taylor-opt %t/softmax.mlir --taylor-plan-steps --taylor-declare-interface | FileCheck %s --check-prefix=SOFTMAX
// RUN: taylor-opt %t/aligned.mlir --taylor-declare-interface=ascending=documents | FileCheck %s --check-prefix=ALIGNED
// RUN: taylor-opt %t/series.mlir --taylor-declare-interface --taylor-recurrences-to-pairwise --taylor-plan-states --taylor-carry-states --taylor-declare-interface | FileCheck %s --check-prefix=STATES
// RUN: not taylor-opt %t/two.mlir --taylor-declare-interface 2>&1 | FileCheck %s --check-prefix=TWO

// SOFTMAX: module attributes {taylor.interface = #taylor.interface<"softmax", parameters = {}, mask = causal,
// SOFTMAX-SAME: inputs = [#taylor.tensor<"q", {{.*}}, source = <projection>>, #taylor.tensor<"k", {{.*}}>>, #taylor.tensor<"v", {{.*}}>>], outputs = [#taylor.tensor<"n", {{[^,]*}}>]>} {

// Keys that are read at the positions of queries, an input that must ascend, and a token that reads later ones.
// ALIGNED: mask = bidirectional, aligned = unit,
// ALIGNED-SAME: #taylor.tensor<"documents", {{.*}}, source = <input>, ascending = unit>

// After states were added, arguments and results are these; what the mask was is kept.
// STATES: mask = causal,
// STATES-SAME: "q", {{.*}} #taylor.tensor<"initial.
// STATES-SAME: outputs = [#taylor.tensor<"n", {{.*}}#taylor.tensor<"final.

// TWO: error: expected one taylor.spec, but got 2; taylorc takes the one that --spec names

//--- softmax.mlir
!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
taylor.spec @softmax(%q: !q, %k: !k, %v: !v) {
  %n = taylor.recurrences %q, %k, %v exponential causal : !q, !k, !v
  taylor.yield %n : !taylor.array<[b, h, t, e = 8], f32>
}
//--- aligned.mlir
!u = !taylor.array<[b, u], f32>
!t = !taylor.array<[b, t], f32>
!docs = !taylor.array<[b, u], i32>
taylor.spec @aligned(%x: !u, %documents: !docs from input) {
  %later = taylor.scan sum reverse over(u) %x : !u
  %y = taylor.align %later to t : !u
  taylor.yield %y : !t
}
//--- series.mlir
!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
taylor.spec @series(%q: !q, %k: !k, %v: !v) {
  %n = taylor.recurrences %q, %k, %v orders(1 to 1) causal : !q, !k, !v
  taylor.yield %n : !taylor.array<[b, h, t, e = 8], f32>
}
//--- two.mlir
!q = !taylor.array<[b, h, t, d = 16], f32>
taylor.spec @first(%q: !q) {
  taylor.yield %q : !q
}
taylor.spec @second(%q: !q) {
  taylor.yield %q : !q
}
