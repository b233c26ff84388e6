// Where a block has no room for all buffers of a loop next to each other, those that each iteration writes before it reads them are needed for a part
// of the iteration alone, and share bytes. What goes from one iteration to the next shares none. Barriers keep sharers apart, in both directions.
// RUN: taylor-opt %s --split-input-file --taylor-simt-allocate-shared=shared=2000 | FileCheck %s --check-prefix=ROOM
// RUN: taylor-opt %s --split-input-file --taylor-simt-allocate-shared=shared=768 | FileCheck %s
#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = [t:64*2]>
!x = !tile.tile<[t = 128], f32, #x>
!xb = !simt.buffer<1 x [t = 128], f32>

// ROOM-LABEL: @iterations
// ROOM-SAME: shared = 1024
// ROOM: scf.for
// ROOM: simt.write
// ROOM-NEXT: simt.barrier
// ROOM-NEXT: simt.read
// ROOM-NEXT: simt.write
// ROOM-NEXT: simt.barrier
// ROOM-NEXT: simt.read

// CHECK-LABEL: @iterations
// CHECK-SAME: shared = 512
// CHECK: %[[A:.*]] = simt.alloc "a" at 0
// CHECK: %[[B:.*]] = simt.alloc "b" at 0
// CHECK: scf.for
// The iteration before has read "b".
// CHECK-NEXT: simt.barrier
// CHECK-NEXT: simt.write %{{.*}}, %[[A]] :
// CHECK-NEXT: simt.barrier
// CHECK-NEXT: simt.read %[[A]] :
// CHECK-NEXT: simt.barrier
// CHECK-NEXT: simt.write %{{.*}}, %[[B]] :
// CHECK-NEXT: simt.barrier
// CHECK-NEXT: simt.read %[[B]] :
tile.program @forward {
  tile.kernel @iterations grid(%i in b) {
    %a = simt.alloc "a" : !xb
    %b = simt.alloc "b" : !xb
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tile.size "t"
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %x) -> (!x) {
      simt.write %s, %a : !x, !xb
      simt.barrier
      %y = simt.read %a : !xb -> !x
      simt.write %y, %b : !x, !xb
      simt.barrier
      %z = simt.read %b : !xb -> !x
      scf.yield %z : !x
    }
  }
}

// -----

#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!xb = !simt.buffer<1 x [t = 64], f32>

// "carried" is read before it is written; "first" is written in a branch that an iteration may skip, so that it may read what an earlier one wrote.
// Neither shares. In the inner loop "a" and "b" do, and each with "after".
// ROOM-LABEL: @carried
// ROOM-SAME: shared = 1280

// CHECK-LABEL: @carried
// CHECK-SAME: shared = 768
// CHECK-DAG: simt.alloc "carried" at 0
// CHECK-DAG: simt.alloc "first" at 256
// CHECK-DAG: simt.alloc "a" at 512
// CHECK-DAG: simt.alloc "b" at 512
// CHECK-DAG: simt.alloc "after" at 512
tile.program @forward {
  tile.kernel @carried grid(%i in b) {
    %carried = simt.alloc "carried" : !xb
    %first = simt.alloc "first" : !xb
    %a = simt.alloc "a" : !xb
    %b = simt.alloc "b" : !xb
    %after = simt.alloc "after" : !xb
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tile.size "t"
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %x) -> (!x) {
      %before = simt.read %carried : !xb -> !x
      simt.barrier
      simt.write %s, %carried : !x, !xb
      %is_first = arith.cmpi eq, %j, %c0 : index
      scf.if %is_first {
        simt.write %s, %first : !x, !xb
      }
      simt.barrier
      %same = simt.read %first : !xb -> !x
      %inner = scf.for %k = %c0 to %n step %c1 iter_args(%r = %same) -> (!x) {
        simt.write %r, %a : !x, !xb
        simt.barrier
        %y = simt.read %a : !xb -> !x
        simt.write %y, %b : !x, !xb
        simt.barrier
        %z = simt.read %b : !xb -> !x
        scf.yield %z : !x
      }
      simt.write %inner, %after : !x, !xb
      simt.barrier
      %last = simt.read %after : !xb -> !x
      scf.yield %last : !x
    }
  }
}
