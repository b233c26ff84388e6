// Names that the PyTorch text has of its own, sums for key/value heads, rows read at keys, and keys that are summed themselves.
!q = !taylor.array<[b, h, t, d]>
!kt = !taylor.array<[b, g, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!vt = !taylor.array<[b, g, t, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!grow = !taylor.array<[b, g, t]>

taylor.spec @lambda(%q: !q, %k: !k, %v: !v, %c: !o from projection, %n: !o from projection) {
  %s, %w = taylor.recurrences [numerator, mass] %q, %k, %k orders(0 to 2) scale(rsqrt(size(d))) causal : !q, !k, !k
  %q2 = taylor.map %q + %s / %w : !q, !q, !row
  %kt = taylor.align %k to t : !k
  %s1, %w1 = taylor.recurrences [numerator, mass] %kt, %k, %v orders(0 to 2) coefficients(1.0, 1.0, 0.5) scale(rsqrt(size(d))) causal : !kt, !k, !v
  %y = taylor.map %s1 / %w1 : !vt, !grow
  %yu = taylor.align %y to u : !vt
  %v2 = taylor.map %v - %yu : !v, !v
  %s2, %w2 = taylor.recurrences [numerator, mass] %q2, %k, %v2 exponential causal : !q, !k, !v
  %o = taylor.map %s2 / %w2 * %c + %n : !o, !row, !o, !o
  taylor.yield %o : !o
}
