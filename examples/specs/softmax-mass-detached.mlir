// Clamped scores over a mass that the gradient does not see.
//
//   s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = N / stop(max(Z, 1))
//
// Source: Figure 6, left; `softmax_detach_denom` in the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @softmax_mass_detached(%q: !q, %k: !k, %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  %o = taylor.map %n / stop(max(%z, 1.0)) : !o, !row
  taylor.yield %o : !o
}
