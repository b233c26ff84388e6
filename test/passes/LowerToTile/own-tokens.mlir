// Tokens of another document than the edge's: they add nothing to a state, and what they read of one is cleared before it is added, whatever there is.
// RUN: taylor-opt %s --taylor-plan-tiles="tiles=tokens=16,state-features=4,read-features=4" --taylor-plan-kernels --taylor-lower-to-tile | FileCheck %s

!q = !taylor.array<[b, h, t, d = 2], f32>
!k = !taylor.array<[b, g, u, d = 2], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
!rows = !taylor.array<[b, t], f32>
!columns = !taylor.array<[b, u], f32>
!H = !taylor.array<[b, g, t, f = 2, e = 5], f32>
!mass = !taylor.array<[b, g, t, f = 2], f32>

// CHECK-LABEL: tile.program @forward
// CHECK:       tile.kernel @states
// CHECK:         %[[OWN:.*]] = tile.load {{.*}} : !tile.array<[b, u], f32>
// Values and the mass, and vectors, whose monomials may be no numbers.
// CHECK:         tile.map ({{.*}} = %[[OWN]], {{.*}}) : {{.*}} -> !tile.tile<[e = 5, u = 16], f32>
// CHECK:           arith.cmpi slt
// CHECK:           arith.cmpf une
// CHECK:           arith.andi
// CHECK:           arith.select
// CHECK:         tile.map ({{.*}} = %[[OWN]]) : {{.*}} -> !tile.tile<[u = 16], f32>
// CHECK:         %[[K:.*]] = tile.map ({{.*}}, {{.*}} = %[[OWN]]) : {{.*}} -> !tile.tile<[d = 2, u = 16], f32>
// CHECK-NOT:       arith.cmpi
// CHECK:           arith.cmpf une
// CHECK:           arith.select
// CHECK:         tile.expand %[[K]]
// CHECK:       tile.kernel @rows
// CHECK:         scf.for
// CHECK:         %[[INTO:.*]] = tile.load {{.*}} : !tile.array<[b, h, t, e = 5], f32>
// CHECK:         tile.map (%[[READ:[a-z0-9]+]] = %{{.*}}, %[[IS:[a-z0-9]+]] = %{{.*}}, %[[BEFORE:[a-z0-9]+]] = %[[INTO]])
// CHECK:           %[[COND:.*]] = arith.cmpf une, %[[IS]], %{{.*}}
// CHECK:           %[[CLEARED:.*]] = arith.select %[[COND]], %[[READ]], %{{.*}}
// CHECK-NEXT:      arith.addf %[[BEFORE]], %[[CLEARED]]
taylor.function @f.forward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:rows" %rows: !rows, "input:columns" %columns: !columns, "input:n0" %n0: !o) sources [projection, projection, projection, input, input, projection] {
  %H, %Z = taylor.states %k, %v own(%columns) mass orders(1 to 1) chunk(64) : (!k, !v, !columns) -> (!H, !mass)
  %n = taylor.read_states %q from %H into %n0 own(%rows) orders(1 to 1) weights [1.0] chunk(64) : (!q, !H, !o, !rows) -> !o
  taylor.yield "output:n" %n : !o
}
