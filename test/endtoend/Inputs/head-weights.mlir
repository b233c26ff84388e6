// Found by test/random, seed 1300128: what a query head makes of a key of its group by itself, in a finite sum.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!side = !taylor.array<[b, h, u]>

taylor.spec @head_weights(%q: !q, %k: !k, %v: !v, %side: !side from projection(bias)) {
  %vr = taylor.rope %v : !v
  %n = taylor.recurrences %q, %k, %vr weight(select(%side < 0.0, (1.0 + s * s), 0.5 * (1.0 + s * s))) scale(rsqrt(size(d))) causal : !q, !k, !v, !side
  taylor.yield %n : !o
}
