// RUN: taylor-opt %s --taylor-simt-allocate-shared=shared=1000 --verify-diagnostics
#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32, t:64, t:128], register = []>
!x = !tile.tile<[t = 256], f32, #x>
!xb = !simt.buffer<1 x [t = 256], f32>
tile.program @forward {
  // expected-error @+1 {{'tile.kernel' op requires 1024 bytes of shared memory, but a block may use 1000; choose smaller tiles}}
  tile.kernel @large grid(%i in b) {
    %a = simt.alloc "a" : !xb
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !x
    simt.write %x, %a : !x, !xb
  }
}
