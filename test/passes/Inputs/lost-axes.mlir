// Axes that formulas had by an index alone, which goes when they are simplified.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
!kv = !taylor.array<[g]>
!head = !taylor.array<[h]>
!token = !taylor.array<[t]>
taylor.spec @lost_axes(%q: !q, %k: !k, %v: !v, %c: !column from projection, %w: !head from parameter(ones)) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %mass = taylor.reduce mean over(e) select(e < 1.0, %z, %z) : !row
  %heads = taylor.reduce sum over(group) select(h < 1.0, 0.5, 0.5) -> !kv
  %number = taylor.scan sum over(t) select(t < 1.0, 1.0, 1.0) -> !token
  %sums = taylor.scan sum over(u) select(u < 3.0, %c, %c) : !column
  %sink = taylor.align %sums to t : !column
  %r = taylor.reduce max over(d) select(d < 2.0, %w, %w) : !head
  %o = taylor.map %n / %mass * %heads / (1.0 + 0.01 * %number) + 0.01 * %sink + %r : !o, !row, !kv, !token, !taylor.array<[b, g, t]>, !head
  taylor.yield %o : !o
}
