// How many keys a query sees: of queries and keys, the sizes alone are read.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @count_only(%q: !q, %k: !k, %v: !v) {
  %c = taylor.recurrences [count] %q, %k, %v exponential causal : !q, !k, !v
  taylor.yield %c : !row
}
