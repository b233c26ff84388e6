// What stands between chunks has no derivative: taylor-derive-backward runs before taylor-chunk-sums.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics --taylor-derive-backward

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!H = !taylor.array<[b, g, t, f = 5, e = 5]>
taylor.spec @read(%q: !q, %k: !k, %v: !v) {
  %H = taylor.states %k, %v orders(0 to 1) chunk(64) : (!k, !v) -> !H
  // expected-error @below {{'taylor.read_states' op unsupported derivative of states between chunks; derive it before taylor-chunk-sums}}
  %o = taylor.read_states %q from %H orders(0 to 1) chunk(64) : (!q, !H) -> !o
  taylor.yield %o : !o
}

// -----

!k = !taylor.array<[b, g, u, d = 4]>
!z = !taylor.array<[b, g, t, f = 5]>
taylor.spec @states(%k: !k) {
  // expected-error @below {{'taylor.states' op unsupported derivative of states between chunks; derive it before taylor-chunk-sums}}
  %z = taylor.states %k mass orders(0 to 1) chunk(64) : (!k) -> !z
  taylor.yield %z : !z
}
