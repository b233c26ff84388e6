// Tables of angles: one per token axis and theta; where positions are given, one that is made once they are there, for each batch where
// they have b.
// RUN: taylor-opt %s --taylor-plan-kernels --taylor-lower-to-tile | FileCheck %s

!q = !taylor.array<[b, h, t, d = 16], f32>
!p = !taylor.array<[b, t], f32>

// CHECK-LABEL: tile.program @forward
// CHECK:         tile.workspace "angles_t.cos" : !tile.array<{{.*}}> because "rotations of the same positions and frequencies read it"
// CHECK-NEXT:    tile.workspace "angles_t.sin" : !tile.array<{{.*}}> because "rotations of the same positions and frequencies read it"
// CHECK:         %[[S:.*]] = tile.workspace "scan.0" : !tile.array<[b, t], f32>
// CHECK:         tile.kernel @angles_t grid(%{{.*}} in ceildiv(t, 64))
// CHECK:         tile.kernel @angles_t_2 grid(%{{.*}} in ceildiv(t, 64))
// CHECK:         tile.kernel @scan
// CHECK:           tile.store %{{.*}}, %[[S]]
// CHECK:         tile.kernel @angles_t_3 grid(%[[B:.*]] in b, %{{.*}} in ceildiv(t, 64))
// CHECK:           %[[P:.*]] = tile.load %[[S]] [b = %[[B]], t =
// CHECK:           tile.map (%{{.*}} = %[[P]]
// CHECK:             arith.extf
// CHECK:           tile.store %{{[0-9]+}}#0, %[[COS:[^ ]*]] [b = %[[B]], t =
// CHECK:         tile.kernel @rows
// CHECK:           tile.load %[[COS]] [b =
taylor.function @turned.forward of @turned("input:q" %q: !q, "input:s" %s: !p) {
  %p = taylor.scan sum over(t) %s : !p
  %a = taylor.rope %q : !q
  %b = taylor.rope %a theta(500.0) : !q
  %o = taylor.rope %b at %p : !q, !p
  taylor.yield "output:o" %o : !q
}
