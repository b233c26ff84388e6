// Tokens of one block of so many see each other; the quotients are maps of their own, the size of a block one per head.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, h, u, d]>
!v = !taylor.array<[b, h, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[h, t]>
!column = !taylor.array<[h, u]>
!size = !taylor.array<[h]>

taylor.spec @quotients_of_maps(%q: !q, %k: !k, %v: !v) {
  %size = taylor.map 41.0 + 8.0 * h -> !size
  %mine = taylor.map t / %size : !size -> !row
  %keys = taylor.map u / %size : !size -> !column
  %moved = taylor.map 2.0 * %keys : !column
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal visible(floor(%mine) == floor(0.5 * %moved)) : !q, !k, !v, !row, !column
  %o = taylor.map %n / %z : !o, !taylor.array<[b, h, t]>
  taylor.yield %o : !o
}
