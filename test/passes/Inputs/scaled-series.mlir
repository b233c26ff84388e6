!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>

// A learned number per head in the score of a series: its gradient is a sum over all pairs.
taylor.spec @scaled_series(%q: !q, %k: !k, %v: !v, %scale: !head from parameter(constant(0.3))) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) scale(rsqrt(size(d))) score(%scale * s) causal : !q, !k, !v, !head
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
