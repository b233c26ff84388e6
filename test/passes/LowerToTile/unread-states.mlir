// A state that nothing reads has memory all the same, since one kernel makes all of them.
// RUN: taylor-opt %s --taylor-plan-tiles="tiles=tokens=16,state-features=4" --taylor-plan-kernels --taylor-lower-to-tile | FileCheck %s

!q = !taylor.array<[b, h, t, d = 2], f32>
!k = !taylor.array<[b, g, u, d = 2], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
!H = !taylor.array<[b, g, f = 2, e = 5], f32>

// CHECK-LABEL: tile.program @forward
// CHECK:       %[[READ:.*]] = tile.workspace "states.0"
// CHECK:       %[[UNREAD:.*]] = tile.workspace "states.1"
// CHECK:       tile.kernel @states
// CHECK:         tile.store {{.*}}, %[[READ]]
// CHECK:         tile.store {{.*}}, %[[UNREAD]]
taylor.function @f.forward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:w" %w: !v) sources [projection, projection, projection, projection] {
  %H, %unread = taylor.states %k, %v, %w orders(1 to 1) : (!k, !v, !v) -> (!H, !H)
  %n = taylor.read_states %q from %H orders(1 to 1) weights [1.0] : (!q, !H) -> !o
  taylor.yield "output:n" %n : !o
}
