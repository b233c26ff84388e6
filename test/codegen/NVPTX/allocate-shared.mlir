// Buffers get bytes; those that are not needed at the same time share them, behind a barrier.
// RUN: taylor-opt %s --split-input-file --taylor-simt-allocate-shared | FileCheck %s --implicit-check-not=simt.barrier --implicit-check-not=simt.wait
#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!xb = !simt.buffer<1 x [t = 64], f32>
!x2 = !simt.buffer<3 x [t = 64], f32>

// `a` and `c` do not meet; `b` is needed with both. 768 bytes for three slots.
// CHECK-LABEL: @share
// CHECK-SAME:  launch #simt.launch<warps = 1, shared = 1024>
// CHECK:       simt.alloc "a" at 768
// CHECK:       simt.alloc "b" at 0
// CHECK:       simt.alloc "c" at 768
// CHECK:       simt.barrier
// CHECK-NEXT:  simt.read
// CHECK-NEXT:  simt.barrier
// CHECK-NEXT:  simt.write
tile.program @forward {
  tile.kernel @share grid(%i in b) {
    %a = simt.alloc "a" : !xb
    %b = simt.alloc "b" : !x2
    %c = simt.alloc "c" : !xb
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !x
    %slot = simt.slot %b[%i] : !x2
    simt.write %x, %slot : !x, !xb
    simt.write %x, %a : !x, !xb
    simt.barrier
    %y = simt.read %a : !xb -> !x
    simt.write %y, %c : !x, !xb
    %z = simt.read %slot : !xb -> !x
  }
}

// -----

#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!xb = !simt.buffer<1 x [t = 64], f32>
!xs = !tile.array<[b, t], f32>

// What loops access is needed through the whole loop: `a` and `c` both. The copy into `d` may still be under way where the loop does not run.
// CHECK-LABEL: @loop
// CHECK-SAME:  launch #simt.launch<warps = 1, shared = 768>
// CHECK:       simt.alloc "a" at 0
// CHECK:       simt.alloc "c" at 256
// CHECK:       simt.alloc "d" at 512
// CHECK:       simt.alloc "e" at 0
// CHECK:       scf.for
// CHECK-NEXT:    simt.barrier
// CHECK:         simt.wait 0
// CHECK-NEXT:    simt.barrier
// CHECK:       simt.barrier
// CHECK-NEXT:  simt.write
tile.program @forward {
  %xs = tile.tensor "input:x" : !xs
  tile.kernel @loop grid(%i in b) {
    %a = simt.alloc "a" : !xb
    %c = simt.alloc "c" : !xb
    %d = simt.alloc "d" : !xb
    %e = simt.alloc "e" : !xb
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !x
    simt.copy %xs[b = %i], %d : !xs, !xb
    simt.commit
    scf.for %j = %c0 to %i step %c1 {
      simt.barrier
      simt.write %x, %a : !x, !xb
      simt.wait 0
      simt.barrier
      %y = simt.read %a : !xb -> !x
      %v = simt.read %d : !xb -> !x
      simt.write %x, %c : !x, !xb
    }
    simt.write %x, %e : !x, !xb
  }
}

// -----

#s = #simt.layout<lane = [e:2, e:4, t:1, t:2, t:4], warp = [t:16], register = [e:1*2, t:8*2, e:8*8]>
!x = !tile.tile<[e = 64, t = 32], bf16, #s>
!ob = !simt.buffer<1 x [t = 32, e = 64], bf16, swizzle = 128>
!xs = !tile.array<[b, t, e = 64], bf16>

