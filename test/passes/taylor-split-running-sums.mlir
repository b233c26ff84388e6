// A running sum becomes two numbers where differences of it are taken. The specification is evaluated in both forms.
// RUN: split-file %s %t
// RUN: taylor-opt --pass-pipeline='builtin.module(taylor.function(taylor-split-running-sums))' %t/functions.mlir | FileCheck %t/functions.mlir
// RUN: taylorc %t/fading.mlir --emit=pairwise -o %t/pairs.mlir
// RUN: taylor-opt --pass-pipeline='builtin.module(taylor.function(taylor-split-running-sums))' %t/pairs.mlir -o %t/split.mlir
// RUN: FileCheck %t/fading.mlir --input-file %t/split.mlir
// RUN: taylor-run %t/fading.mlir --functions=%t/split.mlir --shape=b=1,h=4,g=2,t=9,u=9,d=64,e=64
// RUN: taylor-opt --pass-pipeline='builtin.module(taylor-chunk-sums{chunk=4},taylor.function(canonicalize,cse,taylor-split-running-sums))' %t/pairs.mlir -o %t/chunks.mlir
// RUN: FileCheck %t/fading.mlir --check-prefix=CHUNKS --input-file %t/chunks.mlir
// RUN: taylor-run %t/fading.mlir --functions=%t/chunks.mlir --shape=b=1,h=4,g=2,t=9,u=9,d=64,e=64
// RUN: taylorc %t/backwards.mlir --emit=pairwise -o %t/backwards-pairs.mlir
// RUN: taylor-opt --pass-pipeline='builtin.module(taylor.function(taylor-split-running-sums))' %t/backwards-pairs.mlir -o %t/backwards-split.mlir
// RUN: FileCheck %t/backwards.mlir --input-file %t/backwards-split.mlir
// RUN: taylor-run %t/backwards.mlir --functions=%t/backwards-split.mlir --shape=b=1,h=4,g=2,t=3,u=9,d=64,e=64
// RUN: taylor-opt --pass-pipeline='builtin.module(taylor.function(taylor-split-running-sums))' %t/functions.mlir -o %t/once.mlir
// RUN: taylor-opt --pass-pipeline='builtin.module(taylor.function(taylor-split-running-sums))' %t/once.mlir -o %t/twice.mlir
// RUN: diff %t/once.mlir %t/twice.mlir
// RUN: taylorc %t/fading.mlir --dtype=f64 --emit=pairwise | taylor-opt --pass-pipeline='builtin.module(taylor.function(taylor-split-running-sums))' | FileCheck %t/fading.mlir --check-prefix=DOUBLE

// In pieces of documents the sum of the call before counts for some tokens: forward and backward shift by the same edge, of a sum of two numbers in both.
// RUN: taylor-run %t/strong.mlir --device=cpu --documents --states=2,40 --form=parallel --check --grad --threads=1 --seed=81 --shape=b=1,h=1,g=1,t=129,u=129,d=2,e=2

//--- strong.mlir
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
taylor.spec @strong(%q: !q, %k: !k, %v: !v, %f: !column from projection(bias)) {
  %D = taylor.scan sum over(u) -30.0 * softplus(%f) : !column
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 0) scale(rsqrt(size(d))) causal decay(%D) : !q, !k, !v, !column
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

//--- fading.mlir
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>

// CHECK-LABEL: taylor.function @fading.forward
// CHECK:       %[[H:.*]] = taylor.scan high over(u) -softplus(%f)
// CHECK-NEXT:  %[[L:.*]] = taylor.scan low over(u) -softplus(%f)
// CHECK-DAG:   %[[HT:.*]] = taylor.align %[[H]] to t
// CHECK-DAG:   %[[LT:.*]] = taylor.align %[[L]] to t
// CHECK:       taylor.pairwise {{.*}}m = maximum(%[[HT]] - %[[H]] + (%[[LT]] - %[[L]]), 0.0), {{.*}}exp(%[[HT]] - %[[H]] + (%[[LT]] - %[[L]]) - m)
// CHECK-LABEL: taylor.function @fading.backward
// CHECK:       exp(%{{.*}} - %{{.*}} + (%{{.*}} - %{{.*}}) - %maximum)

