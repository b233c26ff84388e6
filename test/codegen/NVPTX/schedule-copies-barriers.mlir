// Barriers and waits outside of what runs ahead: as few as keep accesses of the same memory in order.
// RUN: taylor-opt %s --split-input-file --taylor-simt-schedule-copies | FileCheck %s --implicit-check-not=simt.barrier --implicit-check-not=simt.wait --implicit-check-not=simt.commit

#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!xb = !simt.buffer<1 x [t = 64], f32>
!xs = !tile.array<[b, t], f32>

// Between a write and a read, and between that read and the next iteration's write.
// CHECK-LABEL: @exchange
// CHECK:       scf.for
// CHECK-NEXT:    simt.barrier
// CHECK-NEXT:    simt.write
// CHECK-NEXT:    simt.barrier
// CHECK-NEXT:    simt.read
// CHECK-NEXT:    scf.yield
tile.program @forward {
  tile.kernel @exchange grid(%b in b) {
    %a = simt.alloc "a" : !xb
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %init = tile.splat %zero : f32 -> !x
    %y = scf.for %j = %c0 to %b step %c1 iter_args(%v = %init) -> (!x) {
      simt.write %v, %a : !x, !xb
      %w = simt.read %a : !xb -> !x
      scf.yield %w : !x
    }
  }
}

// -----

#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!xb = !simt.buffer<1 x [t = 64], f32>

// Two buffers in turn: the barriers between write and read of one are those between read and write of the other.
// CHECK-LABEL: @in_turn
// CHECK:       scf.for
// CHECK:         simt.write %{{.*}}, %[[A:.*]] :
// CHECK-NEXT:    simt.barrier
// CHECK-NEXT:    simt.read %[[A]]
// CHECK-NEXT:    simt.write %{{.*}}, %[[B:.*]] :
// CHECK-NEXT:    simt.barrier
// CHECK-NEXT:    simt.read %[[B]]
// CHECK-NEXT:    scf.yield
tile.program @forward {
  tile.kernel @in_turn grid(%b in b) {
    %a = simt.alloc "a" : !xb
    %d = simt.alloc "d" : !xb
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %init = tile.splat %zero : f32 -> !x
    %y = scf.for %j = %c0 to %b step %c1 iter_args(%v = %init) -> (!x) {
      simt.write %v, %a : !x, !xb
      %w = simt.read %a : !xb -> !x
      simt.write %w, %d : !x, !xb
      %z = simt.read %d : !xb -> !x
      scf.yield %z : !x
    }
  }
}

// -----

#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!xb = !simt.buffer<1 x [t = 64], f32>
!xs = !tile.array<[b, t], f32>

// What a loop only reads is waited for before it, and no barrier stands inside; the two copies are one group. The copy that nothing reads is gone.
// CHECK-LABEL: @resident
// CHECK-COUNT-2: simt.copy
// CHECK-NEXT:  simt.commit
// CHECK-NOT:   simt.copy
// CHECK:       simt.wait 0
// CHECK-NEXT:  simt.barrier
// CHECK-NEXT:  scf.for
// CHECK-NEXT:    simt.read
// CHECK-NEXT:    simt.read
tile.program @forward {
  %xs = tile.tensor "input:x" : !xs
  tile.kernel @resident grid(%b in b) {
    %a = simt.alloc "a" : !xb
    %d = simt.alloc "d" : !xb
    %e = simt.alloc "e" : !xb
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    simt.copy %xs[b = %b], %a : !xs, !xb
    simt.copy %xs[b = %c0], %d : !xs, !xb
    simt.copy %xs[b = %c1], %e : !xs, !xb
    scf.for %j = %c0 to %b step %c1 {
      %y = simt.read %a : !xb -> !x
      %z = simt.read %d : !xb -> !x
    }
  }
}

// -----

#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!xb = !simt.buffer<1 x [t = 64], f32>
!xs = !tile.array<[b, t], f32>

