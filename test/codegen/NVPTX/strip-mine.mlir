// Products and what lies between them are made for a part of the inner tokens at a time.
// RUN: taylor-opt %s --split-input-file --taylor-simt-strip-mine="registers=100 strip=32" | FileCheck %s
// RUN: taylor-opt %s --split-input-file --taylor-simt-strip-mine="registers=144 strip=32" | FileCheck %s --check-prefix=FITS
// RUN: not taylor-opt %s --split-input-file --taylor-simt-strip-mine=strip=24 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: expected strip to be a multiple of 16, but got 24

#scores = #simt.layout<lane = [t:2, t:4, u:1, u:2, u:4], warp = [], register = [t:1*2, u:8*2, t:8*8]>
#row = #simt.layout<lane = [t:2, t:4, _, _, _], warp = [], register = [t:1*2, t:8*8]>
#sum = #simt.layout<lane = [e:2, e:4, u:1, u:2, u:4], warp = [], register = [e:1*2, u:8*2, e:8*8]>
!scores = !tile.tile<[t = 64, u = 16], f32, #scores>
!weights = !tile.tile<[t = 64, u = 16], bf16, #scores>
!row = !tile.tile<[t = 64], f32, #row>
!sum = !tile.tile<[e = 64, u = 16], f32, #sum>
!keys = !simt.buffer<1 x [u = 16, e = 64], bf16, swizzle = 128>
!queries = !simt.buffer<1 x [t = 64, e = 64], bf16, swizzle = 128>
!rows = !simt.buffer<1 x [t = 64], f32>

// FITS-NOT: simt.part
// The scores come from a branch and stay whole, and what is read between in one piece too. The loop carries 32 registers and computes 64.
// CHECK-LABEL: @pairs
// CHECK:         %[[S:.*]] = scf.if
// CHECK:         %[[DO0:.*]] = simt.part %[[DO:.*]] from 0 : !simt.buffer<1 x [t = 64, e = 64], bf16, swizzle = 128> -> !simt.buffer<1 x [t = 32, e = 64], bf16, swizzle = 128, panel = 64>
// CHECK-NEXT:    %[[P0:.*]] = simt.dot mma16 %{{.*}}, %[[DO0]] over(e) {{.*}} -> !tile.tile<[t = 32, u = 16], f32, #[[STRIP:.*]]>
// CHECK-NEXT:    %[[L0:.*]] = simt.part %{{.*}} from 0 : !simt.buffer<1 x [t = 64], f32> -> !simt.buffer<1 x [t = 32], f32>
// CHECK-NEXT:    %[[R0:.*]] = simt.read %[[L0]]
// CHECK-NEXT:    %[[S0:.*]] = tile.slice %[[S]][t = 0, 32] : {{.*}} -> !tile.tile<[t = 32, u = 16], f32, #[[STRIP]]>
// CHECK-NEXT:    %[[W0:.*]] = tile.map (%{{.*}} = %[[S0]], %{{.*}} = %[[P0]], %{{.*}} = %[[R0]])
// CHECK:         %[[SUM0:.*]] = simt.dot mma16 %[[W0]], %[[DO0]] over(t) into %[[C:.*]] : !tile.tile<[t = 32, u = 16], bf16, #[[STRIP]]>
// CHECK-NEXT:    simt.fence
// CHECK-NEXT:    %[[DO1:.*]] = simt.part %[[DO]] from 32
// CHECK-NEXT:    simt.dot mma16 %{{.*}}, %[[DO1]] over(e)
// CHECK:         tile.slice %[[S]][t = 32, 32]
// CHECK:         %[[SUM1:.*]] = simt.dot mma16 %{{.*}}, %[[DO1]] over(t) into %[[SUM0]]
// CHECK-NEXT:    scf.yield %[[SUM1]]
tile.program @forward {
  tile.kernel @pairs grid(%i in b) {
    %k = simt.alloc "k" at 0 : !keys
    %q = simt.alloc "q" at 2048 : !queries
    %do = simt.alloc "o" at 10240 : !queries
    %l = simt.alloc "l" at 18432 : !rows
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tile.size "t"
    %zero = arith.constant 0.0 : f32
    %none = tile.splat %zero : f32 -> !sum
    %low = tile.splat %zero : f32 -> !scores
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%sum = %none) -> (!sum) {
      %s = simt.dot mma16 %k, %q over(e) : !keys, !queries -> !scores
      %cut = arith.cmpi slt, %j, %n : index
      %x = scf.if %cut -> (!scores) {
        scf.yield %low : !scores
      } else {
        scf.yield %s : !scores
      }
      %p = simt.dot mma16 %k, %do over(e) : !keys, !queries -> !scores
      %row = simt.read %l : !rows -> !row
      %w = tile.map (%a = %x, %b = %p, %c = %row) : (!scores, !scores, !row) -> !weights {
        %0 = arith.addf %b, %c : f32
        %1 = arith.mulf %a, %0 : f32
        %2 = arith.truncf %1 : f32 to bf16
        tile.yield %2 : bf16
      }
      %next = simt.dot mma16 %w, %do over(t) into %sum : !weights, !queries -> !sum
      scf.yield %next : !sum
    }
  }
}

