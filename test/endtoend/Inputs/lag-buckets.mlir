// A learned bias for each bucket of lags, the same in a place of whole quotients, whose gradient must reach the same bucket.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!lag = !taylor.array<[lag]>
!bias = !taylor.array<[h, lag]>
!table = !taylor.array<[h, r = 8]>

taylor.spec @lag_buckets(%q: !q, %k: !k, %v: !v, %table: !table from parameter(zeros)) {
  %bucket = taylor.map floor(abs(lag) / 41.0) -> !lag
  %bias = taylor.reduce sum over(r) select(r == %bucket, %table, 0.0) : !lag, !table
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential score(s + 3.0 * %bias) causal : !q, !k, !v, !bias
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
