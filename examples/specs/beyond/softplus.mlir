// Softplus in the place of exp: weights grow linearly with large scores.
//
//   s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = log(1 + e^s)        o = N / Z
// Right at every score: where those of a row are all far below 0, it is softmax, and is computed as such.
//
// Source: Gao and Spratling, Softplus Attention with Re-weighting (without its factor of the length).
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @softplus(%q: !q, %k: !k, %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v weight(softplus(s)) scale(rsqrt(size(d))) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
