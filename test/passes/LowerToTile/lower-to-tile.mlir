// RUN: taylor-opt %s --taylor-plan-kernels --taylor-lower-to-tile | FileCheck %s
// RUN: taylor-opt %s --taylor-tile-pipeline | FileCheck %s --check-prefix=TIDY

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
!o = !taylor.array<[b, h, t, e = 8], f32>
!row = !taylor.array<[b, h, t], f32>
!t = !taylor.array<[t], f32>

// Keys are rotated once, in a kernel of their own; queries where they are loaded. The running maximum rescales both sums.
// Tiles before the diagonal have no mask. Saved sums are stored before what is computed from them.
// CHECK-LABEL: tile.program @forward
// CHECK:         %[[Q:.*]] = tile.tensor "input:q"
// CHECK:         %[[K:.*]] = tile.tensor "input:k"
// CHECK:         %[[V:.*]] = tile.tensor "input:v"
// CHECK:         %[[O:.*]] = tile.tensor "output:o" : !tile.array<[b, h, t, e = 8], f32>
// CHECK:         %[[SM:.*]] = tile.tensor "saved:maximum" optional
// CHECK:         %[[KR:.*]] = tile.workspace "columns.0" : !tile.array<[b, g, u, d = 16], f32> because "every block of queries reads it"
// CHECK:         tile.kernel @angles_t grid(%{{.*}} in ceildiv(t, 64))
// CHECK:         tile.kernel @angles_u grid(%{{.*}} in ceildiv(u, 64))
// CHECK:         tile.kernel @columns grid(%{{.*}} in b, %{{.*}} in g, %{{.*}} in ceildiv(u, 64))
// CHECK:           tile.store %{{.*}}, %[[KR]]
// CHECK:         tile.kernel @attend grid(%{{.*}} in b, %{{.*}} in h, %{{.*}} in ceildiv(t, 64))
// CHECK:           tile.load %[[Q]]
// CHECK:           scf.for
// CHECK-NOT:         arith.cmpi
// CHECK:             %[[S:.*]] = tile.dot %{{.*}}, %{{.*}} over(d)
// CHECK:             tile.reduce max %{{.*}} over(u)
// CHECK:             %[[W:.*]] = tile.map (%{{.*}} = %[[S]],
// CHECK:               math.exp
// CHECK:             tile.load %[[V]]
// CHECK:             tile.dot %[[W]], %{{.*}} over(u) into
// CHECK:             tile.reduce sum %[[W]] over(u)
// CHECK:           scf.for
// CHECK:             arith.cmpi sle
// CHECK:             arith.select
// CHECK:           tile.requested %[[SM]]
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        tile.store %{{.*}}, %[[SM]]
// CHECK:           arith.divf
// CHECK:           tile.store %{{.*}}, %[[O]]
// CHECK-NOT:       tile.store
taylor.function @softmax.forward of @softmax("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %c = taylor.map min(max(t + 1.0, 0.0), size(u)) -> !t
  %n, %z, %m = taylor.pairwise { s = dot(%qr, %kr), m = maximum(s * 0.25), w = exp(s * 0.25 - m) } visible(u <= t)
               -> rows(w, %v), rows(w), maximum : !q, !k, !v -> !o, !row, !row
  %o = taylor.map %n / %z live(%c) : !o, !row, !t
  taylor.yield "output:o" %o, "saved:maximum" %m, "saved:mass" %z : !o, !row, !row
}

// One pass over the score tiles gives all three gradients. dO / Z is not kept: its factor is a row scalar. The rotation of
// dk is undone where dk is complete, that of dq in a kernel of its own. What nobody asks for is not computed.
// CHECK-LABEL: tile.program @backward
// CHECK:         %[[DO:.*]] = tile.tensor "cotangent:o"
// CHECK:         %[[DQ:.*]] = tile.tensor "gradient:q" optional
// CHECK:         %[[DK:.*]] = tile.tensor "gradient:k" optional
// CHECK-NOT:     tile.workspace {{.*}} : !tile.array<[b, h, t, e = 8], f32>
// CHECK:         %[[SUM:.*]] = tile.workspace "pairs.0" : !tile.array<[part = ceildiv(4, b * g), b, h, t, d = 16], f32> because "blocks add to it in memory"
// CHECK:         tile.kernel @rows
// CHECK:         tile.kernel @pairs grid(%{{.*}} in b, %{{.*}} in g, %{{.*}} in ceildiv(4, b * g))
// CHECK:           scf.if
// CHECK:           scf.for
// CHECK:             tile.load %[[DO]]
// CHECK:             tile.dot %{{.*}}, %{{.*}} over(t) into
// CHECK:             tile.dot %{{.*}}, %{{.*}} over(t) into
// CHECK:             scf.if
// CHECK:               tile.dot %{{.*}}, %{{.*}} over(u)
// CHECK:               tile.accumulate %{{.*}}, %[[SUM]]
// CHECK:           tile.concat
// CHECK:           tile.store %{{.*}}, %[[DK]]
// CHECK:         tile.kernel @finish_rows
// CHECK:           tile.load %[[SUM]]
// CHECK:           tile.store %{{.*}}, %[[DQ]]
// TIDY-LABEL: tile.program @backward
// TIDY:         tile.kernel @pairs
taylor.function @softmax.backward of @softmax("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "output:o" %o: !o,
    "saved:maximum" %m: !row, "saved:mass" %z : !row, "cotangent:o" %do: !o) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %c = taylor.map min(max(t + 1.0, 0.0), size(u)) -> !t
  %dn = taylor.map %do / %z live(%c) : !o, !row, !t
  %r = taylor.reduce sum over(e) %do * %o live(%c) : !o, !o, !t
  %dz = taylor.map -%r / %z live(%c) : !row, !row, !t
  %dqr, %dkr, %dv = taylor.pairwise { s = dot(%qr, %kr), p = dot(%dn, %v), w = exp(s * 0.25 - %m), ds = w * (p + %dz) * 0.25 }
                    visible(u <= t) -> rows(ds, %kr), columns(ds, %qr), columns(w, %dn)
                    : !q, !k, !o, !v, !row, !row -> !q, !k, !v
  %dq = taylor.rope %dqr inverse : !q
  %dk = taylor.rope %dkr inverse : !k
  taylor.yield "gradient:q" %dq, "gradient:k" %dk, "gradient:v" %dv : !q, !k, !v
}
