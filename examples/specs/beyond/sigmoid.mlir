// Sigmoid attention: each weight by itself, no denominator; the bias keeps a row's sum near 1 at the start.
//
//   s[t,u] = <q[t], k[u]> / sqrt(d) - log(U), after RoPE        w = sigmoid(s)        o = N
//
// U is the number of keys. Source: Ramapuram et al., Theory, Analysis, and Best Practices for Sigmoid Self-Attention.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>

taylor.spec @sigmoid(%q: !q, %k: !k, %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %o = taylor.recurrences %qr, %kr, %v weight(sigmoid(s - log(size(u)))) scale(rsqrt(size(d))) causal : !q, !k, !v
  taylor.yield %o : !o
}
