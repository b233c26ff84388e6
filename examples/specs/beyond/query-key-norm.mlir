// Normed queries and keys: the score is a cosine, times a learned temperature.
//
//   s[t,u] = temperature <L2(q[t]), L2(k[u])>, after RoPE        w = e^s        o = N / Z
//   L2(x) = x / max(|x|, 1e-12), one temperature per head
//
// Source: Henry et al., Query-Key Normalization for Transformers.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>

taylor.spec @query_key_norm(%q: !q, %k: !k, %v: !v, %temperature: !head from parameter(constant(10.0))) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %qn = taylor.normalize l2 over(d) %qr epsilon(1.0e-12) : !q
  %kn = taylor.normalize l2 over(d) %kr epsilon(1.0e-12) : !k
  %n, %z = taylor.recurrences [numerator, mass] %qn, %kn, %v orders(all) score(%temperature * s) causal : !q, !k, !v, !head
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
