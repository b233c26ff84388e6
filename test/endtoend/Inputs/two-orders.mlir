// Two sums of different orders, and so of states of different heights, one of which decays.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>

taylor.spec @two_orders(%q: !q, %k: !k, %v: !v, %step: !column from projection(bias)) {
  %qf = taylor.map elu(%q) + 1.0 : !q
  %kf = taylor.map elu(%k) + 1.0 : !k
  %D = taylor.scan sum over(u) -softplus(%step) : !column
  %n, %z = taylor.recurrences [numerator, mass] %qf, %kf, %v orders(1 to 1) decay(%D) causal : !q, !k, !v, !column
  %m, %y = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) scale(rsqrt(size(d))) causal : !q, !k, !v
  %o = taylor.map %n / %z - 0.5 * %m / %y : !o, !row, !o, !row
  taylor.yield %o : !o
}
