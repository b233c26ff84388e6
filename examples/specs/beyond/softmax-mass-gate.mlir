// Softmax with an output gate, one number per token and head.
//
//   s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = e^s        o = sigmoid(out_gate) N / Z
//
// Source: Qiu et al., Gated Attention for Large Language Models. One number per channel: softmax-mass-channel-gate.mlir.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @softmax_mass_gate(%q: !q, %k: !k, %v: !v, %out_gate: !row from projection(bias)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential causal : !q, !k, !v
  %o = taylor.map sigmoid(%out_gate) * %n / %z : !row, !o, !row
  taylor.yield %o : !o
}