// A window that follows from what the loop carries cannot run ahead, and neither can a copy from an array that the loop writes: each is waited for in place.
// CHECK-LABEL: @in_place
// CHECK:       scf.for
// CHECK-NEXT:    simt.barrier
// CHECK-NEXT:    simt.copy
// CHECK-NEXT:    simt.commit
// CHECK-NEXT:    simt.wait 0
// CHECK-NEXT:    simt.barrier
// CHECK-NEXT:    simt.read
// CHECK:       scf.for
// CHECK-NEXT:    simt.barrier
// CHECK-NEXT:    simt.copy
// CHECK-NEXT:    simt.commit
// CHECK-NEXT:    simt.wait 0
// CHECK-NEXT:    simt.barrier
// CHECK-NEXT:    simt.read
// CHECK-NEXT:    tile.store
tile.program @forward {
  %xs = tile.tensor "input:x" : !xs
  %ys = tile.workspace "y" : !xs
  tile.kernel @in_place grid(%b in b) {
    %a = simt.alloc "a" : !xb
    %d = simt.alloc "d" : !xb
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = scf.for %j = %c0 to %b step %c1 iter_args(%at = %c0) -> (index) {
      simt.copy %xs[b = %at], %a : !xs, !xb
      %y = simt.read %a : !xb -> !x
      %next = arith.addi %at, %j : index
      scf.yield %next : index
    }
    scf.for %j = %c0 to %b step %c1 {
      simt.copy %ys[b = %j], %d : !xs, !xb
      %y = simt.read %d : !xb -> !x
      tile.store %y, %ys[b = %b] : !x, !xs
    }
  }
}

// -----

#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!xb = !simt.buffer<1 x [t = 64], f32>

// A barrier that one branch needs stands in that branch.
// CHECK-LABEL: @branches
// CHECK:       simt.write
// CHECK-NEXT:  scf.if
// CHECK-NEXT:    simt.barrier
// CHECK-NEXT:    simt.read
// CHECK:       simt.barrier
// CHECK-NEXT:  simt.write
tile.program @forward {
  tile.kernel @branches grid(%b in b) {
    %a = simt.alloc "a" : !xb
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !x
    %is = arith.cmpi eq, %b, %c0 : index
    simt.write %x, %a : !x, !xb
    scf.if %is {
      %y = simt.read %a : !xb -> !x
    }
    simt.write %x, %a : !x, !xb
  }
}

// -----

#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
#y = #simt.layout<lane = [t:2, t:4, t:8, t:16, t:32], warp = [t:1], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!y = !tile.tile<[t = 64], f32, #y>
!xs = !tile.array<[b, t], f32>

