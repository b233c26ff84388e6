!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!head = !taylor.array<[h]>

taylor.spec @differential_nomass(%q1: !q, %k1: !k, %q2: !q, %k2: !k, %v: !v, %l: !head from parameter(constant(0.8))) {
  %n1 = taylor.recurrences %q1, %k1, %v exponential causal : !q, !k, !v
  %n2 = taylor.recurrences %q2, %k2, %v exponential causal : !q, !k, !v
  %y = taylor.map %n1 - %l * %n2 : !o, !head, !o
  %o = taylor.normalize l2 %y epsilon(1.0e-12) : !o
  taylor.yield %o : !o
}
