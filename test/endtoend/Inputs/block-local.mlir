// Tokens of one block of so many see each other: a mask of whole quotients, which a rounded reciprocal misses.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @block_local(%q: !q, %k: !k, %v: !v) parameters(block : index = 41) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal visible(floor(t / block) == floor(u / block)) : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
