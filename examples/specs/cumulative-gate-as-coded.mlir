// The numerator over the number of visible keys and the exponential of a gate, whose running sum runs over an axis of size 1.
//
//   s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = e^(-mass_gate) N / n
//
// The gate has one logit per query head. Source: `cumulative_gated_softmax` in the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @cumulative_gate_as_coded(%q: !q, %k: !k, %v: !v, %mass_gate: !row from projection(bias)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %c = taylor.recurrences [numerator, count] %qr, %kr, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  %o = taylor.map exp(-%mass_gate) * %n / %c : !row, !o, !row
  taylor.yield %o : !o
}
