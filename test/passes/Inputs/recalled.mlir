// Values that are the keys: what a query recalls is a key.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!row = !taylor.array<[b, h, t]>
taylor.spec @recalled(%q: !q, %k: !k) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %k orders(0 to 2) scale(rsqrt(size(d))) causal : !q, !k, !k
  %o = taylor.map %n / %z : !q, !row
  taylor.yield %o : !q
}
