// Order 1 alone, of relu, divided by the number of visible keys, then a layer norm with a learned weight and bias.
//
//   w[t,u] = <relu(q[t]), relu(k[u])> / sqrt(d), after RoPE        o = LN(N / n), epsilon 1e-5
//
// The heads share the norm's parameters. Source: Figure 6, right, whose claim is of any norm: relu-norm-l2 with the norm of
// softmax-count-layernorm.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!channel = !taylor.array<[e]>

taylor.spec @relu_count_layernorm(%q: !q, %k: !k, %v: !v, %norm_weight: !channel from parameter(ones),
                                  %norm_bias: !channel from parameter(zeros)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %qf = taylor.map relu(%qr) : !q
  %kf = taylor.map relu(%kr) : !k
  %n, %c = taylor.recurrences [numerator, count] %qf, %kf, %v orders(1 to 1) scale(rsqrt(size(d))) causal : !q, !k, !v
  %y = taylor.map %n / %c : !o, !row
  %o = taylor.normalize layer %y weight(%norm_weight) bias(%norm_bias) epsilon(1.0e-5) : !o, !channel, !channel
  taylor.yield %o : !o
}
