// Order 1 alone, of relu, with clamped weights and an output gate.
//
//   w[t,u] = min(<relu(q[t]), relu(k[u])> / sqrt(d), 5), after RoPE        o = sigmoid(out_gate) N / n
//
// Source: Figure 6, middle; `gated_relu_no_in_gate_no_norm` in the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @relu_count_gate(%q: !q, %k: !k, %v: !v, %out_gate: !row from projection(bias)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %qf = taylor.map relu(%qr) : !q
  %kf = taylor.map relu(%kr) : !k
  %n, %c = taylor.recurrences [numerator, count] %qf, %kf, %v orders(1 to 1) scale(rsqrt(size(d))) score(min(s, 5.0)) causal
           : !q, !k, !v
  %o = taylor.map sigmoid(%out_gate) * %n / %c : !row, !o, !row
  taylor.yield %o : !o
}
