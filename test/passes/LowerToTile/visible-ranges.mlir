// Ranges that a mask joins by `or`: each has its tiles, and what lies between two of them is left out.
// RUN: taylor-opt %s --taylor-tile-pipeline --canonicalize --cse --split-input-file | FileCheck %s
// RUN: taylor-opt %s --taylor-tile-pipeline=tiles=loops=single,queries=16,keys=32 --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=SINGLE
!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
!o = !taylor.array<[b, h, t, e = 8], f32>

// A window and the first keys. The loop over the two ranges goes around the loops over tiles, which are written once; a tile sees its range alone.
// CHECK-LABEL: tile.kernel @attend
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2 : index
// CHECK:         scf.for %[[RANGE:[^ ]*]] = %[[ZERO]] to %[[TWO]] step %[[ONE]] iter_args
// CHECK:           arith.cmpi eq, %[[RANGE]], %[[ZERO]]
// CHECK:           scf.for
// CHECK:           scf.for
// CHECK-NOT:       scf.for
// CHECK:         tile.store
// SINGLE-LABEL: tile.kernel @attend
// SINGLE:         %[[KEYS:.*]] = tile.size "u"
// SINGLE:         scf.for %[[RANGE:[^ ]*]] =
// SINGLE-NEXT:      %[[IS_FIRST:.*]] = arith.cmpi eq, %[[RANGE]]
// SINGLE-NEXT:      %[[BEGIN:.*]] = arith.select %[[IS_FIRST]]
// SINGLE:           scf.for %{{.*}} = %[[BEGIN]] to %[[END:[^ ]*]] step
// SINGLE:             tile.load %{{.*}} until(u = %[[END]])
// SINGLE:             scf.if
// SINGLE:               arith.ori
// SINGLE:               arith.cmpi slt, %[[U:.*]], %[[END]] : index
// SINGLE:               arith.cmpi sge, %[[U]], %[[BEGIN]] : index
// SINGLE-NOT:       scf.for
// SINGLE:         tile.store
taylor.function @two.forward of @two("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n = taylor.pairwise { s = dot(%q, %k) } visible(and(u <= t, or(t - u < 40.0, u < 4.0))) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
!o = !taylor.array<[b, h, t, e = 8], f32>

// All three begin at key 0: one range.
// SINGLE-LABEL: tile.kernel @attend
// SINGLE:         scf.for
// SINGLE-NOT:     scf.for
// SINGLE:         tile.store
taylor.function @prefix.forward of @prefix("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n = taylor.pairwise { s = dot(%q, %k) } visible(or(or(u <= t, u < 40.0), u < 50.0)) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!a = !taylor.array<[b, h, t, e = 8], f32>
!dv = !taylor.array<[b, g, u, e = 8], f32>

// Loops over blocks of keys, heads and queries: of a block of keys a condition on keys alone shows all queries or none, which is one range with any other.
// SINGLE-LABEL: tile.kernel @pairs
// SINGLE-COUNT-3: scf.for
// SINGLE:           tile.dot
// SINGLE-NOT:     scf.for
// SINGLE:         tile.store
taylor.function @columns.backward of @columns("input:q" %q: !q, "input:k" %k: !k, "cotangent:a" %a: !a) {
  %n = taylor.pairwise { s = dot(%q, %k) } visible(or(abs(t - u) < 40.0, u < 4.0)) -> columns(s, %a) : !q, !k, !a -> !dv
  taylor.yield "grad:v" %n : !dv
}

// -----

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
!o = !taylor.array<[b, h, t, e = 8], f32>

// An absolute value has a bound on either side.
// SINGLE-LABEL: tile.kernel @attend
// SINGLE-DAG:     %[[BEHIND:.*]] = arith.constant 39 : index
// SINGLE-DAG:     %[[AHEAD:.*]] = arith.constant 40 : index
// SINGLE:         scf.for
// SINGLE-NOT:     scf.for
// SINGLE:         tile.store
taylor.function @near.forward of @near("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n = taylor.pairwise { s = dot(%q, %k) } visible(abs(t - u) < 40.0) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
!o = !taylor.array<[b, h, t, e = 8], f32>

// Of five ranges the last two are one: a list has four.
// SINGLE-LABEL: tile.kernel @attend
// SINGLE:         %[[FOUR:.*]] = arith.constant 4 : index
// SINGLE:         scf.for %{{.*}} = %{{.*}} to %[[FOUR]]
// SINGLE:           scf.for
// SINGLE-NOT:     scf.for
// SINGLE:         tile.store
taylor.function @five.forward of @five("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n = taylor.pairwise { s = dot(%q, %k) }
      visible(or(or(or(u == 3.0, u == 103.0), or(u == 203.0, u == 303.0)), u == 403.0)) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}
