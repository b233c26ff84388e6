// A series with its mass and its count, and one of a mapped score, which has no state of finite size.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @series_count(%q: !q, %k: !k, %v: !v) {
  %n, %z, %c = taylor.recurrences [numerator, mass, count] %q, %k, %v orders(1 to 3) coefficients(0.5, -0.25, 0.125)
               scale(rsqrt(size(d))) causal : !q, !k, !v
  %m = taylor.recurrences %q, %k, %v orders(0 to 2) scale(0.25) score(min(s, 1.0)) causal : !q, !k, !v
  %o = taylor.map (%n + %m) / (%z * %z + %c) : !o, !o, !row, !row
  taylor.yield %o : !o
}
