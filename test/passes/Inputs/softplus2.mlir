!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!channel = !taylor.array<[e]>

taylor.spec @softplus2(%q: !q, %k: !k, %v: !v, %a: !row from projection(bias), %w: !channel from parameter(ones)) {
  %n = taylor.recurrences %q, %k, %v weight(softplus(s) * softplus(s)) scale(rsqrt(size(d))) causal : !q, !k, !v
  %y = taylor.normalize rms %n weight(%w) epsilon(1.0e-6) : !o, !channel
  %o = taylor.map sigmoid(%a) * %y : !row, !o
  taylor.yield %o : !o
}
