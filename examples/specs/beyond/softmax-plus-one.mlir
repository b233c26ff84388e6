// One added to the denominator: a row of very negative scores gives almost nothing.
//
//   s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = e^s        o = N / (1 + Z)
//
// Source: Miller, Attention Is Off By One.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @softmax_plus_one(%q: !q, %k: !k, %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / (1.0 + %z) : !o, !row
  taylor.yield %o : !o
}
