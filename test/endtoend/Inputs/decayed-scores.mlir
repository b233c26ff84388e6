// A weight that is the square of a score which decays, by the distance and by learned gates: its exponents are added up.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!f = !taylor.array<[b, h, t]>
!c = !taylor.array<[b, g, u]>
taylor.spec @decayed_scores(%q: !q, %k: !k, %v: !v, %f: !f from projection, %g: !c from projection) {
  %o = taylor.pairwise { s = dot(%q, %k), w = pow(s * rsqrt(size(d)) * exp(-0.1 * (t - u)) * exp(%f - %g), 2.0) } visible(u <= t) -> rows(w, %v) : !q, !k, !f, !c, !v -> !o
  taylor.yield %o : !o
}
