// A decay of 20 a token, by a learned slope: the slope's gradient is what the pairs of different tokens leave.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!slope = !taylor.array<[h]>
!decay = !taylor.array<[h, u]>
taylor.spec @slope(%q: !q, %k: !k, %v: !v, %slope: !slope from parameter(constant(3.0))) {
  %decay = taylor.map exp(%slope) * u * -1.0 : !slope
  %n = taylor.recurrences [numerator] %q, %k, %v orders(1 to 1) scale(1.0 / size(d)) causal decay(%decay) : !q, !k, !v, !decay
  taylor.yield %n : !o
}
