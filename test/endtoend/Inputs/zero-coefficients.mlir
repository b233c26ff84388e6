// Coefficients of 0 at both ends: what is left reads no score.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>

taylor.spec @zero_coefficients(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) coefficients(1.0, 0.0, 0.0) scale(rsqrt(size(d))) causal : !q, !k, !v
  %o = taylor.map %n / %z : !taylor.array<[b, h, t, e]>, !taylor.array<[b, h, t]>
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}
