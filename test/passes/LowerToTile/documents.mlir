// Loops over pairs of one document begin and end with the documents of their block: where those start and end is read in memory. A count is none over pairs.
// RUN: taylor-opt %s --taylor-plan-kernels --taylor-lower-to-tile | FileCheck %s

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
!o = !taylor.array<[b, h, t, e = 8], f32>
!bu = !taylor.array<[b, u], f32>
!bt = !taylor.array<[b, t], f32>

// Under a causal mask keys end with the query, so only starts are read; a row's count is its position less the start.
// CHECK-LABEL: tile.program @rows
// CHECK:         %[[STARTS:.*]] = tile.workspace "scan_2.0" : !tile.array<[b, u], f32>
// CHECK:         tile.kernel @attend grid
// CHECK:           %[[FIRST:.*]] = tile.lookup %[[STARTS]]
// CHECK:           arith.maxsi %{{.*}}, %[[FIRST]]
// CHECK:           tile.lookup %[[STARTS]]
// CHECK-NOT:       tile.lookup
// CHECK:           scf.for
// CHECK:         tile.kernel @attend_2 grid
// CHECK-NOT:       scf.for
// CHECK:           arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK-NOT:       scf.for
taylor.function @rows of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:n" %n: !taylor.array<[b, u], i32>) {
  %number = taylor.scan max over(u) %n : !taylor.array<[b, u], i32> -> !bu
  %before = taylor.scan shift(1) over(u) %number : !bu
  %first = taylor.scan max over(u) select(%number == %before, 0.0, u) : !bu, !bu
  %rows = taylor.align %first to t : !bu
  %c = taylor.pairwise { } visible(and(u <= t, %rows == %first)) -> rows(1.0) : !bt, !bu -> !bt
  %o = taylor.pairwise { s = dot(%q, %k) } visible(and(u <= t, %rows == %first)) -> rows(s, %v) : !q, !k, !bt, !bu, !v -> !o
  taylor.yield "output:o" %o, "output:c" %c : !o, !bt
}

// Queries end with the last key's document.
// CHECK-LABEL: tile.program @columns
// CHECK:         tile.kernel @scan_3
// CHECK:           tile.scan max %{{.*}} over(u) within(%{{.*}}) reverse
// CHECK:         tile.kernel @pairs
// CHECK-COUNT-4:   tile.lookup
taylor.function @columns of @f("input:q" %q: !q, "input:k" %k: !k, "input:o" %o: !o, "input:n" %n: !taylor.array<[b, u], i32>) {
  %number = taylor.scan max over(u) %n : !taylor.array<[b, u], i32> -> !bu
  %before = taylor.scan shift(1) over(u) %number : !bu
  %first = taylor.scan max over(u) select(%number == %before, 0.0, u) : !bu, !bu
  %rows = taylor.align %first to t : !bu
  %v = taylor.pairwise { s = dot(%q, %k) } visible(and(u <= t, %rows == %first)) -> columns(s, %o) : !q, !k, !bt, !bu, !o -> !v
  taylor.yield "output:v" %v : !v
}

// Numbers that are no places bound nothing: all tiles are masked.
// CHECK-LABEL: tile.program @numbers
// CHECK-NOT:     tile.lookup
taylor.function @numbers of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:n" %n: !taylor.array<[b, u], i32>) {
  %number = taylor.scan max over(u) %n : !taylor.array<[b, u], i32> -> !bu
  %rows = taylor.align %number to t : !bu
  %o = taylor.pairwise { s = dot(%q, %k) } visible(and(u <= t, %rows == %number)) -> rows(s, %v) : !q, !k, !bt, !bu, !v -> !o
  taylor.yield "output:o" %o : !o
}

// Places of each head's documents are not one place for a block of heads: all tiles are masked.
// CHECK-LABEL: tile.program @heads
// CHECK-NOT:     tile.lookup
taylor.function @heads of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:n" %n: !taylor.array<[b, g, u], f32>) {
  %number = taylor.scan max over(u) %n : !taylor.array<[b, g, u], f32>
  %before = taylor.scan shift(1) over(u) %number : !taylor.array<[b, g, u], f32>
  %first = taylor.scan max over(u) select(%number == %before, 0.0, u) : !taylor.array<[b, g, u], f32>, !taylor.array<[b, g, u], f32>
  %rows = taylor.align %first to t : !taylor.array<[b, g, u], f32>
  %o = taylor.pairwise { s = dot(%q, %k) } visible(and(u <= t, %rows == %first)) -> rows(s, %v) : !q, !k, !taylor.array<[b, g, t], f32>, !taylor.array<[b, g, u], f32>, !v -> !o
  taylor.yield "output:o" %o : !o
}

