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
  // expected-warning @below {{a series with the odd top order 3 can be zero or negative, and so can its mass: dividing by it is unsafe; choose an even top order, features of queries and keys that are never negative, or a norm in place of the mass}}
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

// The top order is that of the last coefficient other than 0.
taylor.spec @even_top_order_by_coefficients(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 3) coefficients(1.0, 0.0, 0.5, 0.0) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @odd_top_order_by_coefficients(%q: !q, %k: !k, %v: !v) {
  // expected-warning @below {{a series with the odd top order 3 can be zero or negative}}
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 4) coefficients(1.0, 1.0, 0.5, 0.1, 0.0) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// Of one sign, a series has that sign; of both it has that of the last one for large scores.
taylor.spec @negative_top_coefficient(%q: !q, %k: !k, %v: !v) {
  %kf = taylor.map relu(%k) : !k
  // expected-warning @below {{a series with coefficients of both signs, of which the last is negative, can be zero or negative, and so can its mass: dividing by it is unsafe; choose a positive last coefficient, or a norm in place of the mass}}
  %n, %z = taylor.recurrences [numerator, mass] %q, %kf, %v orders(0 to 2) coefficients(1.0, 0.0, -0.5) causal : !q, !k, !v
  %m, %y = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) coefficients(-1.0, 0.0, -0.5) causal : !q, !k, !v
  %o = taylor.map %n / %z + %m / %y : !o, !row, !o, !row
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

// A clip from above leaves negative scores; one from below does not, nor do features of positive functions.
taylor.spec @odd_top_order_of_mapped_scores(%q: !q, %k: !k, %v: !v) {
  // expected-warning @below {{a series with the odd top order 1 can be zero or negative, and so can its mass: dividing by it is unsafe; choose an even top order, features of queries and keys that are never negative, or a norm in place of the mass}}
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 1) score(min(s, 5.0)) causal : !q, !k, !v
  %m, %y = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 1) score(max(s, 0.0)) causal : !q, !k, !v
  %f = taylor.map exp(%q) * rsqrt(size(d)) + 0.0001 : !q
  %g = taylor.map pow(%k, 2.0) * (cos(%k) + 1.1) : !k
  %l, %x = taylor.recurrences [numerator, mass] %f, %g, %v orders(1 to 1) causal : !q, !k, !v
  %o = taylor.map %n / %z + %m / %y + %l / %x : !o, !row, !o, !row, !o, !row
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

// -----

