// The recurrence: one kernel takes a panel of the states at a time, adds what a token brings, stores it, and adds to the rows of every head of the group
// what its query reads. The first token reads where the states come from, the others where they are.
// RUN: taylor-opt %s --taylor-plan-tiles="tiles=tokens=1,step-tokens=1,line-bytes=64,state-features=4,blocks=2" --taylor-plan-kernels --taylor-lower-to-tile | FileCheck %s
// RUN: taylor-opt %s --taylor-plan-tiles="tiles=tokens=16,step-tokens=16,state-features=4,blocks=2" --taylor-plan-kernels --taylor-lower-to-tile | FileCheck %s --check-prefix=WIDE
// Heads in one block where rows of a token are all that it has to do:
// RUN: taylor-opt %s --taylor-plan-tiles="tiles=tokens=1,step-tokens=1,state-features=4,heads=16" --taylor-plan-kernels --taylor-lower-to-tile | FileCheck %s --check-prefix=HEADS

!q = !taylor.array<[b, h, t, d = 2], f32>
!k = !taylor.array<[b, g, u, d = 2], f32>
!v = !taylor.array<[b, g, u, e = 5], f32>
!o = !taylor.array<[b, h, t, e = 5], f32>
!row = !taylor.array<[b, h, t], f32>
!H = !taylor.array<[b, g, f = 6, e = 5], f32>
!z = !taylor.array<[b, g, f = 6], f32>

// CHECK-LABEL: tile.program @forward
// CHECK: %[[H0:.*]] = tile.tensor "input:H0"
// CHECK: %[[Z0:.*]] = tile.tensor "input:z0"
// CHECK: %[[O:.*]] = tile.tensor "output:o"
// CHECK: %[[H:.*]] = tile.tensor "output:final.state0" :
// CHECK: %[[Z:.*]] = tile.tensor "output:final.state1" :
// CHECK: %[[NUMERATOR:.*]] = tile.workspace "steps.0" : !tile.array<[part = ceildiv(2, b * g), b, h, t, e = 5], f32> because "a recurrence sums it up panel after panel"
// Blocks add to masses panel after panel: those of different heads lie a line of the caches apart.
// CHECK: %[[MASS:.*]] = tile.workspace "steps.1" : !tile.array<[part = ceildiv(2, b * g), b, h, line = ceildiv(16, t), t], f32>
// CHECK: tile.kernel @steps grid({{.*}} in b, {{.*}} in g, %[[PART:.*]] in ceildiv(2, b * g))
// CHECK:   tile.store {{.*}}, %[[NUMERATOR]] [part = %[[PART]]
// The token's values and its 1 for the mass are 0 where there is no token; not each panel.
// CHECK:   arith.select
// CHECK:   scf.for %[[PANEL:.*]] =
// The first head of the group reads the panel as it is, the others where it was stored.
// CHECK:     tile.expand {{.*}} weights [1.000000e+00, 1.000000e+00, 5.000000e-01]
// CHECK:     tile.load %[[H0]] {{.*}} f = %[[PANEL]]]
// CHECK:     tile.load %[[Z0]]
// CHECK:     %[[FEATURES:.*]] = tile.expand {{.*}} <2, orders 0 to 2> from %[[PANEL]] to(f) : !tile.tile<[d = 2], f32> -> !tile.tile<[f = 4], f32>
// CHECK:     %[[NEXT:.*]] = tile.map {{.*}} -> !tile.tile<[e = 5, f = 4], f32>
// CHECK:       math.fma
// CHECK:     tile.store %[[NEXT]], %[[H]]
// CHECK:     tile.store {{.*}}, %[[Z]]
// CHECK:     tile.map ({{.*}}, {{.*}} = %[[NEXT]])
// CHECK:     tile.reduce sum {{.*}} over(f)
// CHECK:     tile.accumulate {{.*}}, %[[NUMERATOR]]
// CHECK:     tile.accumulate {{.*}}, %[[MASS]] [{{.*}}, line = %{{.*}}, t = %{{.*}}] : !tile.tile<[], f32>
// CHECK:     scf.if
// CHECK:       tile.load %[[H]]
// CHECK:       scf.for
// CHECK:         tile.expand {{.*}} weights
// CHECK: scf.for
// CHECK:   scf.for
// CHECK:     tile.load %[[H]]
// CHECK: tile.kernel @rows grid({{.*}} in b, {{.*}} in h, {{.*}} in t)
// CHECK:   tile.load %[[NUMERATOR]] [part =
// CHECK:   tile.store {{.*}}, %[[O]]
// HEADS: tile.workspace "steps.1" : !tile.array<[part = ceildiv(4, b * g), b, h, t], f32>
// HEADS: tile.kernel @rows grid({{.*}} in b, %[[BLOCK:.*]] in ceildiv(h, 16), {{.*}} in t)
// HEADS: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %{{.*}} : index
// HEADS: %[[PAST:.*]] = arith.addi %[[FIRST]]
// HEADS: %[[H:.*]] = tile.size "h"
// HEADS: %[[END:.*]] = arith.minsi %[[PAST]], %[[H]]
// HEADS: scf.for %[[HEAD:[a-z0-9]+]] = %[[FIRST]] to %[[END]]
// HEADS:   tile.store {{.*}} h = %[[HEAD]],
// WIDE: tile.workspace "steps.1" : !tile.array<[part = ceildiv(2, b * g), b, h, t], f32>
// WIDE-LABEL: tile.kernel @steps
// WIDE: tile.expand {{.*}} : !tile.tile<[d = 2, u = 16], f32>
// WIDE: %[[SUM:.*]] = tile.dot {{.*}} over(u) into
// WIDE: scf.for
// WIDE:   tile.dot {{.*}}, %[[SUM]] over(f)
taylor.function @f.forward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:H0" %H0: !H, "input:z0" %z0: !z) {
  %n, %z, %H1, %z1 = taylor.step_states %q with %k, %v mass from %H0, %z0 reads [0, 1] orders(0 to 2) weights [[1.0, 1.0, 0.5], [1.0, 1.0, 0.5]] : (!q, !k, !v, !H, !z) -> (!o, !row, !H, !z)
  %o = taylor.map %n / %z : !o, !row
  taylor.yield "output:o" %o, "output:final.state0" %H1, "output:final.state1" %z1 : !o, !H, !z
}

