// Orders 1 and 3 with coefficients of their own, an input gate, a temperature per head, an output gate and an RMS norm: all that the chunked form allows.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
!channel = !taylor.array<[e]>

taylor.spec @gated_series(%q: !q, %k: !k, %v: !v, %in_gate: !column from projection(bias), %out_gate: !row from projection(bias),
                          %norm_weight: !channel from parameter(ones)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %hv = taylor.map sigmoid(%in_gate) * %v : !column, !v
  %n, %z, %c = taylor.recurrences [numerator, mass, count] %qr, %kr, %hv orders(0 to 3) coefficients(0.5, 1.0, 0.0, 0.25)
               scale(rsqrt(size(d))) causal : !q, !k, !v
  %y = taylor.map sigmoid(%out_gate) * %n / (%c + %z * %z) : !row, !o, !row, !row
  %o = taylor.normalize rms %y weight(%norm_weight) epsilon(1.0e-6) : !o, !channel
  taylor.yield %o : !o
}
