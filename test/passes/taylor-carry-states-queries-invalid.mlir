// Queries are mixed with those before them, which are carried, but not with those to come.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics --taylor-plan-states=mode=queries --taylor-carry-states

!q = !taylor.array<[b, h, t, d = 4], f32>
taylor.spec @behind(%q: !q) {
  // expected-error @below {{unsupported --decode over all keys: 'taylor.scan reverse' reads tokens of later calls; write it over the tokens before, or compile without}}
  %o = taylor.scan sum reverse over(t) %q : !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
taylor.spec @earlier_queries(%q: !q) {
  // expected-error @below {{unsupported --decode over all keys: 'taylor.align' to u reads queries of earlier calls, and keys alone are kept; take what it reads from an input over u, or keep states}}
  %k = taylor.align %q to u : !q
  taylor.yield %k : !taylor.array<[b, h, u, d = 4], f32>
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
taylor.spec @as_many_queries(%q: !q) {
  // expected-error @below {{unsupported --decode over all keys: size(t) is known where the sequence ends, not in its pieces; take the length from an input or a parameter}}
  %o = taylor.map %q / size(t) : !q
  taylor.yield %o : !q
}
