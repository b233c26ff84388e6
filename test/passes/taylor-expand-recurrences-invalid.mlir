// RUN: taylor-opt --verify-diagnostics --taylor-expand-recurrences %s

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>

taylor.spec @free_order(%q: !q, %k: !k, %v: !v) parameters(order : index = 10) {
  // expected-error @below {{requires a number for the order 'order': run --taylor-specialize first}}
  %o = taylor.recurrences %q, %k, %v orders(0 to order) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}
