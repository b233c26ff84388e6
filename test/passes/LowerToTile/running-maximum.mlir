// RUN: taylor-opt %s --taylor-plan-kernels --taylor-lower-to-tile | FileCheck %s

// A running maximum: from token block to token block a kernel carries what it has seen, at first minus infinity, which also stands for
// tokens beyond the end; readers load it.
// CHECK-LABEL: tile.program @forward
// CHECK:         %[[M:.*]] = tile.workspace "scan.0" : !tile.array<[b, g, u], f32>
// CHECK:         tile.kernel @scan grid(%{{.*}} in b, %{{.*}} in g)
// CHECK:           %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK:           %[[NONE:.*]] = tile.splat %[[INF]]
// CHECK:           scf.for {{.*}} iter_args(%[[CARRY:.*]] = %[[NONE]])
// CHECK:             tile.position
// CHECK:             %[[X:.*]] = tile.map
// CHECK:               %[[OUT:.*]] = arith.constant 0xFF800000 : f32
// CHECK:               arith.select %{{.*}}, %{{.*}}, %[[OUT]]
// CHECK:             %[[SCAN:.*]] = tile.scan max %[[X]] over(u) :
// CHECK:             %[[ALL:.*]] = tile.reduce max %[[X]] over(u)
// CHECK:             %[[Y:.*]] = tile.map (%{{.*}} = %[[SCAN]], %{{.*}} = %[[CARRY]])
// CHECK-NEXT:          arith.maximumf
// CHECK:             %[[NEXT:.*]] = tile.map (%{{.*}} = %[[CARRY]], %{{.*}} = %[[ALL]])
// CHECK-NEXT:          arith.maximumf
// CHECK:             tile.store %[[Y]], %[[M]]
// CHECK:             scf.yield %[[NEXT]]
// CHECK:         tile.kernel @columns grid(%{{.*}} in b, %{{.*}} in g, %{{.*}} in ceildiv(u, 64))
// CHECK:           tile.load %[[M]]
!column = !taylor.array<[b, g, u], f32>
taylor.function @loudest.forward of @loudest("input:f" %f: !column) {
  %m = taylor.scan max over(u) -%f : !column
  %y = taylor.map exp(%f + %m) : !column, !column
  taylor.yield "output:y" %y : !column
}
