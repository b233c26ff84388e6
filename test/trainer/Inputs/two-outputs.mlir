// A numerator and a mass: not one output, as a layer has.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @two(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  taylor.yield %n, %z : !taylor.array<[b, h, t, e]>, !taylor.array<[b, h, t]>
}
