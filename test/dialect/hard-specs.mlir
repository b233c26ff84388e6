// The specifications that try the syntax hardest: each parses, and prints to a text that parses to the same module.
// RUN: taylor-opt %s | taylor-opt | FileCheck %s
// RUN: taylor-opt %s -o %t.once
// RUN: taylor-opt %t.once -o %t.twice
// RUN: diff %t.once %t.twice

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!hv = !taylor.array<[b, h, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!col = !taylor.array<[b, h, u]>
!head = !taylor.array<[h]>
!channel = !taylor.array<[e]>
!hd4 = !taylor.array<[h, d, j = 4]>
!gd4 = !taylor.array<[g, d, j = 4]>
!ge4 = !taylor.array<[g, e, j = 4]>
!docq = !taylor.array<[b, t], i32>
!dock = !taylor.array<[b, u], i32>

// A gradient stopped in the denominator.
// CHECK-LABEL: taylor.spec @softmax_mass_detached_gate
// CHECK-SAME: %out_gate: !bht from projection(bias)
// CHECK: taylor.recurrences [numerator, mass] {{.*}} score(min(s, 5.0))
// CHECK: sigmoid(%out_gate) * %{{.*}} / (stop(%{{.*}}) + 0.0001)
taylor.spec @softmax_mass_detached_gate(%q: !q, %k: !k, %v: !v, %out_gate: !row from projection(bias)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  %o = taylor.map sigmoid(%out_gate) * %n / (stop(%z) + 1.0e-4) : !row, !o, !row
  taylor.yield %o : !o
}

// A scan, a log-decay, a gate of the query heads on values of the key/value heads.
// CHECK-LABEL: taylor.spec @decay_gates
// CHECK: taylor.scan sum exclusive over(u)
// CHECK: taylor.recurrences [numerator, count] {{.*}} decay(%{{.*}})
// CHECK: taylor.normalize layer {{.*}} weight(%w) bias(%b) epsilon(1.0e-5)
taylor.spec @decay_gates(%q: !q, %k: !k, %v: !v, %a: !row from projection(bias), %i: !col from projection(bias),
                         %f: !col from projection(bias), %w: !channel from parameter(ones),
                         %b: !channel from parameter(zeros)) {
  %D = taylor.scan sum exclusive over(u) %f / 1024.0 : !col
  %hv = taylor.map sigmoid(%i) * %v : !col, !v
  %n, %c = taylor.recurrences [numerator, count] %q, %k, %hv exponential score(min(s, 5.0)) decay(%D) causal : !q, !k, !hv, !col
  %y = taylor.map sigmoid(%a) * %n / %c : !row, !o, !row
  %o = taylor.normalize layer %y weight(%w) bias(%b) epsilon(1.0e-5) : !o, !channel, !channel
  taylor.yield %o : !o
}

// A norm over the heads, positions in a formula, one learned number per head.
// CHECK-LABEL: taylor.spec @linear_cosine_as_coded
// CHECK-SAME: %p: !h from parameter(constant(0.5))
// CHECK: taylor.normalize l2 over(h)
// CHECK: taylor.normalize l2 over(g)
// CHECK: pow(u + 1.0, sigmoid(%p))
// CHECK: orders(1 to 1)
taylor.spec @linear_cosine_as_coded(%q: !q, %k: !k, %v: !v, %p: !head from parameter(constant(0.5))) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %qn = taylor.normalize l2 over(h) %qr epsilon(1.0e-12) : !q
  %kn = taylor.normalize l2 over(g) %kr epsilon(1.0e-12) : !k
  %vp = taylor.map %v / pow(u + 1.0, sigmoid(%p)) : !v, !head
  %o = taylor.recurrences %qn, %kn, %vp orders(1 to 1) causal : !q, !k, !hv
  taylor.yield %o : !o
}

