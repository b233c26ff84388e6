!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!channel = !taylor.array<[e]>

taylor.spec @norm_rms(%q: !q, %k: !k, %v: !v, %w: !channel from parameter(ones)) {
  %n = taylor.recurrences %q, %k, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  %o = taylor.normalize rms %n weight(%w) epsilon(1.1920929e-7) : !o, !channel
  taylor.yield %o : !o
}
