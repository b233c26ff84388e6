// Keys with a running sum, and decays of their own: what a key that no query sees could hand on to earlier ones.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!gate = !taylor.array<[b, u]>
!o = !taylor.array<[b, h, t, e]>

taylor.spec @unseen_keys(%q: !q, %k: !k, %v: !v, %decay_gate: !gate from projection(bias)) {
  %sum = taylor.scan sum over(u) %k : !k
  %mean = taylor.map %k + %sum / max(u + 1.0, 1.0) : !k, !k
  %kf = taylor.map tanh(%mean) : !k
  %D = taylor.scan sum exclusive over(u) -1.0 * softplus(%decay_gate) : !gate
  %n = taylor.recurrences [numerator] %q, %kf, %v orders(0 to 2) scale(1.0 / size(d)) causal decay(%D) : !q, !k, !v, !gate
  taylor.yield %n : !o
}
