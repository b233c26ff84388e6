// Kernels of two functions that come out as the same code are one function: here `double`, whose array of results is
// the first workspace of both programs. `again` of the second writes to another place.
//
// RUN: taylor-opt %s --taylor-lower-tile-to-vector=target=x86-64-v4 | FileCheck %s

!row = !tile.array<[t], f32>
!t = !tile.tile<[t = 64], f32>

// CHECK:     func.func private @taylor.forward.double(
// CHECK-NOT: func.func private
// CHECK:     func.func @taylor_forward_run(
// CHECK:       call @taylor.forward.double(
tile.program @forward {
  %x = tile.tensor "input:x" : !row
  %y = tile.workspace "double.0" : !row
  tile.kernel @double grid(%i in ceildiv(t, 64)) {
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %a = tile.load %x[t = %t0] : !row -> !t
    %b = tile.map (%c = %a) : (!t) -> !t {
      %d = arith.addf %c, %c : f32
      tile.yield %d : f32
    }
    tile.store %b, %y[t = %t0] : !t, !row
  }
}

// CHECK-NOT: @taylor.backward.double
// CHECK:     func.func private @taylor.backward.again(
// CHECK-NOT: @taylor.backward.double
// CHECK:     func.func @taylor_backward_run(
// CHECK:       call @taylor.forward.double(
// CHECK:       call @taylor.backward.again(
tile.program @backward {
  %x = tile.tensor "input:x" : !row
  %g = tile.tensor "output:g" : !row
  %y = tile.workspace "double.0" : !row
  %z = tile.workspace "again.0" : !row
  tile.kernel @double grid(%i in ceildiv(t, 64)) {
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %a = tile.load %x[t = %t0] : !row -> !t
    %b = tile.map (%c = %a) : (!t) -> !t {
      %d = arith.addf %c, %c : f32
      tile.yield %d : f32
    }
    tile.store %b, %y[t = %t0] : !t, !row
  }
  tile.kernel @again grid(%i in ceildiv(t, 64)) {
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %a = tile.load %x[t = %t0] : !row -> !t
    %b = tile.map (%c = %a) : (!t) -> !t {
      %d = arith.addf %c, %c : f32
      tile.yield %d : f32
    }
    tile.store %b, %z[t = %t0] : !t, !row
  }
}
