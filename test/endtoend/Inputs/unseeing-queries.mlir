// A temperature for each query and no denominator: what a query that sees no key could make of a state of 0.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!temperature = !taylor.array<[b, h, t]>
!o = !taylor.array<[b, h, t, e]>

taylor.spec @unseeing_queries(%q: !q, %k: !k, %v: !v, %temperature: !temperature from projection(bias)) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(1 to 2) scale(1.0 / size(d)) score(s * sigmoid(%temperature)) causal : !q, !k, !v, !temperature
  %o = taylor.map %n + %z : !o, !temperature
  taylor.yield %o : !o
}
