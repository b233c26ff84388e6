// Formulas of clauses are printed in the size that they have: silu reads its argument twice, and 25 of them in each
// other, printed without names, are 2^25 copies of it.
// RUN: taylor-opt %s | FileCheck %s
// RUN: taylor-opt %s | taylor-opt | FileCheck %s
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>

// CHECK: score({ x0 = s * sigmoid(s), x1 = x0 * sigmoid(x0),{{.*}} x23 * sigmoid(x23) })
// CHECK-SAME: visible({ x0 = t - u, x1 = x0 * sigmoid(x0),
// CHECK: weight({ x0 = s * sigmoid(s), x1 = x0 * sigmoid(x0),
taylor.spec @silu(%q: !q, %k: !k, %v: !v) {
  %a = taylor.recurrences %q, %k, %v exponential
       score(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(s)))))))))))))))))))))))))) causal
       visible(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(t - u))))))))))))))))))))))))) < 9.0) : !q, !k, !v
  %b = taylor.recurrences %q, %k, %v
       weight(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(silu(s)))))))))))))))))))))))))) causal : !q, !k, !v
  %o = taylor.map %a + %b : !o, !o
  taylor.yield %o : !o
}
