// Clamped scores and an output gate, without any denominator.
//
//   s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = sigmoid(out_gate) N
//
// Source: Figure 6, left; `softmax_gate` in the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @softmax_gate(%q: !q, %k: !k, %v: !v, %out_gate: !row from projection(bias)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n = taylor.recurrences %qr, %kr, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  %o = taylor.map sigmoid(%out_gate) * %n : !row, !o
  taylor.yield %o : !o
}
