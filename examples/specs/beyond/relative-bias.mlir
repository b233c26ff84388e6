// A learned bias of the score by relative position: a table per head, read at the distance, clamped to its ends.
//
//   s[t,u] = <q[t], k[u]> / sqrt(d) + table[min(max(t - u, 0), 63)], no RoPE        w = e^s        o = N / Z
//
// The axis lag is the position of a query less that of a key: what depends on it alone is computed once per lag and not per
// pair, and its gradient is a sum along a diagonal. Tables of other sizes, other formulas of lag, other learned numbers need
// nothing else. Source: Shaw et al., Self-Attention with Relative Position Representations (the clamp); Raffel et al., T5 (a
// number per head).
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!table = !taylor.array<[h, r = 64]>
!lags = !taylor.array<[h, lag]>

taylor.spec @relative_bias(%q: !q, %k: !k, %v: !v, %table: !table from parameter(zeros)) {
  %bias = taylor.reduce sum over(r) select(r == min(max(lag, 0.0), size(r) - 1.0), %table, 0.0) : !table
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential score(s + %bias) causal : !q, !k, !v, !lags
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