// States are scaled by the edge E, one number: exp(E - c[u]) on one side, exp(a[t] - E) on the other. Maps that add to a sum are read through.
// CHUNKS-LABEL: taylor.function @fading.forward
// CHUNKS:       %[[H:.*]] = taylor.scan high over(u)
// CHUNKS:       %[[L:.*]] = taylor.scan low over(u)
// CHUNKS:       %[[HT:.*]] = taylor.align %[[H]] to t
// CHUNKS:       %[[LT:.*]] = taylor.align %[[L]] to t
// CHUNKS:       %[[M:.*]] = taylor.map max(%{{.*}} + %[[HT]] + %[[LT]], %{{.*}})
// CHUNKS:       %[[ET:.*]] = taylor.edge %[[E:.*]] chunk(4) {{.*}} -> !bgt_f32
// CHUNKS:       taylor.map { x0 = %[[HT]] - %[[ET]], {{.*}}x{{.}} = x0 - %[[M]], {{.*}} + %[[LT]]), {{.*}})) }
// CHUNKS:       %[[EU:.*]] = taylor.edge %[[E]] chunk(4) {{.*}} -> !bgu_f32
// CHUNKS:       taylor.map exp(%[[EU]] - %[[H]] - %[[L]])

// DOUBLE-LABEL: taylor.function @fading.forward
// DOUBLE:       taylor.scan sum over(u)
// DOUBLE-NOT:   high
taylor.spec @fading(%q: !q, %k: !k, %v: !v, %f: !column from projection(bias)) {
  %D = taylor.scan sum over(u) -softplus(%f) : !column
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) coefficients(1.0, 0.25, 0.125) decay(%D) causal : !q, !k, !v, !column
  %o = taylor.map %n / (%z + 0.25) : !o, !row
  taylor.yield %o : !o
}

//--- backwards.mlir
// Keys that read sums of queries: those in front of the first query get 0, and not what a map adds to a sum. So this map is a term as it is.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!query = !taylor.array<[b, g, t]>
!column = !taylor.array<[b, g, u]>

// CHECK-LABEL: taylor.function @backwards.forward
// CHECK:       %[[H:.*]] = taylor.scan {{.*}} over(t) -softplus(%f)
// CHECK:       %[[D:.*]] = taylor.map %[[H]] + 0.5
// CHECK:       taylor.align %[[D]] to u
taylor.spec @backwards(%q: !q, %k: !k, %v: !v, %f: !query from projection(bias)) {
  %S = taylor.scan sum over(t) -softplus(%f) : !query
  %D = taylor.map %S + 0.5 : !query
  %Du = taylor.align %D to u : !query
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v weight(exp(s)) scale(rsqrt(size(d))) decay(%Du) causal : !q, !k, !v, !column
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

//--- functions.mlir
!q32 = !taylor.array<[b, h, t, d = 8], f32>
!k32 = !taylor.array<[b, g, u, d = 8], f32>
!row32 = !taylor.array<[b, h, t], f32>
!aligned32 = !taylor.array<[b, g, t], f32>
!column32 = !taylor.array<[b, g, u], f32>
!group32 = !taylor.array<[b, g], f32>

// Large terms come first, whatever else there is, and their lesser halves next.
// CHECK-LABEL: taylor.function @scores
// CHECK:       %[[H:.*]] = taylor.scan high exclusive over(u) %f
// CHECK-NEXT:  %[[L:.*]] = taylor.scan low exclusive over(u) %f
// CHECK-NEXT:  %[[HT:.*]] = taylor.align %[[H]] to t
// CHECK-NEXT:  %[[LT:.*]] = taylor.align %[[L]] to t
// CHECK-NEXT:  taylor.pairwise { s0 = dot(%q, %k) } visible(u <= t) -> rows(exp(%[[HT]] - %[[H]] + (%[[LT]] - %[[L]]) + s0))
taylor.function @scores of @f("input:q" %q: !q32, "input:k" %k: !k32, "input:f" %f: !column32) {
  %D = taylor.scan sum exclusive over(u) %f : !column32
  %Dt = taylor.align %D to t : !column32
  %z = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(exp(s + %Dt - %D)) : !q32, !k32, !aligned32, !column32 -> !row32
  taylor.yield "output:z" %z : !row32
}

// A sum that goes on from another call's: both are read through, and what both sides have cancels.
// CHECK-LABEL: taylor.function @pieces
// CHECK:       %[[H:.*]] = taylor.scan high over(u) %f
// CHECK-NEXT:  %[[L:.*]] = taylor.scan low over(u) %f
// CHECK-NEXT:  %[[HT:.*]] = taylor.align %[[H]] to t
// CHECK-NEXT:  %[[LT:.*]] = taylor.align %[[L]] to t
// CHECK-NEXT:  taylor.pairwise { s0 = dot(%q, %k) } visible(u <= t) -> rows(s0 * exp(%[[HT]] - %[[H]] + (%[[LT]] - %[[L]])))
// CHECK-NEXT:  taylor.yield
taylor.function @pieces of @f("input:q" %q: !q32, "input:k" %k: !k32, "input:f" %f: !column32, "input:s" %s: !group32) {
  %S = taylor.scan sum over(u) %f : !column32
  %D = taylor.map %S + %s + 0.5 : !column32, !group32
  %Dt = taylor.align %D to t : !column32
  %z = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * exp(%Dt - %D)) : !q32, !k32, !aligned32, !column32 -> !row32
  taylor.yield "output:z" %z : !row32
}

