// Order 1 alone, of relu, with clamped weights and an output gate, divided by nothing.
//
//   w[t,u] = min(<relu(q[t]), relu(k[u])> / sqrt(d), 5), after RoPE        o = sigmoid(out_gate) N
//
// Source: a line of Figure 6, middle, for which the paper's code has nothing: its `gated_relu_no_in_gate_no_norm` without the division
// by the number of keys.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @relu_gate(%q: !q, %k: !k, %v: !v, %out_gate: !row from projection(bias)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %qf = taylor.map relu(%qr) : !q
  %kf = taylor.map relu(%kr) : !k
  %n = taylor.recurrences %qf, %kf, %v orders(1 to 1) scale(rsqrt(size(d))) score(min(s, 5.0)) causal : !q, !k, !v
  %o = taylor.map sigmoid(%out_gate) * %n : !row, !o
  taylor.yield %o : !o
}
