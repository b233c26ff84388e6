// Bounds of loops that lie in memory: every thread reads the one element, 0 past the end of the array, and the loop begins there.
// RUN: taylor-opt %s --taylor-simt-pipeline --taylor-simt-lower-to-nvvm | FileCheck %s

!x = !tile.array<[b, t], f32>
!t = !tile.tile<[t = 32], f32>
// The place in the grid is inside: nothing is compared for b. The token may be past the end.
// CHECK-LABEL: llvm.func @sums_sums
// CHECK:       %[[PLACE:.*]] = arith.muli %{{.*}}, %c32_i64{{[_0-9]*}} : i64
// CHECK-NEXT:  %[[PAST:.*]] = arith.addi %[[PLACE]], %c32_i64{{[_0-9]*}} : i64
// CHECK-NOT:   arith.cmpi
// CHECK:       %[[INSIDE:.*]] = arith.cmpi ult, %[[PAST]], %arg3 : i64
// CHECK-NOT:   arith.cmpi
// CHECK:       %[[BITS:.*]] = llvm.inline_asm {{.*}}@$2 ld.global.b32 $0, [$1];{{.*}} %{{.*}}, %[[INSIDE]] :
// CHECK:       %[[NUMBER:.*]] = llvm.bitcast %[[BITS]] : i32 to f32
// CHECK:       %[[FIRST:.*]] = arith.fptosi %[[NUMBER]] : f32 to i64
// CHECK:       arith.cmpi slt, %[[FIRST]], %arg3 : i64
tile.program @sums {
  %x = tile.tensor "input:x" : !x
  %y = tile.tensor "output:y" : !x
  %starts = tile.workspace "starts" : !x
  tile.kernel @sums grid(%b in b, %i in ceildiv(t, 32)) {
    %c32 = arith.constant 32 : index
    %T = tile.size "t"
    %t0 = arith.muli %i, %c32 : index
    %zero = arith.constant 0.0 : f32
    %none = tile.splat %zero : f32 -> !t
    %past = arith.addi %t0, %c32 : index
    %first = tile.lookup %starts[%b, %past] : !x
    %sum = scf.for %j = %first to %T step %c32 iter_args(%before = %none) -> (!t) {
      %v = tile.load %x[b = %b, t = %j] : !x -> !t
      %after = tile.map (%s = %before, %a = %v) : (!t, !t) -> !t {
        %0 = arith.addf %s, %a : f32
        tile.yield %0 : f32
      }
      scf.yield %after : !t
    }
    tile.store %sum, %y[b = %b, t = %t0] : !t, !x
  }
}
