// A gate that may close a row whose mass the output reads too: what the mass's gradient is must not be divided by the gate.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
taylor.spec @gate_logmass(%q: !q, %k: !k, %v: !v, %a: !row from projection) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %o = taylor.map max(%a, 0.0) * %n / %z + log(%z) : !row, !o, !row
  taylor.yield %o : !o
}
