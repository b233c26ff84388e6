// Queries, keys and values over the sum of their own channels' sizes, without an epsilon: past the last token that is 0 / 0. A test writes weights in
// place of WEIGHTS, and other sizes in place of sums.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>

taylor.spec @of_unit_size(%q: !q, %k: !k, %v: !v) {
  %sq = taylor.reduce sum over(d) abs(%q) : !q
  %sk = taylor.reduce sum over(d) abs(%k) : !k
  %sv = taylor.reduce sum over(e) abs(%v) : !v
  %uq = taylor.map 4.0 * %q / %sq : !q, !row
  %uk = taylor.map 4.0 * %k / %sk : !k, !column
  %uv = taylor.map 4.0 * %v / %sv : !v, !column
  %n, %z = taylor.recurrences [numerator, mass] %uq, %uk, %uv WEIGHTS causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
