!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!hv = !taylor.array<[b, h, u, e]>
!o = !taylor.array<[b, h, t, e]>
!head = !taylor.array<[h]>

taylor.spec @linear_cosine_as_coded(%q: !q, %k: !k, %v: !v, %p: !head from parameter(constant(0.5))) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %qn = taylor.normalize l2 over(h) %qr epsilon(1.0e-12) : !q
  %kn = taylor.normalize l2 over(g) %kr epsilon(1.0e-12) : !k
  %vp = taylor.map %v / pow(u + 1.0, sigmoid(%p)) : !v, !head
  %o = taylor.recurrences %qn, %kn, %vp orders(1 to 1) causal : !q, !k, !hv
  taylor.yield %o : !o
}
