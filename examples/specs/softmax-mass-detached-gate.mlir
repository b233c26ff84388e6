// Clamped scores over a mass that the gradient does not see, with an output gate.
//
//   s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = sigmoid(out_gate) N / (stop(Z) + 1e-4)
//
// Source: Figure 6, left; `softmax_detach_denom_gate` in the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @softmax_mass_detached_gate(%q: !q, %k: !k, %v: !v, %out_gate: !row from projection(bias)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  %o = taylor.map sigmoid(%out_gate) * %n / (stop(%z) + 1.0e-4) : !row, !o, !row
  taylor.yield %o : !o
}