// The same where it goes on for some tokens alone: what each token takes of the other call's is an array, and the map's other arrays are left.
// CHECK-LABEL: taylor.function @chosen
// CHECK:       %[[H:.*]] = taylor.scan high over(u) %f
// CHECK-NEXT:  %[[L:.*]] = taylor.scan low over(u) %f
// CHECK:       %[[P:.*]] = taylor.map select(%c < 1.0, %s, 0.0)
// CHECK-NEXT:  %[[PT:.*]] = taylor.align %[[P]] to t
// CHECK:       taylor.pairwise {{.*}} + %[[PT]], {{.*}} - %[[P]], {{.*}} visible(u <= t)
taylor.function @chosen of @f("input:q" %q: !q32, "input:k" %k: !k32, "input:f" %f: !column32, "input:s" %s: !group32, "input:c" %c: !column32) {
  %S = taylor.scan sum over(u) %f : !column32
  %D = taylor.map %S + select(%c < 1.0, %s, 0.0) : !column32, !column32, !group32
  %Dt = taylor.align %D to t : !column32
  %z = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * exp(%Dt - %D)) : !q32, !k32, !aligned32, !column32 -> !row32
  taylor.yield "output:z" %z : !row32
}

// What all tokens take alike has no tokens and cancels; a part's own differences are rewritten too.
// CHECK-LABEL: taylor.function @alike
// CHECK:       taylor.pairwise { s0 = dot(%q, %k) } visible(u <= t) -> rows(s0 * exp(%{{[0-9]+}} - %{{[0-9]+}} + (%{{[0-9]+}} - %{{[0-9]+}})))
taylor.function @alike of @f("input:q" %q: !q32, "input:k" %k: !k32, "input:f" %f: !column32, "input:s" %s: !group32, "input:c" %c: !group32) {
  %S = taylor.scan sum over(u) %f : !column32
  %D = taylor.map %S + select(%c < 1.0, %s, 0.0) : !column32, !group32, !group32
  %Dt = taylor.align %D to t : !column32
  %z = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * exp(%Dt - %D)) : !q32, !k32, !aligned32, !column32 -> !row32
  taylor.yield "output:z" %z : !row32
}
// CHECK-LABEL: taylor.function @inside
// CHECK:       %[[H:.*]] = taylor.scan high over(u) %g
// CHECK:       %[[L:.*]] = taylor.scan low over(u) %g
// CHECK:       %[[M:.*]] = taylor.scan max over(u) %[[H]]
// CHECK:       taylor.map select(%c < 1.0, %[[H]] - %[[M]] + %[[L]], 0.0)
taylor.function @inside of @f("input:f" %f: !column32, "input:g" %g: !column32, "input:c" %c: !column32) {
  %S = taylor.scan sum over(u) %f : !column32
  %R = taylor.scan sum over(u) %g : !column32
  %M = taylor.scan max over(u) %R : !column32
  %D = taylor.map %S + select(%c < 1.0, %R - %M, 0.0) : !column32, !column32, !column32, !column32
  %x = taylor.map exp(%D + %c) : !column32, !column32
  taylor.yield "output:x" %x : !column32
}

// A part of a map that is not read through in the end is no operation left behind.
// CHECK-LABEL: taylor.function @alone
// CHECK-NEXT:  taylor.scan sum
// CHECK-NEXT:  taylor.map
// CHECK-NEXT:  taylor.map
// CHECK-NEXT:  taylor.yield
taylor.function @alone of @f("input:f" %f: !column32, "input:s" %s: !group32, "input:c" %c: !column32) {
  %S = taylor.scan sum over(u) %f : !column32
  %D = taylor.map %S + select(%c < 1.0, %s, 0.0) : !column32, !column32, !group32
  %x = taylor.map exp(%D + 1.0) : !column32
  taylor.yield "output:x" %x : !column32
}

// Beside an edge, what a call before left may be as large as the edge: nothing is lost of their sum, unless it is infinite. A map that adds to such a map is read through too.
// CHECK-LABEL: taylor.function @edges
// CHECK:       %[[H:.*]] = taylor.scan high over(u) %f
// CHECK:       %[[L:.*]] = taylor.scan low over(u) %f
// CHECK:       %[[E:.*]] = taylor.edge
// CHECK-NEXT:  taylor.map { x0 = %[[E]] - %[[H]], x1 = x0 - %[[E]], x2 = x0 - %s, x3 = x2 - x0, x4 = x2 - %c, x5 = x4 - x2,
// CHECK-SAME:  exp(select(abs(x4) < infinity(), x4 + (%[[E]] - (x0 - x1) - (%[[H]] + x1) + (x0 - (x2 - x3)) - (%s + x3) + (x2 - (x4 - x5)) - (%c + x5) - %[[L]]), x4)) }
// CHECK-NEXT:  taylor.yield
taylor.function @edges of @f("input:f" %f: !column32, "input:s" %s: !group32, "input:c" %c: !group32) {
  %S = taylor.scan sum over(u) %f : !column32
  %D = taylor.map %S + %s : !column32, !group32
  %X = taylor.map %D + %c : !column32, !group32
  %E = taylor.edge %D chunk(4) : (!column32) -> !column32
  %x = taylor.map exp(%E - %X) : !column32, !column32
  taylor.yield "output:x" %x : !column32
}

