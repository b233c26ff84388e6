// What cannot go on where another call ended says so where it stands.
// RUN: taylor-opt --taylor-plan-states --taylor-carry-states %s --split-input-file --verify-diagnostics

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
taylor.spec @exponential(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{unsupported --states: 'exp' of a pair is no finite sum of powers of one inner product; states carry causal sums of finitely many powers of one inner product, with factors of the query and of the key}}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(exp(s), %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
taylor.spec @bidirectional(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{unsupported --states: queries see keys of later pieces; states carry}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
taylor.spec @size_of_the_sequence(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{unsupported --states: size(u) is known where the sequence ends, not in its pieces; take the length from an input or a parameter}}
  %ks = taylor.map %k * cos(u / size(u)) : !k
  %o = taylor.pairwise { s = dot(%q, %ks) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
taylor.spec @sizes(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{unsupported --states: its weights read how many tokens there are; states carry}}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * size(u), %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
!o = !taylor.array<[b, h, t, d = 4], f32>
// expected-error @below {{unsupported --states: nothing in it depends on tokens before; compile without}}
taylor.spec @local(%q: !q) {
  %o = taylor.map 2.0 * %q : !q
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
taylor.spec @behind(%q: !q) {
  // expected-error @below {{unsupported --states: 'taylor.scan reverse' reads tokens of later calls; write it over the tokens before, or compile without}}
  %o = taylor.scan shift(1) reverse over(t) %q : !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
!taps = !taylor.array<[h, d = 4, j = 3], f32>
taylor.spec @convolution_behind(%q: !q, %w: !taps from parameter(ones)) {
  // expected-error @below {{unsupported --states: 'taylor.convolve reverse' reads tokens of later calls; write it over the tokens before, or compile without}}
  %o = taylor.convolve %q, %w reverse : !q, !taps
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
taylor.spec @recurrence_behind(%q: !q) {
  // expected-error @below {{unsupported --states: 'taylor.gated_sum reverse' reads tokens of later calls; write it over the tokens before, or compile without}}
  %o = taylor.gated_sum %q, %q reverse : !q, !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
taylor.spec @far(%q: !q) {
  // expected-error @below {{unsupported --states: a shift by 65 tokens; those up to 64 are carried}}
  %o = taylor.scan shift(65) over(t) %q : !q
  taylor.yield %o : !q
}

// -----

!keys = !taylor.array<[b, u], f32>
taylor.spec @documents(%a: !keys, %d: !keys) {
  // expected-error @below {{unsupported --states: 'taylor.scan within(..)' may begin again in a later call; compile with --documents instead}}
  %o = taylor.scan sum over(u) within(%d : !keys) %a : !keys
  taylor.yield %o : !keys
}

// -----

!keys = !taylor.array<[b, u, d = 4], f32>
!numbers = !taylor.array<[b, u], f32>
!taps = !taylor.array<[d = 4, j = 3], f32>
taylor.spec @mixed_documents(%a: !keys, %w: !taps from parameter(ones), %d: !numbers) {
  // expected-error @below {{unsupported --states: 'taylor.convolve within(..)' may begin again in a later call; compile with --documents instead}}
  %o = taylor.convolve %a, %w within(%d : !numbers) : !keys, !taps
  taylor.yield %o : !keys
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
!keys = !taylor.array<[b, u], f32>
!queries = !taylor.array<[b, t], f32>
taylor.spec @own_numbers(%q: !q, %k: !k, %v: !v, %d: !keys) {
  %n = taylor.scan max over(u) stop(%d) : !keys
  %nt = taylor.align %n to t : !keys
  // expected-error @below {{unsupported --states: a condition on what a query sees beside u <= t and one document; states carry}}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t, %nt == %n) -> rows(s, %v) : !q, !k, !queries, !keys, !v -> !o
  taylor.yield %o : !o
}
