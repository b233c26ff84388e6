// How much each key is read, then keys' values by it: a sum over queries stands in front of a sum over keys.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>

taylor.spec @columns_first(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %l = taylor.map log(%z) : !row
  %r = taylor.pairwise { s = dot(%q, %k), w = exp(s * rsqrt(size(d)) - %l) } visible(u <= t) -> columns(w) : !q, !k, !row -> !column
  %w = taylor.map %v / (1.0 + %r) : !v, !column
  %m = taylor.recurrences %q, %k, %w exponential causal : !q, !k, !v
  %o = taylor.map %m / %z : !o, !row
  taylor.yield %o, %r : !o, !column
}
