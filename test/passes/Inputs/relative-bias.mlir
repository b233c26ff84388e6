!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!table = !taylor.array<[h, r = 5]>

taylor.spec @relative_bias(%q: !q, %k: !k, %v: !v, %table: !table from parameter(normal(0.0, 1.0))) {
  %bias = taylor.reduce sum over(r) select(r == min(max(lag + 1.0, 0.0), size(r) - 1.0), %table, 0.0) : !table
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential score(s + %bias) causal : !q, !k, !v, !taylor.array<[h, lag]>
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
