// A sum into columns of key/value heads adds up the heads of a group in one block, whether the arrays of the pairs have groups or heads alone
// (a series of order 0 reads no key). There is no workspace, of which parts would never be written.
// RUN: taylor-opt %s --taylor-plan-kernels --taylor-lower-to-tile | FileCheck %s
// RUN: taylor-opt %s --taylor-plan-kernels --taylor-lower-to-tile | FileCheck %s --check-prefix=GROUP
// RUN: taylor-run %spec_dir/softmax-taylor.mlir --device=tile --check --set order=0 --shape=b=2,h=4,g=2,t=33,u=33,d=8,e=8

!o = !taylor.array<[b, h, t, e = 4], f32>
!v = !taylor.array<[b, g, u, e = 4], f32>

// CHECK-LABEL: tile.program @backward
// CHECK-NOT: tile.workspace
// CHECK: tile.kernel @pairs grid(%[[B:.*]] in b, %[[G:.*]] in g,
// CHECK: tile.load %{{.*}} [b = %[[B]], h = %{{.*}}, t =
// CHECK: tile.store %{{.*}} [b = %[[B]], g = %[[G]], u = %{{.*}}] : !tile.tile<[e = 4, u = 128], f32>
// CHECK-NOT: tile.kernel
// What one head adds is summed from 0 and then added to what the others have.
// GROUP-LABEL: tile.kernel @pairs
// GROUP:       scf.for {{.*}} iter_args(%[[GROUP:[a-z0-9]+]] =
// GROUP:         %[[HEAD:.*]] = scf.for {{.*}} iter_args(%{{[a-z0-9]+}} = %[[ZEROS:[a-z0-9_]+]])
// GROUP:         %[[SUM:.*]] = tile.map (%{{[a-z0-9]+}} = %[[GROUP]], %{{[a-z0-9]+}} = %{{.*}})
// GROUP-NEXT:      arith.addf
// GROUP:         scf.yield %[[SUM]]
taylor.function @sums_of_groups.backward of @sums_of_groups("cotangent:o" %do: !o) {
  %dv = taylor.pairwise {} visible(u <= t) -> columns(0.5, %do) : !o -> !v
  taylor.yield "gradient:v" %dv : !v
}
