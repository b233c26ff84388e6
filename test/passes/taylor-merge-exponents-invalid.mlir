// Rewrites are bounded, and what they leave is reported.
// RUN: taylor-opt %s --taylor-merge-exponents=max-iterations=1 --verify-diagnostics

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>

taylor.function @chain of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  // expected-error @below {{requires exponentials that are merged after 1 passes over the formula, but the last one still changed some; raise max-iterations}}
  %n = taylor.pairwise { s = dot(%q, %k) w = exp(s) * exp(s * 2.0) * exp(s * 3.0) } -> rows(w, %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}
