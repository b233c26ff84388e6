// An output that is 0 at the first place, and a second one that reads the same sum: the sum cannot be had from the first by division.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @scaled_by_place(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / %z * t : !o, !row
  %p = taylor.map %n * %n : !o
  taylor.yield %o, %p : !o, !o
}
