// Sums of exponentials and of their squares in one quotient: their exponents share a maximum.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @squares_of_masses(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v weight(exp(s)) causal : !q, !k, !v
  %y = taylor.recurrences [mass] %q, %k, %v weight(exp(s) * exp(s)) causal : !q, !k, !v
  %x = taylor.recurrences [mass] %q, %k, %v weight(pow(exp(s), 2.0)) causal : !q, !k, !v
  %o = taylor.map %n / %z * (%y / (%z * %z)) + %n / sqrt(%x) : !o, !row, !row, !row
  taylor.yield %o : !o
}
