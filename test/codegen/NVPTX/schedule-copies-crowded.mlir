// Where the buffers of all loops have no room next to each other, what a loop around others copies is copied where it is read; copies of innermost
// loops still run ahead.
// RUN: taylor-opt %s --taylor-simt-schedule-copies=shared=512 | FileCheck %s --check-prefix=ROOM
// RUN: taylor-opt %s --taylor-simt-schedule-copies=shared=511 | FileCheck %s
#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!xb = !simt.buffer<1 x [t = 64], f32>
!xs = !tile.array<[b, t], f32>

// ROOM: simt.alloc "outer" ahead
// ROOM: simt.alloc "inner" ahead
// CHECK: %[[OUTER:.*]] = simt.alloc "outer" : !simt.buffer<1 x
// CHECK: %[[INNER:.*]] = simt.alloc "inner" ahead : !simt.buffer<1 x
// CHECK-NOT: simt.copy
// CHECK: scf.for
// CHECK: simt.copy %{{.*}}, %[[OUTER]] :
// CHECK: simt.copy %{{.*}}, %[[INNER]] if
// CHECK: scf.for
// CHECK: simt.read %[[INNER]]
// CHECK: simt.copy %{{.*}}, %[[INNER]] if
tile.program @forward {
  %xs = tile.tensor "input:x" : !xs
  %ys = tile.tensor "input:y" : !xs
  %os = tile.tensor "output:o" : !xs
  tile.kernel @loops grid(%i in b) {
    %outer = simt.alloc "outer" : !xb
    %inner = simt.alloc "inner" : !xb
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !x
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %n = tile.size "t"
    %sum = scf.for %j = %c0 to %n step %c64 iter_args(%s = %x) -> (!x) {
      simt.copy %xs[b = %i, t = %j], %outer : !xs, !xb
      %a = simt.read %outer : !xb -> !x
      %total = scf.for %k = %c0 to %n step %c64 iter_args(%r = %a) -> (!x) {
        simt.copy %ys[b = %i, t = %k], %inner : !xs, !xb
        %b = simt.read %inner : !xb -> !x
        %c = tile.map (%p = %r, %q = %b) : (!x, !x) -> !x {
          %1 = arith.addf %p, %q : f32
          tile.yield %1 : f32
        }
        scf.yield %c : !x
      }
      scf.yield %total : !x
    }
    tile.store %sum, %os[b = %i, t = %c0] : !x, !xs
  }
}
