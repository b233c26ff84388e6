// Linear attention of vectors whose length is taken over the heads, each value divided by a learned power of its own position.
//
//   w[t,u] = <L2(q[t]), L2(k[u])>, after RoPE, L2 over the heads: x / max(|x|, 1e-12)
//   o = sum of w v[u] / i^sigmoid(power), i = u + 1, one power per head
//
// With one head of keys this norm leaves their signs alone, and dk is 0 but for what rounding leaves.
//
// Source: Figure 4; `linear_cosine` in the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!hv = !taylor.array<[b, h, u, e]>
!head = !taylor.array<[h]>

taylor.spec @linear_cosine_as_coded(%q: !q, %k: !k, %v: !v, %power: !head from parameter(constant(0.5))) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %qf = taylor.normalize l2 over(h) %qr epsilon(1.0e-12) : !q
  %kf = taylor.normalize l2 over(g) %kr epsilon(1.0e-12) : !k
  %pv = taylor.map %v / pow(u + 1.0, sigmoid(%power)) : !v, !head
  %o = taylor.recurrences %qf, %kf, %pv orders(1 to 1) causal : !q, !k, !hv
  taylor.yield %o : !o
}
