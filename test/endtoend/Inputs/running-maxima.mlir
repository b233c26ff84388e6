// Maxima over tokens in all four directions: of scalars and of channels, per key/value head and per query head, at keys and at queries.
!k = !taylor.array<[b, g, u, d]>
!column = !taylor.array<[b, g, u]>
!row = !taylor.array<[b, h, t]>
!group = !taylor.array<[b, g, t]>

taylor.spec @running_maxima(%k: !k, %f: !column, %a: !row, %c: !group) {
  %m0 = taylor.scan max over(u) -%f : !column
  %m1 = taylor.scan max exclusive over(u) %k : !k
  %m2 = taylor.scan max reverse over(t) %a + %c : !row, !group
  %m3 = taylor.scan max exclusive reverse over(t) %a : !row
  // The keys' own maximum, where queries stand.
  %m4 = taylor.align %m0 to t : !column
  %falling = taylor.map stop(%m0) : !column
  %before = taylor.map stop(%m1) : !k
  %rest = taylor.map stop(%m2) : !row
  %after = taylor.map stop(%m3) : !row
  %seen = taylor.map stop(%m4) : !group
  taylor.yield "falling" %falling, "before" %before, "rest" %rest, "after" %after, "seen" %seen : !column, !k, !row, !row, !group
}
