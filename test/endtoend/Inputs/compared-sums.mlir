// Outputs that give the sum back, which is compared besides: FORMULA is written by a test.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @compared_sums(%q: !q, %k: !k, %v: !v) parameters(alpha = 1.0) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %m = taylor.reduce max over(e) %n : !o
  %o = taylor.map alpha * %n / %z : !o, !row
  %p = taylor.map FORMULA : !o, !row
  taylor.yield %o, %p : !o, !o
}
