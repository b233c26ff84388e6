// Wants a bias that neither a projection nor a parameter gives.
!q = !taylor.array<[b, h, t, d]>   !k = !taylor.array<[b, g, u, d]>   !v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>   !row = !taylor.array<[b, h, t]>

taylor.spec @brought(%q: !q, %k: !k, %v: !v, %bias: !row from input) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %o = taylor.map %bias * %n / %z : !row, !o, !row
  taylor.yield %o : !o
}