// -----

#scores = #simt.layout<lane = [t:2, t:4, u:1, u:2, u:4], warp = [], register = [t:1*2, u:8*2, t:8*8]>
#sum = #simt.layout<lane = [e:2, e:4, u:1, u:2, u:4], warp = [], register = [e:1*2, u:8*2, e:8*8]>
#row = #simt.layout<lane = [_, _, u:1, u:2, u:4], warp = [], register = [u:8*2]>
!scores = !tile.tile<[t = 64, u = 16], f32, #scores>
!weights = !tile.tile<[t = 64, u = 16], bf16, #scores>
!sum = !tile.tile<[e = 64, u = 16], f32, #sum>
!row = !tile.tile<[u = 16], f32, #row>
!keys = !simt.buffer<1 x [u = 16, e = 64], bf16, swizzle = 128>
!queries = !simt.buffer<1 x [t = 64, e = 64], bf16, swizzle = 128>

// A product before a barrier cannot be made behind it; a weight that a reduction reads is whole, and so is what it is computed from.
// CHECK-LABEL: @whole
// CHECK-NOT:     simt.part
tile.program @forward {
  tile.kernel @whole grid(%i in b) {
    %k = simt.alloc "k" at 0 : !keys
    %q = simt.alloc "q" at 2048 : !queries
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tile.size "t"
    %zero = arith.constant 0.0 : f32
    %none = tile.splat %zero : f32 -> !sum
    %low = tile.splat %zero : f32 -> !row
    %r:3 = scf.for %j = %c0 to %n step %c1 iter_args(%a = %none, %b = %none, %m = %low) -> (!sum, !sum, !row) {
      %s = simt.dot mma16 %k, %q over(e) : !keys, !queries -> !scores
      simt.barrier
      %w = tile.map (%x = %s) : (!scores) -> !weights {
        %0 = arith.truncf %x : f32 to bf16
        tile.yield %0 : bf16
      }
      %a1 = simt.dot mma16 %w, %q over(t) into %a : !weights, !queries -> !sum
      simt.barrier
      %p = simt.dot mma16 %k, %q over(e) : !keys, !queries -> !scores
      %v = tile.map (%x = %p) : (!scores) -> !weights {
        %0 = arith.truncf %x : f32 to bf16
        tile.yield %0 : bf16
      }
      %m1 = tile.reduce sum %p over(t) : !scores -> !row
      %b1 = simt.dot mma16 %v, %q over(t) into %b : !weights, !queries -> !sum
      scf.yield %a1, %b1, %m1 : !sum, !sum, !row
    }
  }
}
