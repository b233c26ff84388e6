// Series of keys and values whose heads are not the same: keys that all heads share with values of groups and of heads, keys of groups with values of heads.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!shared = !taylor.array<[b, u, d]>
!v = !taylor.array<[b, g, u, e]>
!w = !taylor.array<[b, h, u, e]>
!x = !taylor.array<[b, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @shared_keys(%q: !q, %k: !k, %shared: !shared, %v: !v, %w: !w, %x: !x) {
  %n1, %z1 = taylor.recurrences [numerator, mass] %q, %shared, %v orders(0 to 1) scale(rsqrt(size(d))) causal : !q, !shared, !v
  %n2, %z2 = taylor.recurrences [numerator, mass] %q, %shared, %w orders(0 to 1) scale(rsqrt(size(d))) causal : !q, !shared, !w
  %n3, %z3 = taylor.recurrences [numerator, mass] %q, %k, %w orders(0 to 1) scale(rsqrt(size(d))) causal : !q, !k, !w
  %n4, %z4 = taylor.recurrences [numerator, mass] %q, %shared, %x orders(0 to 1) scale(rsqrt(size(d))) causal : !q, !shared, !x
  %o = taylor.map %n1 / (1.0 + %z1 * %z1) + %n2 / (1.0 + %z2 * %z2) + %n3 / (1.0 + %z3 * %z3) + %n4 / (1.0 + %z4 * %z4)
       : !o, !row, !o, !row, !o, !row, !o, !row
  taylor.yield %o : !o
}
