// Found by test/random, seed 9500076: a norm and learned features of queries, of which some see no key. Both are finite where the query is, so neither has a guard.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!w = !taylor.array<[d, r = 16]>
!qf = !taylor.array<[b, h, t, r = 16]>
!kf = !taylor.array<[b, g, u, r = 16]>

taylor.spec @normed_queries(%q: !q, %k: !k, %v: !v, %wq: !w from parameter(uniform(-0.2, 0.2)), %wk: !w from parameter(uniform(-0.2, 0.2))) {
  %qn = taylor.normalize l2 over(d) %q epsilon(1.0) : !q
  %qf = taylor.reduce sum over(d) %qn * %wq : !q, !w
  %kf = taylor.reduce sum over(d) %k * %wk : !k, !w
  %o = taylor.recurrences %qf, %kf, %v weight(abs(s)) scale(1.0 / size(d)) causal : !qf, !kf, !v
  taylor.yield %o : !o
}
