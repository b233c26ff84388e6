// An output gate ahead of a norm that takes it out again: what reaches the gate's gradient is rounding.
//
//   s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = e^s
//   o = L2(sigmoid(out_gate) N / n), L2(x) = x / max(|x|, 1e-12)
//
// Source: Figure 6, right; `gated_softmax_out_gate_L2norm_nodivS_noclamp` in the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @softmax_gate_norm_l2(%q: !q, %k: !k, %v: !v, %out_gate: !row from projection(bias)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %c = taylor.recurrences [numerator, count] %qr, %kr, %v exponential causal : !q, !k, !v
  %y = taylor.map sigmoid(%out_gate) * %n / %c : !row, !o, !row
  %o = taylor.normalize l2 %y epsilon(1.0e-12) : !o
  taylor.yield %o : !o
}
