// An attention that no paper has: weight softplus(s)^2, an RMS norm with a learned weight, an output gate.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!channel = !taylor.array<[e]>

taylor.spec @softplus_square(%q: !q, %k: !k, %v: !v, %out_gate: !row from projection(bias),
                             %norm_weight: !channel from parameter(ones)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n = taylor.recurrences %qr, %kr, %v weight(softplus(s) * softplus(s)) scale(rsqrt(size(d))) causal : !q, !k, !v
  %y = taylor.normalize rms %n weight(%norm_weight) epsilon(1.0e-6) : !o, !channel
  %o = taylor.map sigmoid(%out_gate) * %y : !row, !o
  taylor.yield %o : !o
}
