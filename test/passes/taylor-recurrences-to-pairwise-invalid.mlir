// RUN: taylor-opt --split-input-file --verify-diagnostics --taylor-recurrences-to-pairwise %s

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>

taylor.spec @free_order(%q: !q, %k: !k, %v: !v) parameters(order : index = 10) {
  // expected-error @below {{requires a number for the order 'order': run --taylor-specialize first}}
  %o = taylor.recurrences %q, %k, %v orders(0 to order) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!s = !taylor.array<[b, g, f, e]>

taylor.spec @carried_state(%q: !q, %k: !k, %v: !v, %s: !s from input) {
  // expected-error @below {{unsupported state of a recurrence in kernels: leave it out; --states gives those of every sum to the caller}}
  %o = taylor.recurrence %q, %k, %v order(1) state(%s) causal : !q, !k, !v, !s
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}