// Masks that hide every pair, whatever the sizes: a window of no tokens, by a parameter, by a number and between two bounds; keys before the first; queries before
// the first, of which causal ones see no key; places that are none; one of several conditions that all must hold.
// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @no_window(%q: !q, %k: !k, %v: !v) parameters(window : index = 0) {
  // expected-error @below {{expected a mask by which a query sees some key, but causal and visible(..) hide every pair with window = 0; set it otherwise (--set window=..), or change the condition}}
  %o = taylor.recurrences %q, %k, %v exponential causal visible(t - u < window) : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @window_of_half_a_token(%q: !q, %k: !k, %v: !v) parameters(window = 0.5) {
  // expected-error @below {{expected a mask by which a query sees some key, but causal and visible(..) hide every pair with window = 0.5; set it otherwise (--set window=..), or change the condition}}
  %o = taylor.recurrences %q, %k, %v exponential causal visible(t - u < -window * 0.5) : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @no_distance(%q: !q, %k: !k, %v: !v) parameters(window : index = 0) {
  // expected-error @below {{expected a mask by which a query sees some key, but visible(..) hides every pair with window = 0; set it otherwise (--set window=..), or change the condition}}
  %o = taylor.recurrences %q, %k, %v exponential bidirectional visible(abs(t - u) < window) : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @between_two_bounds(%q: !q, %k: !k, %v: !v) parameters(first : index = 2, last : index = 2) {
  // expected-error @below {{expected a mask by which a query sees some key, but visible(..) hides every pair with first = 2, last = 2; set it otherwise (--set first=..), or change the condition}}
  %o = taylor.recurrences %q, %k, %v exponential bidirectional visible(t - u < first, last <= t - u) : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @later_keys(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{expected a mask by which a query sees some key, but causal and visible(..) hide every pair; change the condition}}
  %o = taylor.recurrences %q, %k, %v exponential causal visible(t + 1 <= u) : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @no_keys(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{expected a mask by which a query sees some key, but visible(..) hides every pair; change the condition}}
  %o = taylor.recurrences %q, %k, %v exponential bidirectional visible(u < 0) : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @no_queries(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{expected a mask by which a query sees some key, but causal and visible(..) hide every pair; change the condition}}
  %o = taylor.recurrences %q, %k, %v exponential causal visible(t < 0) : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @between_places(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{expected a mask by which a query sees some key, but visible(..) hides every pair; change the condition}}
  %o = taylor.recurrences %q, %k, %v exponential bidirectional visible(t - u == 0.5) : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @neither(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{expected a mask by which a query sees some key, but causal and visible(..) hide every pair; change the condition}}
  %o = taylor.recurrences %q, %k, %v exponential causal visible(or(t < u, 2.0 * u < 2.0 * t - 8.0), t - u < 4.0, 1.0 < 2.0) : !q, !k, !v
  taylor.yield %o : !o
}

// -----

// Masks by which some pair is seen.
// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @one_token(%q: !q, %k: !k, %v: !v) {
  %o = taylor.recurrences %q, %k, %v exponential causal visible(t - u < 1) : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @the_past_alone(%q: !q, %k: !k, %v: !v) {
  %o = taylor.recurrences %q, %k, %v exponential bidirectional visible(t + 1 <= u) : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @queries_before_the_first(%q: !q, %k: !k, %v: !v) {
  %o = taylor.recurrences %q, %k, %v exponential bidirectional visible(t < 0) : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @either(%q: !q, %k: !k, %v: !v) {
  %o = taylor.recurrences %q, %k, %v exponential causal visible(or(t < u, t - u < 4.0)) : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @multiples(%q: !q, %k: !k, %v: !v) {
  %o = taylor.recurrences %q, %k, %v exponential causal visible(2.0 * t < 3.0 * u - 8.0) : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// An input that only another unused value reads; one that a mask reads.
// expected-warning @+2 {{no result depends on the input 'bias', and its gradient is zero; use it, or remove it}}
taylor.spec @unused(%q: !q, %k: !k, %v: !v,
                    %bias: !row, %document: !taylor.array<[b, u], i32> from input) {
  %gate = taylor.map sigmoid(%bias) : !row
  %mine = taylor.align %document to t : !taylor.array<[b, u], i32>
  %o = taylor.recurrences %q, %k, %v exponential causal visible(%mine == %document) : !q, !k, !v, !taylor.array<[b, t], i32>, !taylor.array<[b, u], i32>
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// Nothing is divided by a mass whose size, square or larger part is taken, or that is a result alone; by one that something is added to, it is.
taylor.spec @odd_top_order_that_divides_nothing(%q: !q, %k: !k, %v: !v) {
  %n, %z, %c = taylor.recurrences [numerator, mass, count] %q, %k, %v orders(0 to 3) causal : !q, !k, !v
  %o = taylor.map %n / (1.0 + abs(%z)) + %n / (1.0 + %z * %z) + %n / max(%z, 1.0) + %n / %c + 0.1 * %z : !o, !row, !row
  taylor.yield %o, %z : !o, !row
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @odd_top_order_that_divides_in_a_sum(%q: !q, %k: !k, %v: !v) {
  // expected-warning @below {{a series with the odd top order 3 can be zero or negative}}
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 3) causal : !q, !k, !v
  %o = taylor.map %n * rsqrt(2.0 * %z + 0.5) : !o, !row
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// By 2^40 ways from the mass to the result: each number is asked about once.
taylor.spec @odd_top_order_by_many_ways(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 3) causal : !q, !k, !v
  %o = taylor.map { x0 = %z + %z, x1 = x0 + x0, x2 = x1 + x1, x3 = x2 + x2, x4 = x3 + x3, x5 = x4 + x4, x6 = x5 + x5, x7 = x6 + x6, x8 = x7 + x7, x9 = x8 + x8, x10 = x9 + x9, x11 = x10 + x10, x12 = x11 + x11, x13 = x12 + x12, x14 = x13 + x13, x15 = x14 + x14, x16 = x15 + x15, x17 = x16 + x16, x18 = x17 + x17, x19 = x18 + x18, x20 = x19 + x19, x21 = x20 + x20, x22 = x21 + x21, x23 = x22 + x22, x24 = x23 + x23, x25 = x24 + x24, x26 = x25 + x25, x27 = x26 + x26, x28 = x27 + x27, x29 = x28 + x28, x30 = x29 + x29, x31 = x30 + x30, x32 = x31 + x31, x33 = x32 + x32, x34 = x33 + x33, x35 = x34 + x34, x36 = x35 + x35, x37 = x36 + x36, x38 = x37 + x37, x39 = x38 + x38, %n + abs(x39) } : !row, !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// The same series as a formula.
taylor.spec @odd_degree(%q: !q, %k: !k, %v: !v) {
  // expected-warning @below {{a weight with the odd degree 3 can be zero or negative, and so can its mass: dividing by it is unsafe; choose an even degree, features of queries and keys that are never negative, or a norm in place of the mass}}
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v weight(1.0 + s + s * s / 2.0 + pow(s, 3.0) / 6.0) causal : !q, !k, !v
  // expected-warning @below {{a weight with the odd degree 1 can be zero or negative}}
  %m, %y = taylor.recurrences [numerator, mass] %q, %k, %v score(relu(s)) weight(1.0 - s) causal : !q, !k, !v
  %o = taylor.map %n / %z + %m / %y : !o, !row, !o, !row
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// Even degrees, no polynomials (a root, a sigmoid, a quotient by the score), features and scores that are never negative as far as their formulas show, masses that divide nothing.
taylor.spec @degrees_that_are_not_odd(%q: !q, %k: !k, %v: !v) {
  %a, %x = taylor.recurrences [numerator, mass] %q, %k, %v weight(1.0 + s + s * s / 2.0) causal : !q, !k, !v
  %b, %y = taylor.recurrences [numerator, mass] %q, %k, %v weight(s * sigmoid(s)) causal : !q, !k, !v
  %c, %z = taylor.recurrences [numerator, mass] %q, %k, %v weight(pow(s, 0.5)) causal : !q, !k, !v
  %d, %w = taylor.recurrences [numerator, mass] %q, %k, %v weight(1.0 / (s * s * s)) causal : !q, !k, !v
  %e, %l = taylor.recurrences [numerator, mass] %q, %k, %v score(relu(s)) weight(s) causal : !q, !k, !v
  %f, %m = taylor.recurrences [numerator, mass] %q, %k, %v weight(s) causal : !q, !k, !v
  %qf = taylor.map elu(%q) + 1.0 : !q
  %kf = taylor.map relu(%k) : !k
  %g, %n = taylor.recurrences [numerator, mass] %qf, %kf, %v weight(1.0 + s) causal : !q, !k, !v
  %o = taylor.map %a / %x + %b / %y + %c / %z + %d / %w + %e / %l + %f * %m + %g / %n : !o, !row, !o, !row, !o, !row, !o, !row, !o, !row, !o, !row, !o, !row
  %square = taylor.map %q * %q : !q
  %half = taylor.map pow(relu(%k), 0.5) : !k
  %sum = taylor.reduce sum over(d) exp(%q) : !q
  %share = taylor.map %square / %sum : !q, !row
  %i, %y2 = taylor.recurrences [numerator, mass] %share, %half, %v orders(1 to 1) causal : !q, !k, !v
  %o2 = taylor.map %o + %i / %y2 : !o, !o, !row
  taylor.yield %o2 : !o
}
