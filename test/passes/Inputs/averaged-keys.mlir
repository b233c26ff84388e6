// Queries and keys that are moving averages (Ma et al., Mega, equation 1), with a constant gate of each channel,
// and rows that a gate of each token and channel sums up (De et al., Griffin, equation 4).
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!gate = !taylor.array<[h, d]>
!key_gate = !taylor.array<[g, d]>

taylor.spec @averaged_keys(%q: !q, %k: !k, %v: !v, %out_gate: !o from projection(bias),
                           %q_gate: !gate from parameter(normal(0.0, 1.0)), %k_gate: !key_gate from parameter(normal(0.0, 1.0))) {
  %a = taylor.map sigmoid(%q_gate) : !gate
  %qx = taylor.map (1.0 - %a) * %q : !gate, !q
  %qm = taylor.gated_sum %qx, %a : !q, !gate
  %c = taylor.map sigmoid(%k_gate) : !key_gate
  %kx = taylor.map (1.0 - %c) * %k : !key_gate, !k
  %km = taylor.gated_sum %kx, %c : !k, !key_gate
  %n, %z = taylor.recurrences [numerator, mass] %qm, %km, %v exponential causal : !q, !k, !v
  %y = taylor.map %n / %z : !o, !row
  %gates = taylor.map sigmoid(%out_gate) : !o
  %o = taylor.gated_sum %y, %gates : !o, !o
  taylor.yield %o : !o
}
