// A map of sums that see different keys is 0 where one of them sees none: said where another sees some in such a row, and nowhere else.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics --taylor-specialize=head-dim=4 --taylor-expand-normalize --taylor-recurrences-to-pairwise

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
taylor.spec @beyond_the_window(%q: !q, %k: !k, %v: !v) parameters(window : index = 8) {
  // expected-note @below {{this sum sees some}}
  %n1, %z1 = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal visible(t - u < window) : !q, !k, !v
  // expected-note @below {{this sum sees no key there}}
  %n2, %z2 = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) causal visible(window <= t - u) : !q, !k, !v
  // expected-warning @below {{this is 0 where one of its sums sees no key, also where another sees some, as at t = 0; write the condition on keys of that sum in its weight, which may be 0: weight(select(CONDITION, s, 0.0)) for visible(CONDITION)}}
  %o = taylor.map (%n1 + %n2) / (%z1 + %z2) : !o, !o, !row, !row
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
// Said once, where they meet.
taylor.spec @apart(%q: !q, %k: !k, %v: !v) {
  // expected-note @below {{this sum sees some}}
  %n1, %z1 = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  // expected-note @below {{this sum sees no key there}}
  %n2, %z2 = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal visible(u < t) : !q, !k, !v
  %o1 = taylor.map %n1 / %z1 : !o, !row
  %o2 = taylor.map %n2 / %z2 : !o, !row
  // expected-warning @below {{as at t = 0}}
  %o = taylor.map %o1 + %o2 : !o, !o
  %p = taylor.map %o * %o2 : !o, !o
  %y = taylor.normalize rms %p epsilon(1.0e-6) : !o
  taylor.yield %y : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
// Rows far from the first.
taylor.spec @far(%q: !q, %k: !k, %v: !v) {
  // expected-note @below {{this sum sees no key there}}
  %n1 = taylor.recurrences %q, %k, %v exponential causal visible(or(t < 100.0, and(u < t, u < 0.0))) : !q, !k, !v
  // expected-note @below {{this sum sees some}}
  %n2 = taylor.recurrences %q, %k, %v exponential causal visible(or(t - u < 16.0, u < 4.0)) : !q, !k, !v
  // expected-warning @below {{as at t = 100}}
  %o = taylor.map %n1 + %n2 : !o, !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!tokens = !taylor.array<[b, t], i32>
!keys = !taylor.array<[b, u], i32>
// Nothing is said of the way out, of masks that see the query's own key, of two that are alike, of rows that neither sees, of a condition on
// what is no position, and of what mixes tokens.
taylor.spec @fine(%q: !q, %k: !k, %v: !v, %a: !tokens from input, %c: !keys from input) parameters(window : index = 8) {
  %causal = taylor.recurrences %q, %k, %v exponential causal : !q, !k, !v
  %near = taylor.recurrences %q, %k, %v exponential causal visible(t - u < window) : !q, !k, !v
  %weighted = taylor.recurrences %q, %k, %v weight(select(window <= t - u, s, 0.0)) causal : !q, !k, !v
  %blocks = taylor.recurrences %q, %k, %v exponential causal visible(or(t - u < 4.0, u < 2.0)) : !q, !k, !v
  %same = taylor.recurrences %q, %k, %v exponential causal visible(%a == %c) : !q, !k, !v, !tokens, !keys
  %o = taylor.map %causal + %near + %weighted + %blocks + %same : !o, !o, !o, !o, !o
  %before = taylor.recurrences %q, %k, %v exponential causal visible(u < t) : !q, !k, !v
  %too = taylor.recurrences %q, %k, %v orders(1 to 1) causal visible(1.0 <= t - u) : !q, !k, !v
  %p = taylor.map %before * %too : !o, !o
  %all = taylor.scan sum over(t) %p : !o
  %y = taylor.map %o + %all : !o, !o
  taylor.yield %y : !o
}
