// Order 1 alone, of relu, then a root mean square norm with a learned weight.
//
//   w[t,u] = <relu(q[t]), relu(k[u])> / sqrt(d), after RoPE        o = RMS(N), epsilon 1.1920929e-7
//
// The heads share the norm's weight. Source: Figure 6, right, whose claim is of any norm: relu-norm-l2 with the norm of softmax-norm-rms.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!channel = !taylor.array<[e]>

taylor.spec @relu_norm_rms(%q: !q, %k: !k, %v: !v, %norm_weight: !channel from parameter(ones)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %qf = taylor.map relu(%qr) : !q
  %kf = taylor.map relu(%kr) : !k
  %n = taylor.recurrences %qf, %kf, %v orders(1 to 1) scale(rsqrt(size(d))) causal : !q, !k, !v
  %o = taylor.normalize rms %n weight(%norm_weight) epsilon(1.1920929e-7) : !o, !channel
  taylor.yield %o : !o
}
