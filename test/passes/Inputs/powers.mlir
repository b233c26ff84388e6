!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// Constant exponents: whole, half, negative and 0, of a base of either sign; and one that is learned.
taylor.spec @powers(%q: !q, %k: !k, %v: !v, %a: !row from projection(bias), %x: !row from projection(bias)) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v weight(1.0 + pow(s, 2.0) * pow(1.0 + s * s, -1.5))
           scale(rsqrt(size(d))) causal : !q, !k, !v
  %o = taylor.map (pow(%a, 3.0) + pow(%a, 0.0) + pow(1.0 + %a * %a, sigmoid(%x))) * pow(1.0 + abs(%a), -3.0) * %n * pow(%z, -1.0)
       : !row, !row, !o, !row
  taylor.yield %o : !o
}
