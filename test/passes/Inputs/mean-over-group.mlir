// A mean over the query heads of each key/value head.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!mean = !taylor.array<[b, g, t, e]>

taylor.spec @mean_over_group(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  %m = taylor.reduce mean over(group) %o : !o
  taylor.yield %m : !mean
}
