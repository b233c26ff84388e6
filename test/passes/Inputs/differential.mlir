!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>
!channel = !taylor.array<[e]>

taylor.spec @differential(%q1: !q, %k1: !k, %q2: !q, %k2: !k, %v: !v, %l: !head from parameter(constant(0.8)),
                          %w: !channel from parameter(ones)) {
  %qr1 = taylor.rope %q1 : !q
  %kr1 = taylor.rope %k1 : !k
  %qr2 = taylor.rope %q2 : !q
  %kr2 = taylor.rope %k2 : !k
  %n1, %z1 = taylor.recurrences [numerator, mass] %qr1, %kr1, %v exponential causal : !q, !k, !v
  %n2, %z2 = taylor.recurrences [numerator, mass] %qr2, %kr2, %v exponential causal : !q, !k, !v
  %y = taylor.map %n1 / %z1 - %l * %n2 / %z2 : !o, !row, !head, !o, !row
  %o = taylor.normalize rms %y weight(%w) epsilon(1.0e-5) : !o, !channel
  taylor.yield %o : !o
}
