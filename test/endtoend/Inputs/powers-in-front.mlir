// A learned power of the query's place, which is -1 in front of the first key.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>
taylor.spec @powers_in_front(%q: !q, %k: !k, %v: !v, %power: !head from parameter(zeros)) {
  %p = taylor.map %q * pow(t + 1.0, sigmoid(%power)) : !q, !head
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o, %p : !o, !q
}
