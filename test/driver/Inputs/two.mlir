!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @first(%q: !q, %k: !k, %v: !v) parameters(window : index = 8, slope = 0.5) {
  %o = taylor.recurrences %q, %k, %v exponential causal visible(t - u < window) : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}
taylor.spec @second(%q: !q, %k: !k, %v: !v) {
  %o = taylor.recurrences %q, %k, %v orders(1 to 1) bidirectional : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}
