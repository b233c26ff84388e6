!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>
!channel = !taylor.array<[e]>

// A pair that every query sees, a sink per head, and a series in one mass with an exponential: the gradients of what is added are sums over rows of
// unlike maxima, and so are the columns of the series.
taylor.spec @added_to_sums(%q: !q, %k: !k, %v: !v, %v0: !channel from parameter(normal(0.0, 1.0)), %sink: !head from parameter(zeros),
                           %r: !row from projection(bias)) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %n2, %z2 = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) scale(0.1 * rsqrt(size(d))) causal : !q, !k, !v
  %o = taylor.map (%n + %n2 + %v0) / (%z + %z2 + exp(%sink) + softplus(%r)) : !o, !o, !channel, !row, !row, !head, !row
  taylor.yield %o : !o
}
