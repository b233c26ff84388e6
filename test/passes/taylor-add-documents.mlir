// RUN: taylor-opt --taylor-add-documents --canonicalize --cse %s | FileCheck %s

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!col = !taylor.array<[b, g, u]>
!slope = !taylor.array<[g]>

// Numbers ascend; a document is known by the first token with a new one, from which positions count; a mask compares those, and rope turns by positions.
// CHECK-LABEL: taylor.spec @softmax(%q: !bhtd, %k: !bgud, %v: !bgue, %documents: !bu_i32 from input)
// CHECK: %[[D:.*]] = taylor.scan max over(u) %documents : !bu_i32
// CHECK: %[[BEFORE:.*]] = taylor.scan shift(1) over(u) stop(%[[D]]) : !bu
// CHECK: %[[FIRST:.*]] = taylor.scan max over(u) select(%[[D]] == %[[BEFORE]], 0.0, u) : !bu, !bu
// CHECK: %[[P:.*]] = taylor.map u - stop(%[[FIRST]]) : !bu
// CHECK-DAG: %[[DT:.*]] = taylor.align %[[FIRST]] to t : !bu
// CHECK-DAG: %[[PT:.*]] = taylor.align %[[P]] to t : !bu
// CHECK: %[[Q:.*]] = taylor.rope %q at %[[PT]] : !bhtd, !bt
// CHECK: %[[K:.*]] = taylor.rope %k at %[[P]] : !bgud, !bu
// CHECK: taylor.recurrences [numerator, mass] %[[Q]], %[[K]], %v {{.*}} causal visible(%[[DT]] == %[[FIRST]]) :
taylor.spec @softmax(%q: !q, %k: !k, %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

// Scans and convolutions stay within documents; what reads u gets the batch of the documents.
// CHECK-LABEL: taylor.spec @running
// CHECK: %[[FIRST:.*]] = taylor.scan max over(u) select(
// CHECK: taylor.scan sum over(u) within(%[[FIRST]] : !bu) %f : !bgu
// CHECK: %[[C:.*]] = taylor.convolve %k, %w within(%[[FIRST]] : !bu) : !bgud, !dj
// CHECK: taylor.gated_sum %[[C]], %s within(%[[FIRST]] : !bu) : !bgud, !g
// CHECK: %[[R:.*]] = taylor.map %s * stop(%{{.*}}) : !g, !bu
// CHECK: taylor.recurrences {{.*}} decay(%[[R]])
taylor.spec @running(%q: !q, %k: !k, %v: !v, %f: !col, %s: !slope from parameter(ones), %w: !taylor.array<[d, j = 3]> from parameter(ones)) {
  %F = taylor.scan sum over(u) %f : !col
  %kc = taylor.convolve %k, %w : !k, !taylor.array<[d, j = 3]>
  %k1 = taylor.gated_sum %kc, %s : !k, !slope
  %L = taylor.map %s * u : !slope
  %v1 = taylor.map %v * %F : !v, !col
  %o = taylor.recurrences %q, %k1, %v1 orders(1 to 1) decay(%L) causal : !q, !k, !v, !taylor.array<[g, u]>
  taylor.yield %o : !o
}

// Differences of positions are the same in a document; what else reads them counts from its first token, as sizes count its keys.
// CHECK-LABEL: taylor.spec @differences
// CHECK: taylor.scan max reverse lengths over(u) within(%{{.*}} : !bu) %{{.*}} : !bu
// CHECK: score(s - (t - u)) causal visible(and(t - u < 8.0, %{{.*}} == %{{.*}}))
// CHECK: score(s / log(stop(%[[PT:.*]]) + 2.0)) bidirectional visible(and(stop(%{{.*}}) < 2.0, %{{.*}} == %{{.*}}))
// CHECK: weight(sigmoid(s - log(stop(%{{.*}}))))
taylor.spec @differences(%q: !q, %k: !k, %v: !v) {
  %a = taylor.recurrences %q, %k, %v exponential score(s - (t - u)) causal visible(t - u < 8) : !q, !k, !v
  %c = taylor.recurrences %q, %k, %v exponential score(s / log(t + 2.0)) bidirectional visible(u < 2) : !q, !k, !v
  %e = taylor.recurrences %q, %k, %v weight(sigmoid(s - log(size(u)))) causal : !q, !k, !v
  %o = taylor.map %a + %c + %e : !o, !o, !o
  taylor.yield %o : !o
}

// CHECK-LABEL: taylor.spec @pairs
// CHECK: visible(and(u <= t, %{{.*}} == %{{.*}})) -> rows(exp(s0) * stop(%{{.*}}), %v)
taylor.spec @pairs(%q: !q, %k: !k, %v: !v) {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(exp(s) * u, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
