// The numerator of clamped scores, then a root mean square norm with a learned weight.
//
//   s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = RMS(N), epsilon 1.1920929e-7
//
// The heads share the norm's weight. Source: Figure 6, right; `gated_softmax_no_gate_rmsnorm_nodivS` in the code of the
// paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!channel = !taylor.array<[e]>

taylor.spec @softmax_norm_rms(%q: !q, %k: !k, %v: !v, %norm_weight: !channel from parameter(ones)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n = taylor.recurrences %qr, %kr, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  %o = taylor.normalize rms %n weight(%norm_weight) epsilon(1.1920929e-7) : !o, !channel
  taylor.yield %o : !o
}
