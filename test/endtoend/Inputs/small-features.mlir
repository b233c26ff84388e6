// Exponential features far below 1, whose quotient is that of any others: no exponential of an array is taken for 0 within f32.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @small_features(%q: !q, %k: !k, %v: !v) {
  %qf = taylor.map exp(2.0 * %q - 60.0) : !q
  %kf = taylor.map softplus(%k - 16.0) : !k
  %n, %z = taylor.recurrences [numerator, mass] %qf, %kf, %v orders(1 to 1) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
