// What cannot go on where another call ended says so where it stands.
// RUN: taylor-opt --taylor-carry-states %s --split-input-file --verify-diagnostics

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
taylor.spec @exponential(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{unsupported --states: 'math.exp' of a pair is no finite sum of powers of one inner product; states carry causal sums of finitely many powers of one inner product, with factors of the query and of the key}}
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
taylor.spec @places(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{unsupported --states: its weights read positions; states carry}}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * u, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
taylor.spec @two(%q: !q, %k: !k, %v: !v) {
  %a = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  // expected-error @below {{unsupported --states: its states have 10 features, others 4; states carry}}
  %b = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * s, %v) : !q, !k, !v -> !o
  %o = taylor.map %a + %b : !o, !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
!o = !taylor.array<[b, h, t, d = 4], f32>
// expected-error @below {{unsupported --states: it has no sums over keys; states carry}}
taylor.spec @local(%q: !q) {
  %o = taylor.map 2.0 * %q : !q
  taylor.yield %o : !o
}
