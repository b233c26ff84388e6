// A sum over a window by the mass of all keys: the two share one maximum.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @window_over_all(%q: !q, %k: !k, %v: !v) parameters(window : index = 8) {
  %za = taylor.recurrences [mass] %q, %k, %v exponential causal : !q, !k, !v
  %nw = taylor.recurrences [numerator] %q, %k, %v exponential causal visible(t - u < window) : !q, !k, !v
  %o = taylor.map %nw / %za : !o, !row
  taylor.yield %o : !o
}
