!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>

taylor.spec @alibi_learned(%q: !q, %k: !k, %v: !v, %m: !head from parameter(constant(0.1))) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential score(s - %m * (t - u)) causal : !q, !k, !v, !head
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
