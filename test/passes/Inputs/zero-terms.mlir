// Terms of a series whose coefficient is 0, one with a factor that no other term has; and sums of which nothing is left,
// one in a convolution.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>
!column = !taylor.array<[b, g, u]>
taylor.spec @zero_terms(%q: !q, %k: !k, %v: !v, %tau: !head from parameter(ones), %c: !column from projection, %f: !taylor.array<[h, j = 3]> from parameter(ones)) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v scale(rsqrt(size(d))) orders(0 to 2) coefficients(1.0, 0.0, 0.5) score(%tau * s) causal : !q, !k, !v, !head
  %w = taylor.recurrences %q, %k, %v scale(rsqrt(size(d))) weight(1.0 + %c * s * s + 0.0 * s * %tau) causal : !q, !k, !v, !column, !head
  %m, %y = taylor.recurrences [numerator, mass] %q, %k, %v weight(%c * (s - s) + 0.0 * exp(%c)) causal : !q, !k, !v, !column
  %mf = taylor.convolve %m, %f : !o, !taylor.array<[h, j = 3]>
  %o = taylor.map (%n + %w + %mf) / (1.0 + %z * %z) + %y : !o, !o, !o, !row, !row
  taylor.yield %o : !o
}
