// Sums that a specification writes over pairs itself, of queries of which the first see no key.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @pairs_of_the_past(%q: !q, %k: !k, %v: !v) {
  %n, %z, %e = taylor.pairwise { s = dot(%q, %k), x = s * rsqrt(size(d)), w = exp(x) } visible(and(u <= t, 3.0 <= t - u)) -> rows(w, %v), rows(w), rows(x * w) : !q, !k, !v -> !o, !row, !row
  %o = taylor.map %n / %z : !o, !row
  %entropy = taylor.map log(%z) - %e / %z : !row, !row
  taylor.yield %o, %entropy : !o, !row
}
