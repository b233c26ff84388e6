!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!row = !taylor.array<[b, h, t]>
!o = !taylor.array<[b, h, t, e]>

// A gate of the query's size, past the sums.
taylor.spec @gated(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %x = taylor.reduce mean over(d) %q * %q : !q
  %o = taylor.map %n / %z * rsqrt(1.0 + %x) : !o, !row, !row
  taylor.yield %o : !o
}
