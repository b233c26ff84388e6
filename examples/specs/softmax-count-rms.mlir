// Clamped scores, divided by the number of visible keys, then a root mean square norm with a learned weight.
//
//   s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = RMS(N / n), epsilon 1.1920929e-7
//
// The heads share the norm's weight. Source: Figure 6, right; `gated_softmax_no_gate_rmsnorm` and `softmax_divS_norm` in
// the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!channel = !taylor.array<[e]>

taylor.spec @softmax_count_rms(%q: !q, %k: !k, %v: !v, %norm_weight: !channel from parameter(ones)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %c = taylor.recurrences [numerator, count] %qr, %kr, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  %y = taylor.map %n / %c : !o, !row
  %o = taylor.normalize rms %y weight(%norm_weight) epsilon(1.1920929e-7) : !o, !channel
  taylor.yield %o : !o
}
