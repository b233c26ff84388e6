// A series of order 2 whose terms decay, or grow, by learned steps from key to key; values over their mass.
//
//   w[t,u] = (1 + s + s^2 / 2) exp(D[t] - D[u]), D[u] = sum over j <= u of step[j]
//   o = sum of w v / sum of w
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>

taylor.spec @decayed_series(%q: !q, %k: !k, %v: !v, %step: !column from projection(bias)) {
  %D = taylor.scan sum over(u) %step : !column
  %n, %m = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) coefficients(factorial) decay(%D) causal
           : !q, !k, !v, !column
  %o = taylor.map %n / %m : !o, !row
  taylor.yield %o : !o
}
