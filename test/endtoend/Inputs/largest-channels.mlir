// Rotated queries and a numerator over the largest of their channels: what is compared with a maximum is computed again in the backward.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @largest_channels(%q: !q, %k: !k, %v: !v) {
  %r = taylor.rope %q : !q
  %a = taylor.reduce max over(d) abs(%r) : !q
  %s = taylor.map 4.0 * %r / %a : !q, !row
  %n = taylor.recurrences %s, %k, %v exponential causal : !q, !k, !v
  %m = taylor.reduce max over(e) abs(%n) : !o
  %o = taylor.map %n / %m : !o, !row
  taylor.yield %o : !o
}
