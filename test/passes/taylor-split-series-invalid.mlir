// RUN: taylor-opt --split-input-file --verify-diagnostics --taylor-split-series %s

!q = !taylor.array<[b, h, t, d]>

// expected-error @below {{requires a taylor.recurrences, whose orders can be told apart, but found no sum over pairs}}
taylor.spec @no_sum(%q: !q) {
  %o = taylor.map %q * 2.0 : !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>

taylor.spec @two_sums(%q: !q, %k: !k, %v: !v) {
  %a = taylor.recurrences %q, %k, %v exponential causal : !q, !k, !v
  // expected-error @below {{expected one sum over pairs, whose orders can be told apart, but got 2; put each into a specification of its own}}
  %b = taylor.recurrences %q, %k, %v orders(1 to 1) causal : !q, !k, !v
  %o = taylor.map %a - %b : !o, !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>

taylor.spec @pairwise(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{requires a taylor.recurrences, which says what its orders are; write this sum as one}}
  %o = taylor.pairwise { s = dot(%q, %k), w = exp(s) } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>

taylor.spec @weight(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{unsupported weight(..) where orders are told apart: this formula of the score is no polynomial of it; write it as orders(a to b) coefficients(..)}}
  %o = taylor.recurrences %q, %k, %v weight(softplus(s)) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>

taylor.spec @score(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{unsupported score(..) where orders are told apart: orders are powers of the product itself; use a copy of the specification without the clause}}
  %o = taylor.recurrences %q, %k, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>

taylor.spec @visible(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{unsupported visible(..) where orders are told apart: orders are measured over all pairs of the mask; use a copy of the specification without the clause}}
  %o = taylor.recurrences %q, %k, %v exponential causal visible(t - u < 4.0) : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>

taylor.spec @one_head(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{requires the axes b, h, t and a channel of the query, but got '!taylor.array<[b, t, d]>'}}
  %o = taylor.recurrences %q, %k, %v exponential causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, g, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>

taylor.spec @orders_that_fall(%q: !q, %k: !k, %v: !v) parameters(order : index = -3) {
  // expected-error @below {{expected orders(a to b) with a <= b, but got 0 to -3}}
  %o = taylor.recurrences %q, %k, %v orders(0 to order) causal : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>

taylor.spec @too_high(%q: !q, %k: !k, %v: !v) parameters(order : index = 1000000000000) {
  // expected-error @below {{unsupported order 1000000000000, expected at most 256; for the whole series write orders(all)}}
  %o = taylor.recurrences %q, %k, %v orders(0 to order) causal : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>

taylor.spec @too_few_coefficients(%q: !q, %k: !k, %v: !v) parameters(order : index = 2) {
  // expected-error @below {{expected 3 coefficients, one per order, but got 2}}
  %o = taylor.recurrences %q, %k, %v orders(0 to order) coefficients(1.0, 2.0) causal : !q, !k, !v
  taylor.yield %o : !o
}
