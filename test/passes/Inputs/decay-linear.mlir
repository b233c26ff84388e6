!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!col = !taylor.array<[b, h, u]>

taylor.spec @decay_linear(%q: !q, %k: !k, %v: !v, %f: !col from projection(bias)) {
  %D = taylor.scan sum over(u) -softplus(%f) : !col
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) coefficients(1.0, 0.5, 0.25) decay(%D) causal : !q, !k, !v, !col
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
