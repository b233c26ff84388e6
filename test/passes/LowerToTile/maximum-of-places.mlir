// A running maximum of scores that read the places of the query and the key begins from a floor, which depends on neither: what the maximum's region reads
// of a key is there when the floor is made. (Found by test/random, seed 100050.)
// RUN: taylor-opt %s --taylor-to-pairwise="head-dim=2" --taylor-plan-kernels --taylor-lower-to-tile | FileCheck %s
// RUN: taylor-run %s --device=tile --check --grad --shape=b=1,h=2,g=1,t=9,u=9,d=2,e=2

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// CHECK-LABEL: tile.program @forward
// CHECK: tile.kernel @attend
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[FLOOR:.*]] = tile.splat %[[ZERO]] : f32 -> !tile.tile<[t = 64], f32>
// CHECK: scf.for {{.*}} iter_args(%{{[a-z0-9]+}} = %[[FLOOR]], 
taylor.spec @places(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential score(s + 0.1 * cos(t - u)) causal : !q, !k, !v
  %o = taylor.map %n / (stop(%z) + 1.0e-4) : !o, !row
  taylor.yield %o : !o
}
