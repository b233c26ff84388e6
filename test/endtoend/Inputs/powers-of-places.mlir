// Powers of distances, of which the least is 0: what grows and shrinks them has no part in that one.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>

taylor.spec @powers_of_places(%q: !q, %k: !k, %v: !v, %power: !head from parameter(zeros)) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential score(s - pow(t - u, 2.0 * sigmoid(%power))) causal : !q, !k, !v, !head
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
