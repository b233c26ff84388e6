// Clamped scores, divided by the number of visible keys; rows of length e, the number of a value's channels.
//
//   s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = e L2(N / n), L2(x) = x / max(|x|, 1e-12)
//
// Source: Figure 6, right; `gated_softmax_no_gate_customnorm` in the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @softmax_count_norm_scaled(%q: !q, %k: !k, %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %c = taylor.recurrences [numerator, count] %qr, %kr, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  %y = taylor.map %n / %c : !o, !row
  %l = taylor.normalize l2 %y epsilon(1.0e-12) : !o
  %o = taylor.map size(e) * %l : !o
  taylor.yield %o : !o
}