// The bytes of a copy that no path has to wait for are waited for before others write there.
// CHECK-LABEL: @under_way
// CHECK-SAME:  launch #simt.launch<warps = 1, shared = 4096>
// CHECK:       scf.if
// CHECK-NEXT:    simt.wait 0
// CHECK-NEXT:    simt.barrier
// CHECK:       simt.wait 0
// CHECK-NEXT:  simt.barrier
// CHECK-NEXT:  simt.write
tile.program @forward {
  %xs = tile.tensor "input:x" : !xs
  tile.kernel @under_way grid(%i in b) {
    %a = simt.alloc "a" : !ob
    %o = simt.alloc "o" : !ob
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : bf16
    %x = tile.splat %zero : bf16 -> !x
    %is = arith.cmpi eq, %i, %c0 : index
    simt.copy %xs[b = %i], %a : !xs, !ob
    simt.commit
    scf.if %is {
      simt.wait 0
      simt.barrier
      %y = simt.read %a : !ob -> !x
    }
    simt.write %x, %o : !x, !ob
  }
}

// -----

!xb = !simt.buffer<1 x [t = 500], f32>
!yb = !simt.buffer<1 x [t = 12], f32>
!sb = !simt.buffer<1 x [t = 8, e = 64], bf16, swizzle = 128>
!xs = !tile.array<[b, t], f32>
!ss = !tile.array<[b, t, e = 64], bf16>

// A swizzled buffer stands at a multiple of 1024 bytes; one that fits into the gap goes there. A kernel without buffers needs no bytes.
// CHECK-LABEL: @aligned
// CHECK-SAME:  launch #simt.launch<warps = 1, shared = 3072>
// CHECK:       simt.alloc "y" at 2000
// CHECK:       simt.alloc "s" at 2048
// CHECK:       simt.alloc "x" at 0
// CHECK:       simt.wait 0
// CHECK-NEXT:  simt.barrier
// CHECK-LABEL: @none
// CHECK-SAME:  launch #simt.launch<warps = 1>
tile.program @forward {
  %xs = tile.tensor "input:x" : !xs
  %ss = tile.tensor "input:s" : !ss
  tile.kernel @aligned grid(%i in b) {
    %y = simt.alloc "y" : !yb
    %s = simt.alloc "s" : !sb
    %x = simt.alloc "x" : !xb
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %i step %c1 {
      simt.copy %xs[b = %i], %y : !xs, !yb
      simt.copy %ss[b = %i], %s : !ss, !sb
      simt.copy %xs[b = %i], %x : !xs, !xb
      simt.commit
      simt.wait 0
      simt.barrier
    }
  }
  tile.kernel @none grid(%i in b) {
  }
}

// -----

#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!xb = !simt.buffer<1 x [t = 64], f32>
!xs = !tile.array<[b, t], f32>

// The last iteration copies nothing ahead, so only reads have to be kept apart from the write, and the loop's second barrier does that.
// CHECK-LABEL: @ahead
// CHECK-SAME:  launch #simt.launch<warps = 1, shared = 256>
// CHECK:       simt.alloc "a" ahead at 0
// CHECK:       simt.alloc "c" at 0
// CHECK:       scf.for
// CHECK-NEXT:    simt.wait 0
// CHECK-NEXT:    simt.barrier
// CHECK:         simt.barrier
// CHECK-NEXT:    simt.copy
// CHECK-NEXT:    simt.commit
// CHECK-NEXT:  }
// CHECK-NEXT:  simt.write
tile.program @forward {
  %xs = tile.tensor "input:x" : !xs
  tile.kernel @ahead grid(%i in b) {
    %a = simt.alloc "a" ahead : !xb
    %c = simt.alloc "c" : !xb
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !x
    %first = arith.cmpi sgt, %i, %c0 : index
    simt.copy %xs[b = %c0], %a if %first : !xs, !xb
    simt.commit
    scf.for %j = %c0 to %i step %c1 {
      simt.wait 0
      simt.barrier
      %y = simt.read %a : !xb -> !x
      %next = arith.addi %j, %c1 : index
      %more = arith.cmpi slt, %next, %i : index
      simt.barrier
      simt.copy %xs[b = %next], %a if %more : !xs, !xb
      simt.commit
    }
    simt.write %x, %c : !x, !xb
  }
}
