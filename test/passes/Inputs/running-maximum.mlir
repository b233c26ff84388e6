!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!col = !taylor.array<[b, g, u]>

// Gates relative to the loudest so far, none of which exceeds 1. Before the first token there is none: exp(-infinity) is 0.
taylor.spec @running_maximum(%q: !q, %k: !k, %v: !v, %f: !col from projection(bias), %a: !row from projection(bias)) {
  %m = taylor.scan max over(u) %f : !col
  %hv = taylor.map exp(%f - stop(%m)) * %v : !col, !col, !v
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %hv exponential causal : !q, !k, !v
  %p = taylor.scan max exclusive over(t) %a : !row
  %o = taylor.map %n / (%z + exp(stop(%p) - %a)) : !o, !row, !row, !row
  taylor.yield %o : !o
}
