// Clamped scores, an output gate, and a layer norm.
//
//   s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s
//   o = LN(sigmoid(out_gate) N / n), epsilon 1e-5
//
// The heads share the norm's parameters. Source: Figure 6, middle; `gated_softmax_no_in_gate` in the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!channel = !taylor.array<[e]>

taylor.spec @output_gate_count_layernorm(%q: !q, %k: !k, %v: !v, %out_gate: !row from projection(bias),
                                         %norm_weight: !channel from parameter(ones),
                                         %norm_bias: !channel from parameter(zeros)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %c = taylor.recurrences [numerator, count] %qr, %kr, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  %y = taylor.map sigmoid(%out_gate) * %n / %c : !row, !o, !row
  %o = taylor.normalize layer %y weight(%norm_weight) bias(%norm_bias) epsilon(1.0e-5) : !o, !channel, !channel
  taylor.yield %o : !o
}
