// Linear attention that decays with the distance, each head in its own time (a retention), with an input gate.
//
//   w[t,u] = s exp(slope[h] (u - t)), slope > 0        o = sum of w sigmoid(gate) v
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!column = !taylor.array<[b, g, u]>
!head = !taylor.array<[h]>
!decay = !taylor.array<[h, u]>

taylor.spec @retention(%q: !q, %k: !k, %v: !v, %gate: !column from projection(bias), %slope: !head from parameter(constant(-3.0))) {
  %D = taylor.map exp(%slope) * u * -1.0 : !head
  %gv = taylor.map sigmoid(%gate) * %v : !column, !v
  %o = taylor.recurrences %q, %k, %gv orders(1 to 1) decay(%D) causal : !q, !k, !v, !decay
  taylor.yield %o : !o
}
