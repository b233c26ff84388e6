// Two sums of one operation, which a test writes in place of PAIRS.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @two_sums(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.pairwise { s = dot(%q, %k), x = exp(s * rsqrt(size(d))) } visible(u <= t) -> rows(PAIRS) : !q, !k, !v -> !o, !row
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
