// A weight that no paper has: softplus(s)^2, with an RMS norm, a gate, and a learned scale per head.
!q = !taylor.array<[b, h, t, d]>   !k = !taylor.array<[b, g, u, d]>   !v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>   !row = !taylor.array<[b, h, t]>    !head = !taylor.array<[h]>   !channel = !taylor.array<[e]>

taylor.spec @softplus_squared(%q: !q, %k: !k, %v: !v, %gate: !row from projection(bias), %scale: !head from parameter(constant(0.7)),
                              %weight: !channel from parameter(ones)) {
  %n = taylor.recurrences %q, %k, %v weight(softplus(s) * softplus(s)) scale(rsqrt(size(d))) causal : !q, !k, !v
  %x = taylor.normalize rms %n weight(%weight) epsilon(1.0e-5) : !o, !channel
  %o = taylor.map sigmoid(%gate) * %scale * %x : !row, !head, !o
  taylor.yield %o : !o
}
