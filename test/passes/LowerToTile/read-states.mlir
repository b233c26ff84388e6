// States are read panel by panel. What one panel gives is summed by itself and then added: over thousands of monomials that cancel, the
// one sum through all of them would have lost up to twelve times as many digits. A sum over tokens goes on in the sum that it has.
// RUN: taylor-opt %s --taylor-plan-tiles="tiles=tokens=16,state-features=4,read-features=4" --taylor-plan-kernels --taylor-lower-to-tile | FileCheck %s

!q = !taylor.array<[b, h, t, d = 2], f32>
!k = !taylor.array<[b, g, u, d = 2], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
!row = !taylor.array<[b, h, t], f32>
!H = !taylor.array<[b, g, f = 6, e = 5], f32>
!mass = !taylor.array<[b, g, f = 6], f32>
!chunks = !taylor.array<[b, g, t, f = 6, e = 5], f32>

// CHECK-LABEL: tile.program @f.forward
// CHECK:       tile.kernel @states
// CHECK:         tile.dot {{.*}} over(u) into %
// CHECK:       tile.kernel
// CHECK:         scf.for {{.*}} iter_args(%[[SUM:[a-z0-9]+]] = {{.*}}, %[[MASS:[a-z0-9]+]] =
// CHECK:           %[[PANEL:[0-9]+]] = tile.dot {{.*}} over(f) :
// CHECK-NEXT:      %[[NEXT:[0-9]+]] = tile.map (%{{[a-z0-9]+}} = %[[SUM]], %{{[a-z0-9]+}} = %[[PANEL]])
// CHECK-NEXT:        arith.addf
// CHECK:           %[[ONE:[0-9]+]] = tile.reduce sum {{.*}} over(f)
// CHECK-NEXT:      %[[REST:[0-9]+]] = tile.map (%{{[a-z0-9]+}} = %[[MASS]], %{{[a-z0-9]+}} = %[[ONE]])
// CHECK:           scf.yield %[[NEXT]], %[[REST]]
taylor.function @f.forward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %H, %Z = taylor.states %k, %v mass orders(0 to 2) : (!k, !v) -> (!H, !mass)
  %n, %z = taylor.read_states %q from %H, %Z orders(0 to 2) weights [1.0, 1.0, 0.5] : (!q, !H, !mass) -> (!o, !row)
  %o = taylor.map %n / %z : !o, !row
  taylor.yield "output:o" %o : !o
}

// A block of queries before whose chunk no key lies reads nothing: a state of 0 times a query that is NaN is NaN.
// CHECK-LABEL: tile.program @chunks.forward
// CHECK:       tile.kernel @rows
// CHECK:         %[[CHUNK:[0-9]+]] = arith.floordivsi
// CHECK:         %[[OFFSET:[0-9]+]] = tile.size "offset"
// CHECK:         %[[FIRST:[0-9]+]] = arith.muli %[[CHUNK]]
// CHECK-NEXT:    %[[PAST:[0-9]+]] = arith.addi %[[OFFSET]], %[[FIRST]]
// CHECK:         %[[READS:[0-9]+]] = arith.cmpi sgt, %[[PAST]], %c0
// CHECK:         %[[TIMES:[0-9]+]] = arith.select %[[READS]], %c1{{.*}}, %c0
// CHECK:         scf.for %{{.*}} = %c0{{.*}} to %[[TIMES]] step %c1
// CHECK:           tile.expand
taylor.function @chunks.forward of @chunks("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %H = taylor.states %k, %v orders(0 to 2) chunk(16) : (!k, !v) -> !chunks
  %n = taylor.read_states %q from %H orders(0 to 2) weights [1.0, 1.0, 0.5] chunk(16) : (!q, !chunks) -> !o
  taylor.yield "output:o" %n : !o
}
