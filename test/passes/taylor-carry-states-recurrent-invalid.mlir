// What has no recurrence of its own is refused at its line.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics --taylor-plan-states=mode=recurrent --taylor-carry-states

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
taylor.spec @exponential(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{unsupported recurrent form: }}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(exp(s), %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

// A state that is read has the query's own key.
!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, g, u, d = 4], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
taylor.spec @elsewhere(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{unsupported recurrent form: 'select' of a pair is no finite sum of powers of one inner product}}
  %o = taylor.pairwise { s = dot(%q, %k), w = select(t == u, 0.0, s) } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}