// Elements that pass through an array to other threads need a barrier; a thread finds its own without.
// CHECK-LABEL: @through_arrays
// CHECK:       tile.store %{{.*}}, %[[A:.*]] [
// CHECK-NEXT:  tile.store %{{.*}}, %[[B:.*]] [
// CHECK-NEXT:  tile.load %[[A]]
// CHECK-NEXT:  simt.barrier
// CHECK-NEXT:  tile.load %[[B]]
tile.program @forward {
  %as = tile.workspace "a" : !xs
  %bs = tile.workspace "b" : !xs
  tile.kernel @through_arrays grid(%b in b) {
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !x
    tile.store %x, %as[b = %b] : !x, !xs
    tile.store %x, %bs[b = %b] : !x, !xs
    %y = tile.load %as[b = %b] : !xs -> !x
    %z = tile.load %bs[b = %b] : !xs -> !y
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!queries = !tile.array<[b, h, t, d = 64], bf16>
!keys = !tile.array<[b, u, d = 64], bf16>
!qb = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!kb = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!st = !tile.tile<[t = 64, u = 64], f32, #s>

// Nested loops: both run ahead. The barrier of the outer loop separates the inner loop from the next copies before it; what the outer loop issues first is in
// the group of what the inner one issues before it, since no wait could tell them apart.
// CHECK-LABEL: @heads
// CHECK:       simt.copy %[[Q:.*]] [b = %{{.*}}, h = %c0]
// CHECK-NEXT:  simt.commit
// CHECK:       scf.for %[[H:.*]] = %c0 to
// CHECK:         simt.wait 0
// CHECK-NEXT:    simt.barrier
// CHECK:         simt.copy %[[Q]] [b = %{{.*}}, h = %{{.*}}], %{{.*}} if
// CHECK:         simt.copy %[[K:.*]] [b = %{{.*}}, u = %c0], %{{.*}} if
// CHECK-NEXT:    simt.commit
// CHECK:         scf.for %[[J:.*]] = %c0 to
// CHECK:           simt.wait 0
// CHECK-NEXT:      simt.barrier
// CHECK:           simt.copy %[[K]] [b = %{{.*}}, u = %{{.*}}], %{{.*}} if
// CHECK-NEXT:      simt.commit
// CHECK-NEXT:      simt.dot
tile.program @forward {
  %q = tile.tensor "input:q" : !queries
  %k = tile.tensor "input:k" : !keys
  tile.kernel @heads grid(%b in b) {
    %qb = simt.alloc "q" : !qb
    %kb = simt.alloc "k" : !kb
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %u = tile.size "u"
    %n = tile.size "h"
    scf.for %h = %c0 to %n step %c1 {
      simt.copy %q[b = %b, h = %h], %qb : !queries, !qb
      scf.for %j = %c0 to %u step %c64 {
        simt.copy %k[b = %b, u = %j], %kb : !keys, !kb
        %s = simt.dot mma16 %qb, %kb over(d) : !qb, !kb -> !st
      }
    }
  }
}

// -----

#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
#y = #simt.layout<lane = [t:2, t:4, t:8, t:16, t:32], warp = [t:1], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!y = !tile.tile<[t = 64], f32, #y>
!xs = !tile.array<[b, t], f32>

// A loop that stores to an array always in the same way needs no barrier, nor one that adds to it; from one to the other threads change.
// CHECK-LABEL: @sums
// CHECK:       scf.for
// CHECK-NEXT:    tile.store
// CHECK-NEXT:  }
// CHECK-NEXT:  simt.barrier
// CHECK-NEXT:  scf.for
// CHECK-NEXT:    tile.accumulate
// CHECK-NEXT:  }
tile.program @forward {
  %as = tile.workspace "a" : !xs
  tile.kernel @sums grid(%b in b) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %t = tile.size "t"
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !x
    %y = tile.splat %zero : f32 -> !y
    scf.for %j = %c0 to %t step %c64 {
      tile.store %x, %as[b = %b, t = %j] : !x, !xs
    }
    scf.for %j = %c0 to %t step %c64 {
      tile.accumulate %y, %as[b = %b, t = %j] : !y, !xs
    }
  }
}

// -----

#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!xb = !simt.buffer<1 x [t = 64], f32>
!xs = !tile.array<[g, t], f32>

// Which array rows a head reads is found by divisions, before the loop; they may not fail where the loop does not run.
// CHECK-LABEL: @divisions
// CHECK:       %[[H:.*]] = tile.size "h"
// CHECK:       %[[G:.*]] = tile.size "g"
// CHECK:       %[[ZERO:.*]] = arith.cmpi eq, %[[G]], %{{.*}}
// CHECK-NEXT:  %[[D:.*]] = arith.select %[[ZERO]], %{{.*}}, %[[G]]
// CHECK-NEXT:  %[[N:.*]] = arith.divsi %[[H]], %[[D]]
// CHECK:       %[[ROW:.*]] = arith.divsi %{{.*}}, %{{.*}}
// CHECK:       simt.copy %{{.*}} [g = %[[ROW]], t = %{{.*}}], %{{.*}} if
// CHECK-NEXT:  simt.commit
// CHECK:       scf.for
// CHECK:         simt.wait 0
// CHECK-NEXT:    simt.barrier
// CHECK:         simt.copy %{{.*}} [g = %[[ROW]], t = %{{.*}}], %{{.*}} if
// CHECK-NEXT:    simt.commit
// CHECK-NEXT:    simt.read
tile.program @forward {
  %xs = tile.tensor "input:x" : !xs
  tile.kernel @divisions grid(%i in h) {
    %a = simt.alloc "a" : !xb
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %t = tile.size "t"
    %h = tile.size "h"
    %g = tile.size "g"
    scf.for %j = %c0 to %t step %c64 {
      %n = arith.divsi %h, %g : index
      %row = arith.divsi %i, %n : index
      simt.copy %xs[g = %row, t = %j], %a : !xs, !xb
      %y = simt.read %a : !xb -> !x
    }
  }
}

// -----

#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!xb = !simt.buffer<1 x [t = 64], f32>
!xs = !tile.array<[b, t], f32>

// The barrier that keeps the next iteration's copy away from the last one's stands between write and read of the other buffer too.
// CHECK-LABEL: @serves_both
// CHECK:       scf.for
// CHECK-NEXT:    simt.barrier
// CHECK-NEXT:    simt.write
// CHECK-NEXT:    simt.wait 0
// CHECK-NEXT:    simt.barrier
// CHECK-NEXT:    simt.copy
// CHECK-NEXT:    simt.commit
// CHECK-NEXT:    simt.read
// CHECK:         scf.if
// CHECK-NEXT:      simt.wait 0
// CHECK-NEXT:      simt.barrier
// CHECK-NEXT:      simt.read
// CHECK:       scf.yield
tile.program @forward {
  %xs = tile.tensor "input:x" : !xs
  tile.kernel @serves_both grid(%b in b) {
    %a = simt.alloc "a" : !xb
    %d = simt.alloc "d" : !xb
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !x
    %r = scf.for %j = %c0 to %b step %c1 iter_args(%at = %c1) -> (index) {
      simt.write %x, %a : !x, !xb
      simt.copy %xs[b = %at], %d : !xs, !xb
      %y = simt.read %a : !xb -> !x
      %is = arith.cmpi eq, %j, %b : index
      scf.if %is {
        %z = simt.read %d : !xb -> !x
      }
      scf.yield %j : index
    }
  }
}
