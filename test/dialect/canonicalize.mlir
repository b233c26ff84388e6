// RUN: taylor-opt %s --canonicalize | FileCheck %s
!row = !taylor.array<[b, h, t]>
!o = !taylor.array<[b, h, t, e]>

// A map that gives its operand back is the operand.
// CHECK-LABEL: taylor.spec @identity
// CHECK-NEXT: taylor.yield "o" %x
taylor.spec @identity(%x: !row) {
  %o = taylor.map %x : !row
  taylor.yield %o : !row
}

// Not with a guard, which makes rows 0; not where it widens; not where it converts.
// CHECK-LABEL: taylor.spec @kept
// CHECK-NEXT: taylor.map %x live(%c) : !bht, !bht
// CHECK-NEXT: taylor.map %x : !bht -> !bhte
// CHECK-NEXT: taylor.map %y : !bht_bf16{{$}}
taylor.spec @kept(%x: !row, %c: !row, %y: !taylor.array<[b, h, t], bf16>) {
  %0 = taylor.map %x live(%c) : !row, !row
  %1 = taylor.map %x : !row -> !o
  %2 = taylor.map %y : !taylor.array<[b, h, t], bf16> -> !taylor.array<[b, h, t], f32>
  taylor.yield %0, %1, %2 : !row, !o, !taylor.array<[b, h, t], f32>
}

// Constants fold inside formulas; what nobody reads goes.
// CHECK-LABEL: taylor.spec @constants
// CHECK-NEXT: taylor.map %x * 6.0 : !bht
// CHECK-NEXT: taylor.yield
taylor.spec @constants(%x: !row) {
  %unused = taylor.map exp(%x) : !row
  %o = taylor.map %x * (2.0 * 3.0) : !row
  taylor.yield %o : !row
}
