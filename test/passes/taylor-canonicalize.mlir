// The canonical form of every operation: what no one reads goes, and so does a factor of one.
// RUN: taylor-opt %s --taylor-canonicalize --mlir-pass-statistics 2>&1 | FileCheck %s
// RUN: taylor-opt %s --taylor-canonicalize | taylor-opt --taylor-canonicalize --mlir-pass-statistics 2>&1 | FileCheck %s --check-prefix=AGAIN

!o = !taylor.array<[b, h, t, e]>

// CHECK:      1 changed
// AGAIN-NOT:  changed
// AGAIN:      taylor.function
// CHECK-LABEL: taylor.function @one_of_two
// CHECK-NEXT:   %[[Y:.*]] = taylor.map exp(%x)
// CHECK-NEXT:   taylor.yield "output:y" %[[Y]]
taylor.function @one_of_two of @f("input:x" %x: !o) {
  %y = taylor.map 1.0 * exp(%x) : !o
  %z = taylor.map exp(%y) : !o
  taylor.yield "output:y" %y : !o
}
