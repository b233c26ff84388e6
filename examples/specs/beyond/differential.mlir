// Differential attention: the difference of two softmax maps cancels what both see, then a root mean square norm.
//
//   s1[t,u] = <q1[t], k1[u]> / sqrt(d), after RoPE        w1 = e^s1        s2, w2 likewise
//   lambda = e^<lambda_q1, lambda_k1> - e^<lambda_q2, lambda_k2> + 0.8
//   o = 0.2 RMS(N1 / Z1 - lambda N2 / Z2), epsilon 1e-5
//
// The heads share lambda and the norm's weight; 0.8 and 0.2 = 1 - 0.8 are the value that lambda starts at, for late layers.
// Source: Ye et al., Differential Transformer.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!score_channel = !taylor.array<[d]>
!channel = !taylor.array<[e]>

taylor.spec @differential(%q1: !q, %k1: !k, %q2: !q, %k2: !k, %v: !v,
                          %lambda_q1: !score_channel from parameter(normal(0.0, 0.1)),
                          %lambda_k1: !score_channel from parameter(normal(0.0, 0.1)),
                          %lambda_q2: !score_channel from parameter(normal(0.0, 0.1)),
                          %lambda_k2: !score_channel from parameter(normal(0.0, 0.1)),
                          %norm_weight: !channel from parameter(ones)) {
  %qr1 = taylor.rope %q1 : !q
  %kr1 = taylor.rope %k1 : !k
  %qr2 = taylor.rope %q2 : !q
  %kr2 = taylor.rope %k2 : !k
  %n1, %z1 = taylor.recurrences [numerator, mass] %qr1, %kr1, %v exponential causal : !q, !k, !v
  %n2, %z2 = taylor.recurrences [numerator, mass] %qr2, %kr2, %v exponential causal : !q, !k, !v
  %l1 = taylor.reduce sum over(d) %lambda_q1 * %lambda_k1 : !score_channel, !score_channel
  %l2 = taylor.reduce sum over(d) %lambda_q2 * %lambda_k2 : !score_channel, !score_channel
  %y = taylor.map %n1 / %z1 - (exp(%l1) - exp(%l2) + 0.8) * %n2 / %z2
       : !o, !row, !taylor.array<[]>, !taylor.array<[]>, !o, !row
  %r = taylor.normalize rms %y weight(%norm_weight) epsilon(1.0e-5) : !o, !channel
  %o = taylor.map 0.2 * %r : !o
  taylor.yield %o : !o
}