// A constant to derivatives that have been taken is a number.
// CHECK-LABEL: taylor.function @stopped
// CHECK:       %[[H:.*]] = taylor.scan high over(u) %f
// CHECK-NEXT:  %[[L:.*]] = taylor.scan low over(u) %f
// CHECK-NEXT:  %[[M:.*]] = taylor.scan max over(u) %[[H]]
// CHECK-NEXT:  taylor.map exp(%[[H]] - %[[M]] + %[[L]])
taylor.function @stopped of @f("input:f" %f: !column32) {
  %S = taylor.scan sum over(u) %f : !column32
  %M = taylor.scan max over(u) %S : !column32
  %x = taylor.map exp(%S - stop(%M)) : !column32, !column32
  taylor.yield "output:x" %x : !column32
}

// What cancels had an axis that is summed over: its array stays.
// CHECK-LABEL: taylor.function @axis
// CHECK:       taylor.reduce sum over(h) region(%[[D:.*]], %{{.*}}, %{{.*}}, %{{.*}}) {
// CHECK-NOT:   %arg0,
// CHECK:       taylor.yield "output:x"
taylor.function @axis of @f("input:f" %f: !column32, "input:s" %s: !taylor.array<[b, h], f32>) {
  %S = taylor.scan sum over(u) %f : !column32
  %M = taylor.scan max over(u) %S : !column32
  %D = taylor.map %S + %s : !column32, !taylor.array<[b, h], f32>
  %N = taylor.map %M + %s : !column32, !taylor.array<[b, h], f32>
  %x = taylor.reduce sum over(h) exp(%D - %N) : !taylor.array<[b, h, u], f32>, !taylor.array<[b, h, u], f32>
  taylor.yield "output:x" %x : !taylor.array<[b, u], f32>
}

// Two sums, each with what cancels it; a difference inside of another formula; a document's sums.
// CHECK-LABEL: taylor.function @two
// CHECK-DAG:   %[[H0:.*]] = taylor.scan high over(u) %f
// CHECK-DAG:   %[[H1:.*]] = taylor.scan high over(u) within(%n : !bu_f32) %g
// CHECK-DAG:   %[[M0:.*]] = taylor.scan max over(u) %[[H0]]
// CHECK-DAG:   %[[M1:.*]] = taylor.scan max over(u) %[[H1]]
// CHECK:       taylor.map 1.0 / (%[[H0]] - %[[M0]] + (%[[H1]] - %[[M1]]) + (%{{.*}} + %{{.*}}) + %g)
taylor.function @two of @f("input:f" %f: !column32, "input:g" %g: !column32, "input:n" %n: !taylor.array<[b, u], f32>) {
  %S = taylor.scan sum over(u) %f : !column32
  %R = taylor.scan sum over(u) within(%n : !taylor.array<[b, u], f32>) %g : !column32
  %MS = taylor.scan max over(u) %S : !column32
  %MR = taylor.scan max over(u) %R : !column32
  %x = taylor.map 1.0 / (%g + %S + %R - %MS - %MR) : !column32, !column32, !column32, !column32, !column32
  taylor.yield "output:x" %x : !column32
}

// No difference of a sum with itself: a sum that is used as it is, one less another, one less either of two.
// CHECK-LABEL: taylor.function @none
// CHECK-NEXT:  %[[S:.*]] = taylor.scan sum over(u) %f
// CHECK-NEXT:  %[[R:.*]] = taylor.scan sum over(u) %g
// CHECK-NEXT:  taylor.map exp(%[[S]] - %[[R]]) * %[[S]]
// CHECK-NEXT:  %[[M:.*]] = taylor.map max(%[[S]], %[[R]])
// CHECK-NEXT:  taylor.map exp(%[[S]] - %[[M]])
taylor.function @none of @f("input:f" %f: !column32, "input:g" %g: !column32) {
  %S = taylor.scan sum over(u) %f : !column32
  %R = taylor.scan sum over(u) %g : !column32
  %x = taylor.map exp(%S - %R) * %S : !column32, !column32
  %M = taylor.map max(%S, %R) : !column32, !column32
  %y = taylor.map exp(%S - %M) : !column32, !column32
  taylor.yield "output:x" %x, "output:y" %y : !column32, !column32
}
