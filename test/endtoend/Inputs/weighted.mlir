// Weights that a test writes in place of WEIGHT, over their sum.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>

taylor.spec @weighted(%q: !q, %k: !k, %v: !v, %gate: !column from input) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v score(s + 0.1 * %gate) weight(WEIGHT) causal : !q, !k, !v, !column
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
