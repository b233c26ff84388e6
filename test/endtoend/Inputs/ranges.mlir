// Softmax under a mask that the test gives: MASK stands for the clauses.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
taylor.spec @ranges(%q: !q, %k: !k, %v: !v) parameters(window : index = 40) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential MASK : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
