// RUN: taylor-opt --split-input-file --verify-diagnostics --taylor-derive-backward %s

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>

taylor.spec @not_lowered(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{requires a derivative of 'taylor.recurrences': lower it first (--taylor-expand-normalize, --taylor-recurrences-to-pairwise)}}
  %o = taylor.recurrences %q, %k, %v exponential causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!col = !taylor.array<[b, h, u]>

taylor.spec @running_maximum(%x: !col) {
  // expected-error @below {{unsupported derivative of a running maximum; where it only shifts exponents it needs none: read it as stop(..)}}
  %m = taylor.scan max over(u) %x : !col
  %y = taylor.map exp(%x - %m) : !col, !col
  taylor.yield %y : !col
}

// -----

!row = !taylor.array<[b, h, t]>

taylor.spec @no_rule(%x: !row) {
  %y = taylor.map region(%x) {
    ^bb0(%r: f64):
      // expected-error @below {{unsupported derivative of 'math.cbrt': it has no rule (dialect/Taylor/ScalarDerivatives.cpp); write the formula without it}}
      %0 = math.cbrt %r : f64
      taylor.yield %0 : f64
  } : !row
  taylor.yield %y : !row
}
