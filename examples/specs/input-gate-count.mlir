// Clamped scores, an input gate, and the number of visible keys as a denominator.
//
//   s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s
//   N = sum of w sigmoid(in_gate) v        o = N / n
//
// The input gate has one logit per key/value head. Source: Figure 6, middle; `gated_softmax_no_out_gate_no_norm` in the
// code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>

taylor.spec @input_gate_count(%q: !q, %k: !k, %v: !v, %in_gate: !column from projection(bias)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %hv = taylor.map sigmoid(%in_gate) * %v : !column, !v
  %n, %c = taylor.recurrences [numerator, count] %qr, %kr, %hv exponential score(min(s, 5.0)) causal : !q, !k, !v
  %o = taylor.map %n / %c : !o, !row
  taylor.yield %o : !o
}
