// Two softmaxes in one operation over pairs: of the scores and of their negatives.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @opposite_sums(%q: !q, %k: !k, %v: !v) {
  %n, %z, %m, %y = taylor.pairwise { p = dot(%q, %k), s = p * rsqrt(size(d)), x = exp(s), w = exp(-s) } visible(u <= t) -> rows(x, %v), rows(x), rows(w, %v), rows(w) : !q, !k, !v -> !o, !row, !o, !row
  %o = taylor.map %n / %z - %m / %y : !o, !row, !o, !row
  taylor.yield %o : !o
}
