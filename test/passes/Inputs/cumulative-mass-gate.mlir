!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @cumulative_mass_gate(%q: !q, %k: !k, %v: !v, %a: !row from projection(bias)) {
  %n = taylor.recurrences %q, %k, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  %c = taylor.scan sum over(t) exp(%a) : !row
  %o = taylor.map %n / max(%c, 1.0) : !o, !row
  taylor.yield %o : !o
}
