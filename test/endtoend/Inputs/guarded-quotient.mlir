// Weights that may all be 0, whose quotient is then not chosen.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
taylor.spec @guarded_quotient(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v weight(relu(s)) causal : !q, !k, !v
  %o = taylor.map select(%z == 0.0, 0.0, %n / %z) : !row, !o
  taylor.yield %o : !o
}
