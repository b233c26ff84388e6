// Weights exp(s) - 1 as expm1, over the sum of their magnitudes: shifted by the largest exponent, and precise near 0.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
taylor.spec @expm1_weights(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.pairwise { s = dot(%q, %k), x = s * rsqrt(size(d)), w = expm1(x) } visible(u <= t) -> rows(w, %v), rows(abs(w)) : !q, !k, !v -> !o, !row
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
