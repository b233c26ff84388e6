// An input gate on the values, an output gate, a learned decay in place of RoPE, and a layer norm.
//
//   s[t,u] = min(<q[t], k[u]> / sqrt(d), 5)            w = e^s e^(D[t] - D[u])
//   D = sum over tokens before u of decay_gate / 1024        N = sum of w sigmoid(in_gate) v
//   o = LN(sigmoid(out_gate) N / n), epsilon 1e-5
//
// The output gate has one logit per query head, the input gate and the decay one per key/value head; the heads share
// the norm's parameters. Source: Figure 6, middle; `gated_softmax_decay` in the code of the paper. Causal only.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
!channel = !taylor.array<[e]>

taylor.spec @decay_gates(%q: !q, %k: !k, %v: !v, %out_gate: !row from projection(bias),
                         %in_gate: !column from projection(bias), %decay_gate: !column from projection(bias),
                         %norm_weight: !channel from parameter(ones), %norm_bias: !channel from parameter(zeros)) {
  %D = taylor.scan sum exclusive over(u) %decay_gate / 1024.0 : !column
  %hv = taylor.map sigmoid(%in_gate) * %v : !column, !v
  %n, %c = taylor.recurrences [numerator, count] %q, %k, %hv exponential score(min(s, 5.0)) decay(%D) causal
           : !q, !k, !v, !column
  %y = taylor.map sigmoid(%out_gate) * %n / %c : !row, !o, !row
  %o = taylor.normalize layer %y weight(%norm_weight) bias(%norm_bias) epsilon(1.0e-5) : !o, !channel, !channel
  taylor.yield %o : !o
}
