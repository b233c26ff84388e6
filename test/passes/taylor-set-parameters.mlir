// RUN: taylor-opt %s --taylor-set-parameters=parameters=order=4,scale=0.5 | FileCheck %s
// RUN: taylor-opt %s --set order=4 --set=scale=0.5 | FileCheck %s
// RUN: taylor-opt %s --set order=4 --taylor-to-pairwise=head-dim=8 >/dev/null
// RUN: not taylor-opt %s --set ordre=4 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not taylor-opt %s --set order 2>&1 | FileCheck %s --check-prefix=FORM
// NAME: error: expected a parameter of @series, but got 'ordre'; did you mean 'order'?
// FORM: error: expected name=value, but got 'order'; write for example --set order=4

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>

// CHECK: taylor.spec @series({{.*}}) parameters(order : index = 4, scale = 0.5)
taylor.spec @series(%q: !q, %k: !k, %v: !v) parameters(order : index = 10, scale = 1.0) {
  %n = taylor.recurrences %q, %k, %v orders(0 to order) coefficients(factorial) causal : !q, !k, !v
  %o = taylor.map %n * scale : !taylor.array<[b, h, t, e]>
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}
