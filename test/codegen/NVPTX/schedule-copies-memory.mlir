// Slots go first to buffers that one slot would leave no time for, then to small ones, as far as shared memory goes.
// RUN: taylor-opt %s --taylor-simt-schedule-copies="stages=2 shared=25088" | FileCheck %s --implicit-check-not=simt.barrier --implicit-check-not=simt.wait --implicit-check-not=simt.commit
#r = #simt.layout<lane = [t:2, t:4, _, _, _], warp = [_], register = [t:1*2, t:8*8]>
#s = #simt.layout<lane = [t:2, t:4, u:1, u:2, u:4], warp = [u:16], register = [t:1*2, u:8*2, t:8*8]>
#k = #simt.layout<lane = [d:2, d:4, u:1, u:2, u:4], warp = [u:16], register = [d:1*2, u:8*2, d:8*8]>
!queries = !tile.array<[b, t, d = 64], bf16>
!rows = !tile.array<[b, t], f32>
!qb = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!rb = !simt.buffer<1 x [t = 64], f32>
!rt = !tile.tile<[t = 64], f32, #r>
!kt = !tile.tile<[d = 64, u = 32], bf16, #k>
!st = !tile.tile<[t = 64, u = 32], f32, #s>
!pt = !tile.tile<[t = 64, u = 32], bf16, #s>
!dt = !tile.tile<[d = 64, u = 32], f32, #k>

// The queries are read from the start of the body to its end: they get a second slot; so do the rows. Then there is no room for 8192 bytes more: the one
// slot of the other operand is refilled at the start and waited for in the middle, without what was issued after it.
// CHECK:     simt.alloc "q" ahead : !simt.buffer<2 x
// CHECK:     simt.alloc "do" ahead : !simt.buffer<1 x
// CHECK:     simt.alloc "l" ahead : !simt.buffer<2 x
// CHECK:     simt.copy %[[ROWS:.*]] [b = %{{.*}}, t = %c0]
// CHECK:     simt.copy %[[QUERIES:.*]] [b = %{{.*}}, t = %c0]
// CHECK-NEXT: simt.commit
// CHECK:     simt.copy %[[ROWS]] [b = %{{.*}}, t = %[[C64:.*]]], %{{.*}} if
// CHECK-NEXT: simt.commit
// CHECK:     scf.for %[[J:.*]] = %c0 to
// CHECK:       simt.wait 1
// CHECK-NEXT:  simt.barrier
// CHECK-NEXT:  simt.copy %[[GRADIENTS:.*]] [b = %{{.*}}, t = %[[J]]], %{{.*}} : !tile
// CHECK-NEXT:  simt.commit
// CHECK-NEXT:  %[[NEXT:.*]] = arith.addi %[[J]], %c64
// CHECK:       simt.copy %[[QUERIES]] [b = %{{.*}}, t = %[[NEXT]]], %{{.*}} if
// CHECK-NEXT:  simt.commit
// CHECK-NEXT:  simt.dot
// CHECK-NEXT:  simt.read
// CHECK-NEXT:  simt.wait 1
// CHECK-NEXT:  simt.barrier
// CHECK:       %[[AFTER:.*]] = arith.addi %[[J]], %{{.*}}
// CHECK:       simt.copy %[[ROWS]] [b = %{{.*}}, t = %[[AFTER]]], %{{.*}} if
// CHECK-NEXT:  simt.commit
// CHECK-NEXT:  tile.map
tile.program @backward {
  %q = tile.tensor "input:q" : !queries
  %do = tile.tensor "cotangent:o" : !queries
  %l = tile.tensor "saved:l" : !rows
  tile.kernel @keys grid(%b in b, %i in ceildiv(u, 32)) {
    %qb = simt.alloc "q" : !qb
    %dob = simt.alloc "do" : !qb
    %lb = simt.alloc "l" : !rb
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %t = tile.size "t"
    %one = arith.constant 1.0 : bf16
    %zero = arith.constant 0.0 : f32
    %k = tile.splat %one : bf16 -> !kt
    %init = tile.splat %zero : f32 -> !dt
    %out:2 = scf.for %j = %c0 to %t step %c64 iter_args(%dv = %init, %dk = %init) -> (!dt, !dt) {
      simt.copy %q[b = %b, t = %j], %qb : !queries, !qb
      simt.copy %l[b = %b, t = %j], %lb : !rows, !rb
      simt.copy %do[b = %b, t = %j], %dob : !queries, !qb
      %s = simt.dot mma16 %k, %qb over(d) : !kt, !qb -> !st
      %m = simt.read %lb : !rb -> !rt
      %p = tile.map (%x = %s, %y = %m) : (!st, !rt) -> !pt {
        %z = arith.subf %x, %y : f32
        %w = arith.truncf %z : f32 to bf16
        tile.yield %w : bf16
      }
      %dw = simt.dot mma16 %k, %dob over(d) : !kt, !qb -> !st
      %dv1 = simt.dot mma16 %p, %dob over(t) into %dv : !pt, !qb -> !dt
      %ds = tile.map (%x = %p, %y = %dw) : (!pt, !st) -> !pt {
        %z = arith.extf %x : bf16 to f32
        %w = arith.mulf %z, %y : f32
        %v = arith.truncf %w : f32 to bf16
        tile.yield %v : bf16
      }
      %dk1 = simt.dot mma16 %ds, %qb over(t) into %dk : !pt, !qb -> !dt
      scf.yield %dv1, %dk1 : !dt, !dt
    }
  }
}
