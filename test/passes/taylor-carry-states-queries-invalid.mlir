// Queries are mixed with those before them, which are carried, but not with those to come.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics --taylor-carry-states=queries-only

!q = !taylor.array<[b, h, t, d = 4], f32>
taylor.spec @behind(%q: !q) {
  // expected-error @below {{unsupported --decode over all keys: 'taylor.scan reverse' reads tokens of later calls; write it over the tokens before, or compile without}}
  %o = taylor.scan sum reverse over(t) %q : !q
  taylor.yield %o : !q
}
