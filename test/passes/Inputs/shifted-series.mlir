// A series whose queries and keys are mixed with those before them: gradients are read at the next token, which may lie in the next chunk.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>

taylor.spec @shifted_series(%q: !q, %k: !k, %v: !v) {
  %qs = taylor.scan shift(1) over(t) %q : !q
  %qm = taylor.map 0.7 * %q + 0.3 * %qs : !q, !q
  %ks = taylor.scan shift(5) over(u) %k : !k
  %km = taylor.map 0.7 * %k + 0.3 * %ks : !k, !k
  %n = taylor.recurrences %qm, %km, %v orders(0 to 1) scale(rsqrt(size(d))) causal : !q, !k, !v
  %s = taylor.scan shift(2) over(t) %n : !o
  %o = taylor.map %n + 0.5 * %s : !o, !o
  taylor.yield %o : !o
}
