// Loops over queries that begin at a multiple of their step, so that blocks of keys share tiles of queries.
// RUN: taylor-opt %s --taylor-tile-pipeline=tiles=row-sums=separate,loops=single,outer-queries=16,outer-keys=24,query-begins=aligned | FileCheck %s
// RUN: taylor-opt %s --taylor-tile-pipeline=tiles=row-sums=separate,loops=single,outer-queries=16,outer-keys=24 | FileCheck %s --check-prefix=EXACT

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
!o = !taylor.array<[b, h, t, e = 8], f32>
!row = !taylor.array<[b, h, t], f32>

// Down to a multiple: queries of the first tile that come before all keys are masked, since the mask cuts what lies before the first query that sees them all.
// What the block takes, and so the order of blocks, is as before.
// CHECK-LABEL: tile.kernel @pairs grid(%{{.*}} in b, %{{.*}} in g, %{{.*}} in ceildiv(u, 24)) longest(first, t * 100)
// CHECK:         %[[SEEN:.*]] = arith.maxsi %[[OFFSET:.*]], %
// CHECK:         %[[BEGIN:.*]] = arith.subi %[[SEEN]], %[[OFFSET]]
// CHECK-NEXT:    %[[FULL:.*]] = arith.subi %{{.*}}, %[[OFFSET]] : index
// CHECK-NEXT:    %[[NUMBER:.*]] = arith.floordivsi %[[BEGIN]], %c16
// CHECK-NEXT:    %[[LOW:.*]] = arith.muli %[[NUMBER]], %c16
// CHECK-NEXT:    %[[HIGH:.*]] = arith.maxsi %{{.*}}, %[[LOW]]
// CHECK:         scf.for %[[T:.*]] = %[[LOW]] to %[[HIGH]] step %c16
// CHECK:           arith.cmpi slt, %[[T]], %[[FULL]]
// CHECK:           tile.load %{{.*}} [b = %{{.*}}, h = %{{.*}}, t = %[[T]]] until(t = %[[HIGH]])
// EXACT-LABEL: tile.kernel @pairs grid(%{{.*}} in b, %{{.*}} in g, %{{.*}} in ceildiv(u, 24)) longest(first, t * 100)
// EXACT-NOT:     arith.floordivsi
// EXACT:         %[[SEEN:.*]] = arith.maxsi %[[OFFSET:.*]], %
// EXACT:         %[[BEGIN:.*]] = arith.subi %[[SEEN]], %[[OFFSET]]
// EXACT:         scf.for %{{.*}} = %[[BEGIN]] to %{{.*}} step %c16
taylor.function @f.backward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "saved:z" %z: !row, "cotangent:o" %do: !o) {
  %dk, %dv = taylor.pairwise { s = dot(%q, %k), p = dot(%do, %v), w = exp(s), ds = (p + %z) * w } visible(u <= t)
             -> columns(ds, %q), columns(w, %do) : !q, !k, !o, !v, !row -> !k, !v
  taylor.yield "gradient:k" %dk, "gradient:v" %dv : !k, !v
}

// Chunks end where they do: where they are no multiple of the step, loops begin as they did.
// CHECK-LABEL: tile.program @chunks.backward
// CHECK-NOT:     arith.floordivsi %{{.*}}, %c16
// CHECK:         tile.store
taylor.function @chunks.backward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "saved:z" %z: !row, "cotangent:o" %do: !o) {
  %dk, %dv = taylor.pairwise { s = dot(%q, %k), p = dot(%do, %v), w = exp(s), ds = (p + %z) * w } visible(u <= t) chunk(40)
             -> columns(ds, %q), columns(w, %do) : !q, !k, !o, !v, !row -> !k, !v
  taylor.yield "gradient:k" %dk, "gradient:v" %dv : !k, !v
}
