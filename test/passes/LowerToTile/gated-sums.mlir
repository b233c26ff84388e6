// A gated sum has a kernel of its own, which goes along the tokens with all channels of a head at a time. What it reads has memory.
// RUN: taylor-opt %s --taylor-tile-pipeline | FileCheck %s

!k = !taylor.array<[b, g, u, d = 16], f32>
!gates = !taylor.array<[g, d = 16], f32>
!documents = !taylor.array<[b, u], f32>

// CHECK-LABEL: tile.program @forward
// CHECK:         %[[X:.*]] = tile.workspace "columns.0" : !tile.array<[b, g, u, d = 16], f32>
// CHECK:         %[[Y:.*]] = tile.workspace "scan.0" : !tile.array<[b, g, u, d = 16], f32>
// CHECK:         tile.kernel @columns grid
// CHECK:           tile.store %{{.*}}, %[[X]]
// CHECK:         tile.kernel @scan grid(%{{.*}} in b, %{{.*}} in g)
// CHECK:           scf.for %[[U:.*]] = %[[ZERO:.*]] to %{{.*}} step %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (!tile.tile<[d = 16], f32>)
// CHECK:             %[[LATER:.*]] = arith.cmpi sgt, %[[U]], %[[ZERO]]
// CHECK:             %[[TERM:.*]] = tile.load %[[X]] [b = %{{.*}}, g = %{{.*}}, u = %[[U]]]
// CHECK:             %[[GATE:.*]] = tile.load %{{.*}} [g = %{{.*}}]
// CHECK:             %[[NEXT:.*]] = tile.map (%[[T:.*]] = %[[TERM]], %[[A:.*]] = %[[GATE]], %[[S:.*]] = %[[SUM]])
// CHECK:               %[[FADED:.*]] = math.fma %[[A]], %[[S]], %[[T]]
// CHECK:               arith.select %[[LATER]], %[[FADED]], %[[T]]
// CHECK:             tile.store %[[NEXT]], %[[Y]] [b = %{{.*}}, g = %{{.*}}, u = %[[U]]]
// CHECK:         tile.kernel @columns_2
// CHECK:           tile.load %[[Y]]
taylor.function @f.forward of @f("input:k" %k: !k, "input:a" %a: !gates) {
  %x = taylor.map %k * %k : !k
  %y = taylor.gated_sum %x, %a : !k, !gates
  %o = taylor.map %y + 1.0 : !k
  taylor.yield "output:o" %o : !k
}

// From the end, the gate is that of the token after; a document begins again.
// CHECK-LABEL: tile.program @backward
// CHECK:         %[[LAST:.*]] = arith.subi %{{.*}}, %{{.*}}
// CHECK:         scf.for %[[STEP:.*]] = %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[BEFORE:.*]] = %{{.*}}) ->
// CHECK:           %[[U:.*]] = arith.subi %[[LAST]], %[[STEP]]
// CHECK:           %[[AFTER:.*]] = arith.addi %[[U]], %{{.*}}
// CHECK:           %[[INSIDE:.*]] = arith.minsi %[[AFTER]], %[[LAST]]
// CHECK:           tile.load %{{.*}} [b = %{{.*}}, g = %{{.*}}, u = %[[U]]]
// CHECK:           tile.load %{{.*}} [b = %{{.*}}, g = %{{.*}}, u = %[[INSIDE]]]
// CHECK:           %[[DOCUMENT:.*]] = tile.load %{{.*}} [b = %{{.*}}, u = %[[U]]]
// CHECK:           tile.map ({{.*}}, %[[D:.*]] = %[[DOCUMENT]], %[[B:.*]] = %[[BEFORE]])
// CHECK:             arith.cmpf oeq, %[[D]], %[[B]]
// CHECK:           scf.yield %{{.*}}, %[[DOCUMENT]]
taylor.function @f.backward of @f("input:k" %k: !k, "input:n" %n: !documents) {
  %y = taylor.gated_sum %k, %k within(%n : !documents) reverse : !k, !k
  taylor.yield "gradient:k" %y : !k
}
