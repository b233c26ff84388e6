// The numerator of clamped scores over its own length.
//
//   s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = N / max(|N|, 1e-12)
//
// Source: Figure 6, right; `gated_softmax_no_gate_L2norm_nodivS` in the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>

taylor.spec @softmax_clamped_norm_l2(%q: !q, %k: !k, %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n = taylor.recurrences %qr, %kr, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  %o = taylor.normalize l2 %n epsilon(1.0e-12) : !o
  taylor.yield %o : !o
}