// Of what a decay leaves of the states, a number per token: a panel is multiplied where it is read.
!keep = !taylor.array<[b, g, u], f32>
// CHECK-LABEL: tile.program @decayed
// CHECK: %[[R:.*]] = tile.tensor "input:r"
// CHECK: tile.kernel @steps
// CHECK: %[[NUMBER:.*]] = tile.load %[[R]] {{.*}} -> !tile.tile<[], f32>
// CHECK: %[[KEPT:.*]] = tile.map ({{.*}} = %[[NUMBER]])
// CHECK:   arith.select
// CHECK: %[[PANEL:.*]] = tile.load {{.*}} -> !tile.tile<[e = 5, f = 4], f32>
// CHECK: tile.map ({{.*}} = %[[KEPT]], {{.*}} = %[[PANEL]])
// CHECK:   arith.mulf
// CHECK: math.fma
taylor.function @decayed of @decayed("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:H0" %H0: !H, "input:r" %r: !keep) {
  %o, %H1 = taylor.step_states %q with %k, %v from %H0 keep(%r) reads [0] orders(0 to 2) weights [[1.0, 1.0, 0.5]] : (!q, !k, !v, !H, !keep) -> (!o, !H)
  taylor.yield "output:o" %o, "output:final.state0" %H1 : !o, !H
}

// Tokens become the last axis of such an array, however the row has them.
!late = !taylor.array<[b, t, h], f32>
// CHECK-LABEL: tile.program @heads_behind_tokens
// CHECK: tile.workspace "steps.0" : !tile.array<[part = ceildiv(2, b * g), b, h, line = ceildiv(16, t), t], f32>
taylor.function @heads_behind_tokens of @heads_behind_tokens("input:q" %q: !q, "input:k" %k: !k, "input:z0" %z0: !z) {
  %n, %z1 = taylor.step_states %q with %k mass from %z0 reads [0] orders(0 to 2) weights [[1.0, 1.0, 0.5]] : (!q, !k, !z) -> (!late, !z)
  taylor.yield "output:o" %n, "output:final.state0" %z1 : !late, !z
}
