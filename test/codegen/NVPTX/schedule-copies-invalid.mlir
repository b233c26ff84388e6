// RUN: taylor-opt %s --taylor-simt-schedule-copies --verify-diagnostics
// RUN: not taylor-opt %s --taylor-simt-schedule-copies=stages=0 2>&1 | FileCheck %s
// CHECK: error: expected stages of at least 1, but got 0{{$}}
#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
tile.program @forward {
  tile.kernel @regions grid(%b in b) {
    %a = simt.alloc "a" : !simt.buffer<1 x [t = 64], f32>
    %r = scf.execute_region -> index {
      // expected-error @+1 {{'simt.read' op requires scf.for and scf.if as the only control flow around it, but got 'scf.execute_region'}}
      %y = simt.read %a : !simt.buffer<1 x [t = 64], f32> -> !tile.tile<[t = 64], f32, #x>
      scf.yield %b : index
    }
  }
}
