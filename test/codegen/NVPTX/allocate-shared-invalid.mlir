// RUN: taylor-opt %s --split-input-file --taylor-simt-allocate-shared=shared=1000 --verify-diagnostics
#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32, t:64, t:128], register = []>
!x = !tile.tile<[t = 256], f32, #x>
!xb = !simt.buffer<1 x [t = 256], f32>
tile.program @forward {
  // expected-error @+1 {{unsupported on this target: 1024 bytes of shared memory, where a block may use 1000; choose smaller tiles or fewer channels}}
  tile.kernel @large grid(%i in b) {
    %a = simt.alloc "a" : !xb
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !x
    simt.write %x, %a : !x, !xb
  }
}

// -----

#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!xb = !simt.buffer<1 x [t = 64], f32>
!xs = !tile.array<[b, t], f32>
tile.program @forward {
  %xs = tile.tensor "input:x" : !xs
  tile.kernel @copy_without_wait grid(%i in b) {
    %a = simt.alloc "a" : !xb
    simt.copy %xs[b = %i], %a : !xs, !xb
    // expected-error @+1 {{'simt.read' op requires waits and barriers that keep it apart from other accesses of its memory; run taylor-simt-schedule-copies before}}
    %y = simt.read %a : !xb -> !x
  }
}

// -----

#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!xb = !simt.buffer<1 x [t = 64], f32>
!xs = !tile.array<[b, t], f32>
tile.program @forward {
  %xs = tile.tensor "input:x" : !xs
  tile.kernel @barrier_without_wait grid(%i in b) {
    %a = simt.alloc "a" : !xb
    simt.copy %xs[b = %i], %a : !xs, !xb
    simt.commit
    simt.barrier
    // expected-error @+1 {{'simt.read' op requires waits and barriers that keep it apart from other accesses of its memory; run taylor-simt-schedule-copies before}}
    %y = simt.read %a : !xb -> !x
  }
}

// -----

// In the second iteration the write meets what the first one reads.
#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
!x = !tile.tile<[t = 64], f32, #x>
!xb = !simt.buffer<1 x [t = 64], f32>
tile.program @forward {
  tile.kernel @between_iterations grid(%i in b) {
    %a = simt.alloc "a" : !xb
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !x
    scf.for %j = %c0 to %i step %c1 {
      // expected-error @+1 {{'simt.write' op requires waits and barriers that keep it apart from other accesses of its memory; run taylor-simt-schedule-copies before}}
      simt.write %x, %a : !x, !xb
      simt.barrier
      %y = simt.read %a : !xb -> !x
    }
  }
}

// -----

// No buffer, but an array that a loop writes and reads.
#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
#y = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [_], register = [t:32*2]>
!xs = !tile.array<[b, t], f32>
tile.program @forward {
  %xs = tile.workspace "x" : !xs
  tile.kernel @array grid(%i in b) {
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !tile.tile<[t = 64], f32, #x>
    tile.store %x, %xs[b = %i] : !tile.tile<[t = 64], f32, #x>, !xs
    // expected-error @+1 {{'tile.load' op requires waits and barriers that keep it apart from other accesses of its memory; run taylor-simt-schedule-copies before}}
    %y = tile.load %xs[b = %i] : !xs -> !tile.tile<[t = 64], f32, #y>
  }
}
