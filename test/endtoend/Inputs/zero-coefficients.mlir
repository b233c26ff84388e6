// Coefficients of 0 at the end: what is left reads no score, and a key's norm has no gradient.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>

taylor.spec @zero_coefficients(%q: !q, %k: !k, %v: !v, %weight: !taylor.array<[d]> from parameter(ones)) {
  %kn = taylor.normalize layer over(d) %k weight(%weight) epsilon(1.0e-5) : !k, !taylor.array<[d]>
  %n, %z = taylor.recurrences [numerator, mass] %q, %kn, %v orders(0 to 2) coefficients(1.0, 0.0, 0.0) scale(rsqrt(size(d))) causal : !q, !k, !v
  %o = taylor.map %n / %z : !taylor.array<[b, h, t, e]>, !taylor.array<[b, h, t]>
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}
