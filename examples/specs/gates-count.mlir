// Clamped scores, an input gate and an output gate.
//
//   s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s
//   N = sum of w sigmoid(in_gate) v        o = sigmoid(out_gate) N / n
//
// The output gate has one logit per query head, the input gate one per key/value head. Source: Figure 6, middle;
// `gated_softmax_no_norm` in the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>

taylor.spec @gates_count(%q: !q, %k: !k, %v: !v, %out_gate: !row from projection(bias),
                         %in_gate: !column from projection(bias)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %hv = taylor.map sigmoid(%in_gate) * %v : !column, !v
  %n, %c = taylor.recurrences [numerator, count] %qr, %kr, %hv exponential score(min(s, 5.0)) causal : !q, !k, !v
  %o = taylor.map sigmoid(%out_gate) * %n / %c : !row, !o, !row
  taylor.yield %o : !o
}