// A causal mask bounds the keys of a chunk by itself: they are compared with the query and with the last key, not with the chunk's end.
// CHECK-LABEL: tile.program @chunks
// CHECK:         tile.kernel @attend grid
// CHECK:           arith.cmpf oeq
// CHECK-NEXT:      arith.andi
// CHECK-NEXT:      arith.cmpi slt
// CHECK-NEXT:      arith.andi
// CHECK-NEXT:      arith.constant
// CHECK-NEXT:      arith.select
taylor.function @chunks of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:n" %n: !taylor.array<[b, u], i32>) {
  %number = taylor.scan max over(u) %n : !taylor.array<[b, u], i32> -> !bu
  %before = taylor.scan shift(1) over(u) %number : !bu
  %first = taylor.scan max over(u) select(%number == %before, 0.0, u) : !bu, !bu
  %rows = taylor.align %first to t : !bu
  %o = taylor.pairwise { s = dot(%q, %k) } visible(and(u <= t, %rows == %first)) chunk(128) -> rows(s, %v) : !q, !k, !bt, !bu, !v -> !o
  taylor.yield "output:o" %o : !o
}

// Where later keys are visible, a row's count is its document's end less its start. Within chunks a loop begins and ends with its chunk, on both sides; a tile of keys across an edge
// pairs neither side with the other.
// CHECK-LABEL: tile.program @both
// CHECK:         tile.kernel @attend grid
// CHECK:           %[[NUMBER:.*]] = arith.floordivsi %{{.*}}, %c128
// CHECK:           %[[TOKENS:.*]] = arith.muli %[[NUMBER]], %c128
// CHECK:           %[[BEGIN:.*]] = arith.addi %{{.*}}, %[[TOKENS]]
// CHECK-COUNT-2:   arith.maxsi %{{.*}}, %[[BEGIN]]
// CHECK:           %[[END:.*]] = arith.addi %[[BEGIN]], %c128
// CHECK:           arith.minsi %{{.*}}, %[[END]]
// CHECK:           scf.for
// CHECK:         tile.kernel @attend_2 grid
// CHECK-NOT:       scf.for
// CHECK:           arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK:           arith.minimumf %{{.*}}, %{{.*}} : f32
// CHECK-NOT:       scf.for
// CHECK:         tile.kernel @pairs
// CHECK:             arith.cmpf oeq
// CHECK-COUNT-2:     arith.cmpi slt
// CHECK:             %[[EARLIERKEY:.*]] = arith.cmpi slt, %{{.*}}, %[[EDGE:.*]] : index
// CHECK:             %[[EARLIERQUERY:.*]] = arith.cmpi slt, %{{.*}}, %[[EDGE]] : index
// CHECK:             arith.cmpi eq, %[[EARLIERKEY]], %[[EARLIERQUERY]] : i1
taylor.function @both of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:y" %y: !o, "input:n" %n: !taylor.array<[b, u], i32>) {
  %number = taylor.scan max over(u) %n : !taylor.array<[b, u], i32> -> !bu
  %before = taylor.scan shift(1) over(u) %number : !bu
  %first = taylor.scan max over(u) select(%number == %before, 0.0, u) : !bu, !bu
  %rows = taylor.align %first to t : !bu
  %c = taylor.pairwise { } visible(%rows == %first) -> rows(1.0) : !bt, !bu -> !bt
  %o = taylor.pairwise { s = dot(%q, %k) } visible(%rows == %first) chunk(128) -> rows(s, %v) : !q, !k, !bt, !bu, !v -> !o
  %g = taylor.pairwise { s = dot(%q, %k) } visible(%rows == %first) chunk(128) -> columns(s, %y) : !q, !k, !bt, !bu, !o -> !v
  taylor.yield "output:o" %o, "output:c" %c, "output:g" %g : !o, !bt, !v
}
