// Weights that fade with distance, and the count in place of a mass.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>

taylor.spec @decayed(%q: !q, %k: !k, %v: !v, %decay_gate: !column from projection(bias)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %L = taylor.scan sum over(u) -softplus(%decay_gate) : !column
  %n, %c = taylor.recurrences [numerator, count] %qr, %kr, %v exponential decay(%L) causal : !q, !k, !v, !column
  %o = taylor.map %n / %c : !o, !row
  taylor.yield %o : !o
}
