// Maps of many elementary functions are loops over a thread's numbers, which lie in local memory.
// RUN: taylor-opt %s --taylor-simt-lower-to-nvvm --cse | FileCheck %s

// 17 sines of 64 numbers each. What was loaded is copied to local memory; the second map reads the first one's result
// where it is, and what stores it loads it.
// CHECK-LABEL: llvm.func @forward_k(
// CHECK-COUNT-3: llvm.alloca %c64_i32 x f32
// CHECK-NOT:     llvm.alloca
// CHECK-COUNT-64: llvm.store {{.*}} : f32, !llvm.ptr
// CHECK:         scf.for %[[I:.*]] = %c0_i32 to %c64_i32 step %c1_i32
// CHECK:           llvm.load
// CHECK-COUNT-17:  math.sin
// CHECK-NOT:       math.sin
// CHECK:           llvm.store
// CHECK:         scf.for %[[J:.*]] = %c0_i32 to %c64_i32 step %c1_i32
// CHECK-NEXT:      llvm.getelementptr
// CHECK-NEXT:      llvm.load
// CHECK-NEXT:      math.cos
// CHECK-NEXT:      llvm.getelementptr
// CHECK-NEXT:      llvm.store
// CHECK:         }
// CHECK-COUNT-64: llvm.load
// CHECK-COUNT-16: llvm.inline_asm {{.*}}st.global.v4.b32
#l = #simt.layout<lane = [d:4, d:8, t:1, t:2, t:4], warp = [], register = [d:1*4, t:8*16]>
!f = !tile.tile<[d = 16, t = 128], f32, #l>
tile.program @forward {
  %x = tile.tensor "input:x" : !tile.array<[b, t, d = 16], f32>
  %w = tile.workspace "w" : !tile.array<[b, t, d = 16], f32>
  tile.kernel @k grid(%b in b, %i in ceildiv(t, 128)) launch #simt.launch<warps = 1, shared = 512> {
    %c128 = arith.constant 128 : index
    %t0 = arith.muli %i, %c128 : index
    %a = tile.load %x[b = %b, t = %t0] : !tile.array<[b, t, d = 16], f32> -> !f
    %y = tile.map (%s = %a) : (!f) -> !f {
      %x1 = math.sin %s : f32
      %x2 = math.sin %x1 : f32
      %x3 = math.sin %x2 : f32
      %x4 = math.sin %x3 : f32
      %x5 = math.sin %x4 : f32
      %x6 = math.sin %x5 : f32
      %x7 = math.sin %x6 : f32
      %x8 = math.sin %x7 : f32
      %x9 = math.sin %x8 : f32
      %x10 = math.sin %x9 : f32
      %x11 = math.sin %x10 : f32
      %x12 = math.sin %x11 : f32
      %x13 = math.sin %x12 : f32
      %x14 = math.sin %x13 : f32
      %x15 = math.sin %x14 : f32
      %x16 = math.sin %x15 : f32
      %x17 = math.sin %x16 : f32
      tile.yield %x17 : f32
    }
    %z = tile.map (%s = %y) : (!f) -> !f {
      %0 = math.cos %s : f32
      tile.yield %0 : f32
    }
    tile.store %z, %w[b = %b, t = %t0] : !f, !tile.array<[b, t, d = 16], f32>
  }
}
