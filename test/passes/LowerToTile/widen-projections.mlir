// RUN: taylor-opt %s --taylor-widen-projections --cse | FileCheck %s

!a = !tile.array<[t, e = 16], f32>
!half = !tile.array<[t, e = 16], bf16>
!row = !tile.array<[t], f32>
!te = !tile.tile<[e = 16, t = 64], f32>
!t = !tile.tile<[t = 64], f32>

// y is read by the projection and, rounded as the forward rounded it, by a later kernel: it is computed in both types. The gradient of
// the row follows from the projection.
// CHECK-LABEL: tile.program @copies_what_others_read
// CHECK:         %[[X:.*]] = tile.load %0 {{.*}} -> !tile.tile<[e = 16, t = 64], f32>
// CHECK:         %[[XW:.*]] = tile.load %0 {{.*}} -> !tile.tile<[e = 16, t = 64], f64>
// CHECK:         %[[Y:.*]] = tile.map (%{{.*}} = %[[X]]) : {{.*}} -> !tile.tile<[e = 16, t = 64], f32>
// CHECK:           arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:         %[[YW:.*]] = tile.map (%{{.*}} = %[[XW]]) : {{.*}} -> !tile.tile<[e = 16, t = 64], f64>
// CHECK-NEXT:      arith.mulf %{{.*}}, %{{.*}} : f64
// CHECK:         tile.store %[[Y]], %4
// CHECK:         %[[GW:.*]] = tile.load %1 {{.*}} -> !tile.tile<[e = 16, t = 64], f64>
// CHECK:         %[[PW:.*]] = tile.map (%{{.*}} = %[[GW]], %{{.*}} = %[[YW]]) : {{.*}} f64
// CHECK:         %[[SW:.*]] = tile.reduce sum %[[PW]] over(e) : {{.*}} -> !tile.tile<[t = 64], f64>
// CHECK:         %[[DW:.*]] = tile.map (%{{.*}} = %[[GW]], %{{.*}} = %[[YW]], %{{.*}} = %[[SW]]) : {{.*}} f64
// CHECK:         tile.store %[[DW]], %2 {{.*}} : !tile.tile<[e = 16, t = 64], f64>, !tile.array<[t, e = 16], f32>
// CHECK:         %[[RW:.*]] = tile.reduce sum %[[DW]] over(e) : {{.*}} f64
// CHECK:         tile.store %[[RW]], %3 {{.*}} : !tile.tile<[t = 64], f64>, !tile.array<[t], f32>
tile.program @copies_what_others_read {
  %0 = tile.tensor "input:x" : !a
  %1 = tile.tensor "cotangent:o" : !a
  %2 = tile.tensor "gradient:x" : !a
  %3 = tile.tensor "gradient:gate" : !row
  %4 = tile.workspace "y" : !a
  tile.kernel @rows grid(%i in ceildiv(t, 64)) {
    %c64 = arith.constant 64 : index
    %third = arith.constant 0.333333333 : f32
    %t0 = arith.muli %i, %c64 : index
    %x = tile.load %0[t = %t0] : !a -> !te
    %y = tile.map (%a = %x) : (!te) -> !te {
      %r = arith.mulf %a, %third : f32
      tile.yield %r : f32
    }
    tile.store %y, %4[t = %t0] : !te, !a
    %g = tile.load %1[t = %t0] : !a -> !te
    %p = tile.map (%a = %g, %b = %y) : (!te, !te) -> !te {
      %r = arith.mulf %a, %b : f32
      tile.yield %r : f32
    }
    %s = tile.reduce sum %p over(e) : !te -> !t
    %d = tile.map (%a = %g, %b = %y, %c = %s) : (!te, !te, !t) -> !te {
      %m = arith.mulf %b, %c : f32
      %r = arith.subf %a, %m : f32
      tile.yield %r : f32
    }
    tile.store %d, %2[t = %t0] : !te, !a
    %row = tile.reduce sum %d over(e) : !te -> !t
    tile.store %row, %3[t = %t0] : !t, !row
  }
}

// A sum that meets its axis no more; a norm without a cotangent; a storage type with fewer digits; a product.
// CHECK-LABEL: tile.program @leaves_the_rest
// CHECK-NOT:     f64
tile.program @leaves_the_rest {
  %0 = tile.tensor "input:x" : !a
  %1 = tile.tensor "cotangent:o" : !a
  %2 = tile.tensor "gradient:row" : !row
  %3 = tile.tensor "output:o" : !a
  %4 = tile.tensor "cotangent:half" : !half
  %5 = tile.tensor "input:w" : !tile.array<[e = 16], f32>
  tile.kernel @does_not_return grid(%i in ceildiv(t, 64)) {
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %g = tile.load %1[t = %t0] : !a -> !te
    %s = tile.reduce sum %g over(e) : !te -> !t
    tile.store %s, %2[t = %t0] : !t, !row
  }
  tile.kernel @has_no_cotangent grid(%i in ceildiv(t, 64)) {
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %x = tile.load %0[t = %t0] : !a -> !te
    %s = tile.reduce sum %x over(e) : !te -> !t
    %d = tile.map (%a = %x, %b = %s) : (!te, !t) -> !te {
      %r = arith.subf %a, %b : f32
      tile.yield %r : f32
    }
    tile.store %d, %3[t = %t0] : !te, !a
  }
  tile.kernel @has_half_the_digits grid(%i in ceildiv(t, 64)) {
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %x = tile.load %4[t = %t0] : !half -> !te
    %s = tile.reduce sum %x over(e) : !te -> !t
    %d = tile.map (%a = %x, %b = %s) : (!te, !t) -> !te {
      %r = arith.subf %a, %b : f32
      tile.yield %r : f32
    }
    tile.store %d, %3[t = %t0] : !te, !a
  }
  tile.kernel @multiplies grid(%i in ceildiv(t, 64)) {
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %g = tile.load %1[t = %t0] : !a -> !te
    %w = tile.load %5[] : !tile.array<[e = 16], f32> -> !tile.tile<[e = 16], f32>
    %p = tile.dot %g, %w over(e) : !te, !tile.tile<[e = 16], f32> -> !t
    %s = tile.reduce sum %g over(e) : !te -> !t
    %d = tile.map (%a = %g, %b = %s, %c = %p) : (!te, !t, !t) -> !te {
      %m = arith.mulf %b, %c : f32
      %r = arith.subf %a, %m : f32
      tile.yield %r : f32
    }
    tile.store %d, %3[t = %t0] : !te, !a
  }
}
