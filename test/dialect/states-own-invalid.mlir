// Messages of own(..), by which sums and reads of states leave out tokens.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics

!q = !taylor.array<[b, h, t, d = 4]>
!o = !taylor.array<[b, h, t, e = 5]>
!documents = !taylor.array<[b, u]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
func.func @own_of_other_tokens(%q: !q, %H: !H, %own: !documents) {
  // expected-error @below {{'taylor.read_states' op expected own(..) of real numbers over the tokens of the vectors and perhaps b, between chunks, but got '!taylor.array<[b, u]>'}}
  %0 = taylor.read_states %q from %H own(%own) orders(0 to 2) chunk(64) : (!q, !H, !documents) -> !o
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, t]>
!H = !taylor.array<[b, g, f = 15, e = 5]>
func.func @own_without_chunks(%q: !q, %H: !H, %o: !o, %own: !row) {
  // expected-error @below {{'taylor.contract_states' op expected own(..) of real numbers over the tokens of the vectors and perhaps b, between chunks, but got '!taylor.array<[b, t]>' and no chunk}}
  %0 = taylor.contract_states %q from %H with %o own(%own) orders(0 to 2) : (!q, !H, !o, !row) -> !q
  return
}

// -----

!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
func.func @own_of_integers(%k: !k, %v: !v, %own: !taylor.array<[b, u], i32>) {
  // expected-error @below {{'taylor.states' op expected own(..) of real numbers over the tokens of the vectors and perhaps b, between chunks, but got '!taylor.array<[b, u], i32>'}}
  %0 = taylor.states %k, %v own(%own) orders(0 to 2) chunk(64) : (!k, !v, !taylor.array<[b, u], i32>) -> !H
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!o = !taylor.array<[b, h, t, e = 5]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
func.func @own_of_heads(%q: !q, %H: !H, %own: !taylor.array<[b, h, t]>) {
  // expected-error @below {{'taylor.read_states' op expected own(..) of real numbers over the tokens of the vectors and perhaps b, between chunks, but got '!taylor.array<[b, h, t]>'}}
  %0 = taylor.read_states %q from %H own(%own) orders(0 to 2) chunk(64) : (!q, !H, !taylor.array<[b, h, t]>) -> !o
  return
}
