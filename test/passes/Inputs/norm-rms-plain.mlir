!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>

taylor.spec @norm_rms_plain(%q: !q, %k: !k, %v: !v) {
  %n = taylor.recurrences %q, %k, %v exponential causal : !q, !k, !v
  %o = taylor.normalize rms %n epsilon(1.1920929e-7) : !o
  taylor.yield %o : !o
}
