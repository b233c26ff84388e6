// The numerator over its own length, with one output gate on both sides of the norm.
//
//   s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = e^s
//   g = sigmoid(out_gate)        o = g L2(g N / n), L2(x) = x / max(|x|, 1e-12)
//
// Source: Figure 6, right; `gated_softmax_post_out_gate_L2norm_nodivS_noclamp` in the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @softmax_norm_l2_gate(%q: !q, %k: !k, %v: !v, %out_gate: !row from projection(bias)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %c = taylor.recurrences [numerator, count] %qr, %kr, %v exponential causal : !q, !k, !v
  %y = taylor.map sigmoid(%out_gate) * %n / %c : !row, !o, !row
  %l = taylor.normalize l2 %y epsilon(1.0e-12) : !o
  %o = taylor.map sigmoid(%out_gate) * %l : !row, !o
  taylor.yield %o : !o
}
