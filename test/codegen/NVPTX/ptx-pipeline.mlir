// From a program with layouts to PTX text in the module, which is read back as it was printed; ptxas takes the text where it is installed.
// RUN: taylor-opt %s --taylor-nvptx-pipeline=target=sm_90 | taylor-opt | FileCheck %s
// RUN: not taylor-opt %s --taylor-nvptx-emit=target=sm_75 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: unsupported target 'sm_75'; expected sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100 or sm_120{{$}}

// CHECK:      simt.ptx "sm_90" entries [#simt.entry<"forward_k", threads = 32, shared = 0, grid = [#tile.extent<ceildiv(t, 32)>], arguments = [#simt.argument<"input:x", aligned16 = unit>, #simt.argument<"output:y", aligned16 = unit>]>] {
// CHECK:      ".target sm_90"
// CHECK:      ".visible .entry forward_k("
// CHECK:      ".reqntid 32"
// CHECK:      ex2.approx.ftz.f32
// CHECK:      "}"
// CHECK-NOT:  llvm.func
#l = #simt.layout<lane = [d:4, d:8, t:1, t:2, t:4], warp = [], register = [d:1*4, t:8*4]>
!x = !tile.array<[t, d = 16], bf16>
!f = !tile.tile<[d = 16, t = 32], f32, #l>
tile.program @forward {
  %x = tile.tensor "input:x" : !x
  %y = tile.tensor "output:y" : !x
  tile.kernel @k grid(%i in ceildiv(t, 32)) launch #simt.launch<warps = 1> {
    %c32 = arith.constant 32 : index
    %t0 = arith.muli %i, %c32 : index
    %a = tile.load %x[t = %t0] : !x -> !f
    %r = tile.map (%s = %a) : (!f) -> !f {
      %e = math.exp %s : f32
      tile.yield %e : f32
    }
    tile.store %r, %y[t = %t0] : !f, !x
  }
}
