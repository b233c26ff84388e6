// Scores and a mask that read another sum over keys, of queries that both sums read: the guard of these rows is made of neither.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @mass_of_scores(%q: !q, %k: !k, %v: !v) {
  %qs = taylor.map %q * log(t + 2.0) : !q
  %z = taylor.recurrences [mass] %qs, %k, %v exponential causal : !q, !k, !v
  %n = taylor.recurrences %qs, %k, %v exponential score(s / %z) causal : !q, !k, !v, !row
  %m = taylor.recurrences %qs, %k, %v exponential score(s / %z) causal visible(0.5 < %z) : !q, !k, !v, !row
  %o = taylor.map %n + %m : !o, !o
  taylor.yield %o : !o
}
