// Values beyond a chunk's last token count as nothing: a window that ends there is 0, and is multiplied as it lies;
// what is computed of it need not be 0.
// RUN: taylor-opt %s --taylor-plan-tiles="tiles=tokens=16,state-features=4,read-features=4" --taylor-plan-kernels --taylor-lower-to-tile | FileCheck %s

!k = !taylor.array<[b, g, u, d = 2], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!H = !taylor.array<[b, g, t, f = 2, e = 5], f32>

// CHECK-LABEL: tile.program @forward
// CHECK:       tile.kernel @states
// CHECK:         scf.for {{.*}} to %[[END:.*]] step %c16
// CHECK:           %[[V:.*]] = tile.load %{{.*}} until(u = %[[END]]) : !tile.array<[b, g, u, e = 5], f32>
// CHECK-NOT:       tile.map
// CHECK:           tile.dot %{{.*}}, %[[V]] over(u)
// CHECK:       tile.kernel @states_2
// CHECK:         scf.for {{.*}} to %[[END:.*]] step %c16
// CHECK:           %[[E:.*]] = tile.map ({{.*}}) : {{.*}} {
// CHECK-NEXT:        math.exp
// CHECK:           %[[MASKED:.*]] = tile.map ({{.*}}, %{{.*}} = %[[E]]) : {{.*}} {
// CHECK-NEXT:        arith.cmpi slt, %{{.*}}, %[[END]]
// CHECK:             arith.select
// CHECK:           tile.dot %{{.*}}, %[[MASKED]] over(u)
taylor.function @f.forward of @f("input:q" %q: !taylor.array<[b, h, t, d = 2], f32>, "input:k" %k: !k, "input:v" %v: !v, "input:n0" %n0: !taylor.array<[b, h, t, e = 5], f32>) sources [projection, projection, projection, projection] {
  %H = taylor.states %k, %v orders(1 to 1) chunk(64) : (!k, !v) -> !H
  %n = taylor.read_states %q from %H into %n0 orders(1 to 1) weights [1.0] chunk(64) : (!taylor.array<[b, h, t, d = 2], f32>, !H, !taylor.array<[b, h, t, e = 5], f32>) -> !taylor.array<[b, h, t, e = 5], f32>
  %w = taylor.map exp(%v) : !v
  %G = taylor.states %k, %w orders(1 to 1) chunk(64) : (!k, !v) -> !H
  %m = taylor.read_states %q from %G into %n orders(1 to 1) weights [1.0] chunk(64) : (!taylor.array<[b, h, t, d = 2], f32>, !H, !taylor.array<[b, h, t, e = 5], f32>) -> !taylor.array<[b, h, t, e = 5], f32>
  taylor.yield "output:n" %m : !taylor.array<[b, h, t, e = 5], f32>
}
