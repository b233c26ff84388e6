// What a specification may not be compiled to.
// RUN: taylor-opt --split-input-file --verify-diagnostics --taylor-specialize="head-dim=15" %s

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @odd_rotation(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{requires an even size of axis 'd' to rotate, but got 15}}
  %qr = taylor.rope %q : !q
  %o = taylor.recurrences %qr, %k, %v exponential causal : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @odd_top_order(%q: !q, %k: !k, %v: !v) {
  // expected-warning @below {{a series with the odd top order 3 can be zero or negative, and so can its mass: dividing by it is unsafe; choose an even top order}}
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 3) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// Features that are not negative make every order positive: no warning.
taylor.spec @odd_top_order_of_positive_features(%q: !q, %k: !k, %v: !v) {
  %qf = taylor.map elu(%q) + 1.0 : !q
  %kf = taylor.map relu(%k) : !k
  %n, %z = taylor.recurrences [numerator, mass] %qf, %kf, %v orders(1 to 3) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// A clip from above leaves negative scores; one from below does not.
taylor.spec @odd_top_order_of_mapped_scores(%q: !q, %k: !k, %v: !v) {
  // expected-warning @below {{a series with the odd top order 1 can be zero or negative, and so can its mass: dividing by it is unsafe; choose an even top order}}
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 1) score(min(s, 5.0)) causal : !q, !k, !v
  %m, %y = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 1) score(max(s, 0.0)) causal : !q, !k, !v
  %o = taylor.map %n / %z + %m / %y : !o, !row, !o, !row
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 32]>
!k = !taylor.array<[b, g, u, d = 32]>
!v = !taylor.array<[b, g, u, e]>

// expected-error @below {{expected axis 'd' of size 32 as written, but got head-dim=15}}
taylor.spec @another_size(%q: !q, %k: !k, %v: !v) {
  %o = taylor.recurrences %q, %k, %v exponential causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>

taylor.spec @orders_without_end(%q: !q, %k: !k, %v: !v) parameters(order : index = 100000) {
  // expected-error @below {{unsupported order 100000, expected at most 256; for the whole series write orders(all)}}
  %o = taylor.recurrences %q, %k, %v orders(0 to order) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>

taylor.spec @orders_that_end_before_they_start(%q: !q, %k: !k, %v: !v) parameters(order : index = 1) {
  // expected-error @below {{expected orders(a to b) with a <= b, but got 2 to 1}}
  %o = taylor.recurrences %q, %k, %v orders(2 to order) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>

taylor.spec @coefficients_short(%q: !q, %k: !k, %v: !v) parameters(order : index = 2) {
  // expected-error @below {{expected 3 coefficients, one per order, but got 2}}
  %o = taylor.recurrences %q, %k, %v orders(0 to order) coefficients(1.0, 0.5) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}
