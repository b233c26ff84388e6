// A decay that is 0 in f32 and f64 after 40 tokens, and in the reference is not.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!u = !taylor.array<[u]>
taylor.spec @lost(%q: !q, %k: !k, %v: !v) {
  %decay = taylor.map -30.0 * u -> !u
  %square = taylor.map %v * %v : !v
  %n = taylor.recurrences [numerator] %q, %k, %square weight(s * s) scale(0.25) causal decay(%decay) : !q, !k, !v, !u
  %y = taylor.map tanh(%n) : !o
  taylor.yield %y : !o
}
