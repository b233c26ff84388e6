// Rows without a number, where the sum is negative.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, h, u, d]>
!v = !taylor.array<[b, h, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
taylor.spec @logarithm_of_a_sum(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(1 to 1) causal : !q, !k, !v
  %o = taylor.map log(%z) * %n : !row, !o
  taylor.yield %o : !o
}
