// Two attentions with the same scores over other keys: the largest score of one may lie far above all of the other's.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @all_and_window(%q: !q, %k: !k, %v: !v) parameters(window : index = 8) {
  %na, %za = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %nw, %zw = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal visible(t - u < window) : !q, !k, !v
  %o = taylor.map %na / %za + %nw / %zw : !o, !row, !o, !row
  taylor.yield %o : !o
}
