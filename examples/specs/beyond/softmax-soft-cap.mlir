// Soft-capped scores: tanh keeps them between -20 and 20 and, unlike a clamp, has a gradient everywhere.
//
//   s[t,u] = 20 tanh(<q[t], k[u]> / (20 sqrt(d))), after RoPE        w = e^s        o = N / Z
//
// Source: Gemma Team, Gemma 2 (with 50 for 20); Bello et al., Neural Combinatorial Optimization.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @softmax_soft_cap(%q: !q, %k: !k, %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential score(20.0 * tanh(s / 20.0)) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
