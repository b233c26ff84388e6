// A decay by a learned slope, and the same array read at the query once more.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!ht = !taylor.array<[h, t]>
!hu = !taylor.array<[h, u]>
taylor.spec @twice(%q: !q, %k: !k, %v: !v, %slope: !taylor.array<[h]> from parameter(constant(-2.0))) {
  %x = taylor.map -exp(%slope) * u : !taylor.array<[h]>
  %gate = taylor.align %x to t : !hu
  %at = taylor.align %x to t : !hu
  %y = taylor.pairwise { s = dot(%q, %k), w = s * sigmoid(%gate) * exp(%at - %x) } visible(u <= t) -> rows(w, %v) : !q, !k, !ht, !ht, !hu, !v -> !o
  taylor.yield %y : !o
}
