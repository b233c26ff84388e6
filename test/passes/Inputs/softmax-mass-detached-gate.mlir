!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @softmax_mass_detached_gate(%q: !q, %k: !k, %v: !v, %out_gate: !row from projection(bias)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  %o = taylor.map sigmoid(%out_gate) * %n / (stop(%z) + 1.0e-4) : !row, !o, !row
  taylor.yield %o : !o
}
