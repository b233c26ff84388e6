// An exponential alone in one operation, and beside another in the next.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @shared_exponent(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %m, %y = taylor.recurrences [numerator, mass] %q, %k, %v scale(rsqrt(size(d))) weight(exp(s) + exp(-s)) causal : !q, !k, !v
  %o = taylor.map %n / %z + %m / %y : !o, !row, !o, !row
  taylor.yield %o : !o
}
