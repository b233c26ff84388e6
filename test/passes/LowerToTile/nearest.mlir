// Rows are divided by multiplying with one reciprocal each, but for a quotient whose last bit a floor or a comparison reads, here or in another operation.
// RUN: taylor-opt %s --taylor-tile-pipeline | FileCheck %s

!x = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>
!column = !taylor.array<[b, h, u], f32>
!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, h, u, d = 16], f32>
!v = !taylor.array<[b, h, u, e = 16], f32>

// CHECK-LABEL: tile.program @quotients {{.*}}{
// CHECK:       %[[R:.*]] = arith.divf %{{.*}}, %{{.*}} fastmath<arcp> : f32
// CHECK:       arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:       %[[Q:.*]] = arith.divf %{{.*}}, %{{[^ ]*}} : f32
// CHECK-NEXT:  math.floor %[[Q]] : f32
// CHECK:       %[[P:.*]] = arith.divf %{{.*}}, %{{[^ ]*}} : f32
// CHECK-NEXT:  arith.cmpf olt, %{{.*}}, %[[P]] : f32
taylor.function @quotients of @quotients("input:x" %x: !x, "input:z" %z: !row) sources [projection, projection] {
  %y = taylor.map %x / %z : !x, !row
  %f = taylor.map floor(%x / %z) : !x, !row
  %c = taylor.map select(1.0 < %x / %z, %x, 0.0) : !x, !row
  taylor.yield "output:y" %y, "output:f" %f, "output:c" %c : !x, !x, !x
}

// Signs do not need the nearest number of their own operand, but they do of what was subtracted; roots as quotients.
// CHECK-LABEL: tile.program @signs {{.*}}{
// CHECK:       arith.divf {{.*}} fastmath<arcp>
// CHECK:       arith.cmpf ole
// CHECK:       arith.divf %{{[^ ]*}}, %{{[^ ]*}} : f32
// CHECK:       arith.subf
// CHECK:       math.sqrt %{{[^ ]*}} : f32
taylor.function @signs of @signs("input:x" %x: !row, "input:z" %z: !row) sources [projection, projection] {
  %a = taylor.map select(%x / %z <= 0.0, 1.0, 2.0) : !row, !row
  %b = taylor.map select(%x / %z - %x <= 0.0, 1.0, 2.0) : !row, !row
  %c = taylor.map floor(sqrt(%z)) : !row
  taylor.yield "output:a" %a, "output:b" %b, "output:c" %c : !row, !row, !row
}

// From what pairs are visible back through an alignment and a map, but not through a sum.
// CHECK-LABEL: tile.program @blocks {{.*}}{
// CHECK:       arith.divf %{{[^ ]*}}, %{{[^ ]*}} : f32
// CHECK:       arith.divf {{.*}} fastmath<arcp> : f32
// CHECK-NOT:   arith.divf
taylor.function @blocks of @blocks("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:z" %z: !column) sources [projection, projection, projection, projection] {
  %block = taylor.map u / %z : !column
  %twice = taylor.map 2.0 * %block : !column
  %mine = taylor.align %twice to t : !column
  %share = taylor.map 1.0 / %z : !column
  %s = taylor.scan sum over(u) %share : !column
  %n = taylor.pairwise { s = dot(%q, %k) } visible(%block <= %mine, 1.0 < %s) -> rows(s, %v) : !q, !k, !column, !row, !column, !v -> !x
  taylor.yield "output:n" %n : !x
}
