// Linear attention whose weights decay with the distance, each head in its own time, in the formula of its weights: of documents too the
// distance is that of the whole sequence.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!head = !taylor.array<[h]>
taylor.spec @distance_decay(%q: !q, %k: !k, %v: !v, %rate: !head from parameter(constant(-2.0))) {
  %slope = taylor.map exp(%rate) * pow(2.0, -8.0 * (h + 1.0) / size(h)) : !head
  %n = taylor.recurrences %q, %k, %v weight(s * exp(-%slope * (t - u))) causal : !q, !k, !v, !head
  %o = taylor.normalize rms %n epsilon(1.0e-6) : !o
  taylor.yield %o : !o
}
