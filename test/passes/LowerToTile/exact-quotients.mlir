// Rows are divided by multiplying with one reciprocal each, but for a quotient whose last bit a floor or a comparison reads.
// RUN: taylor-opt %s --taylor-tile-pipeline | FileCheck %s

!x = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>

// CHECK-LABEL: tile.program @forward {
// CHECK:       %[[R:.*]] = arith.divf %{{.*}}, %{{.*}} : f32
// CHECK:       arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:       %[[Q:.*]] = arith.divf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:  math.floor %[[Q]] : f32
// CHECK:       %[[P:.*]] = arith.divf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:  arith.cmpf olt, %{{.*}}, %[[P]] : f32
taylor.function @quotients.forward of @quotients("input:x" %x: !x, "input:z" %z: !row) sources [projection, projection] {
  %y = taylor.map %x / %z : !x, !row
  %f = taylor.map floor(%x / %z) : !x, !row
  %c = taylor.map select(1.0 < %x / %z, %x, 0.0) : !x, !row
  taylor.yield "output:y" %y, "output:f" %f, "output:c" %c : !x, !x, !x
}