// Free axes: the taps of three convolutions.
// CHECK-LABEL: taylor.spec @conv_gates
// CHECK-SAME: from parameter(uniform(-0.5, 0.5))
// CHECK: taylor.convolve %q, %cq : !bhtd, !hdj
// CHECK: taylor.map %[[Q:.*]] * sigmoid(%[[Q]])
taylor.spec @conv_gates(%q: !q, %k: !k, %v: !v, %a: !row from projection(bias), %i: !col from projection(bias),
                        %cq: !hd4 from parameter(uniform(-0.5, 0.5)), %ck: !gd4 from parameter(uniform(-0.5, 0.5)),
                        %cv: !ge4 from parameter(uniform(-0.5, 0.5)), %w: !channel from parameter(ones),
                        %b: !channel from parameter(zeros)) {
  %q1 = taylor.convolve %q, %cq : !q, !hd4
  %k1 = taylor.convolve %k, %ck : !k, !gd4
  %v1 = taylor.convolve %v, %cv : !v, !ge4
  %q2 = taylor.map silu(%q1) : !q
  %k2 = taylor.map silu(%k1) : !k
  %hv = taylor.map sigmoid(%i) * silu(%v1) : !col, !v
  %qr = taylor.rope %q2 : !q
  %kr = taylor.rope %k2 : !k
  %n, %c = taylor.recurrences [numerator, count] %qr, %kr, %hv exponential score(min(s, 5.0)) causal : !q, !k, !hv
  %y = taylor.map sigmoid(%a) * %n / %c : !row, !o, !row
  %o = taylor.normalize layer %y weight(%w) bias(%b) epsilon(1.0e-5) : !o, !channel, !channel
  taylor.yield %o : !o
}

// The top order is free until compilation.
// CHECK-LABEL: taylor.spec @softmax_taylor
// CHECK-SAME: parameters(order : index = 10)
// CHECK: orders(0 to order)
// CHECK-SAME: scale(rsqrt(size(d)))
taylor.spec @softmax_taylor(%q: !q, %k: !k, %v: !v) parameters(order : index = 10) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v orders(0 to order) coefficients(factorial) scale(rsqrt(size(d))) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

// A weight that is no series.
// CHECK-LABEL: taylor.spec @sigmoid_bias
// CHECK: weight(sigmoid(s - log(size(u))))
taylor.spec @sigmoid_bias(%q: !q, %k: !k, %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %o = taylor.recurrences %qr, %kr, %v weight(sigmoid(s - log(size(u)))) scale(rsqrt(size(d))) causal : !q, !k, !v
  taylor.yield %o : !o
}

// A score that reads positions and the head.
// CHECK-LABEL: taylor.spec @alibi
// CHECK: score(s - pow(2.0, -8.0 * (h + 1.0) / size(h)) * (t - u))
taylor.spec @alibi(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential
           score(s - pow(2.0, -8.0 * (h + 1.0) / size(h)) * (t - u)) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

// The same with a learned slope: a parameter in the score.
// CHECK-LABEL: taylor.spec @alibi_learned
// CHECK: score(s - %m * (t - u))
taylor.spec @alibi_learned(%q: !q, %k: !k, %v: !v, %m: !head from parameter(constant(0.1))) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential score(s - %m * (t - u)) causal : !q, !k, !v, !head
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

// A mask of a window and of documents, which the caller brings.
// CHECK-LABEL: taylor.spec @window_documents
// CHECK-SAME: %dq: !bt_i32 from input
// CHECK-SAME: parameters(window : index = 1024)
// CHECK: visible(and(t - u < window, %dq == %dk))
taylor.spec @window_documents(%q: !q, %k: !k, %v: !v, %dq: !docq from input, %dk: !dock from input)
    parameters(window : index = 1024) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential causal visible(t - u < window, %dq == %dk)
           : !q, !k, !v, !docq, !dock
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

// Two sums under one row function.
// CHECK-LABEL: taylor.spec @differential
// CHECK: %{{.*}} / %{{.*}} - %l * %{{.*}} / %{{.*}} :
// CHECK: taylor.normalize rms {{.*}} weight(%w) epsilon(1.0e-5)
taylor.spec @differential(%q1: !q, %k1: !k, %q2: !q, %k2: !k, %v: !v, %l: !head from parameter(constant(0.8)),
                          %w: !channel from parameter(ones)) {
  %qr1 = taylor.rope %q1 : !q
  %kr1 = taylor.rope %k1 : !k
  %qr2 = taylor.rope %q2 : !q
  %kr2 = taylor.rope %k2 : !k
  %n1, %z1 = taylor.recurrences [numerator, mass] %qr1, %kr1, %v exponential causal : !q, !k, !v
  %n2, %z2 = taylor.recurrences [numerator, mass] %qr2, %kr2, %v exponential causal : !q, !k, !v
  %y = taylor.map %n1 / %z1 - %l * %n2 / %z2 : !o, !row, !head, !o, !row
  %o = taylor.normalize rms %y weight(%w) epsilon(1.0e-5) : !o, !channel
  taylor.yield %o : !o
}
