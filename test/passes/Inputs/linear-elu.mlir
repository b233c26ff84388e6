!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @linear_elu(%q: !q, %k: !k, %v: !v) {
  %qf = taylor.map elu(%q) + 1.0 : !q
  %kf = taylor.map elu(%k) + 1.0 : !k
  %n, %z = taylor.recurrences [numerator, mass] %qf, %kf, %v orders(1 to 1) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
