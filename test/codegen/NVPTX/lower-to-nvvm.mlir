// What becomes of each kind of op. What the code computes is checked by the unit tests beside this file, in the interpreter.
// RUN: taylor-opt %s --split-input-file --taylor-simt-lower-to-nvvm --cse | FileCheck %s

// Six sizes, then the arrays that the kernel uses: a tensor has strides, workspace has none. The last extent of the grid is the fastest.
// CHECK-LABEL: llvm.func @forward_k(
// CHECK-SAME:    %arg0: i64, %arg1: i64, %arg2: i64, %arg3: i64, %arg4: i64, %arg5: i64,
// CHECK-SAME:    %arg6: !llvm.ptr<1>, %arg7: i64, %arg8: i64, %arg9: i64, %arg10: !llvm.ptr<1>)
// CHECK-SAME:    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>, simt.entry = #simt.entry<"forward_k", threads = 32, shared = 512, grid = [{{.*}}], arguments = [#simt.argument<"input:x", aligned16 = unit>, #simt.argument<"{{[a-z]*}}", workspace = unit>]>}
// CHECK:         %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK:         arith.remui %[[BLOCK]], %{{.*}} : i32
// CHECK:         %[[REST:.*]] = arith.divui %[[BLOCK]]
#l = #simt.layout<lane = [d:4, d:8, t:1, t:2, t:4], warp = [], register = [d:1*4, t:8*2]>
!f = !tile.tile<[d = 16, t = 16], f32, #l>
tile.program @forward {
  %x = tile.tensor "input:x" : !tile.array<[b, t, d = 16], f32>
  %unused = tile.tensor "input:y" : !tile.array<[b, t, d = 16], f32>
  %w = tile.workspace "w" : !tile.array<[b, t, d = 16], f32>
  tile.kernel @k grid(%b in b, %i in ceildiv(t, 16)) launch #simt.launch<warps = 1, shared = 512> {
    %c16 = arith.constant 16 : index
    %t0 = arith.muli %i, %c16 : index
    // Four neighbours in one access, under the condition that the row is there.
    // CHECK-COUNT-2: llvm.inline_asm {{.*}}ld.global.v4.b32 {$0, $1, $2, $3}, [$4];{{.*}}"=&r,=&r,=&r,=&r,l,b"
    %a = tile.load %x[b = %b, t = %t0] : !tile.array<[b, t, d = 16], f32> -> !f
    // What does not depend on the row is computed once.
    // CHECK-COUNT-8: arith.mulf {{.*}} fastmath<contract>
    // CHECK-NOT:     arith.mulf
    %y = tile.map (%s = %a) : (!f) -> !f {
      %0 = arith.mulf %s, %s : f32
      tile.yield %0 : f32
    }
    // CHECK-COUNT-2: llvm.inline_asm {{.*}}st.global.v4.b32
    tile.store %y, %w[b = %b, t = %t0] : !f, !tile.array<[b, t, d = 16], f32>
  }
}

// -----

// A sum over registers, then over the two lane bits of the axis; one of the four threads with a copy adds to memory.
// CHECK-LABEL: llvm.func @forward_sums
// CHECK:         %[[COPY:.*]] = arith.andi %{{.*}}, %c3_i32
// CHECK:         %[[WRITES:.*]] = arith.cmpi ult, %[[COPY]], %c1_i32
// CHECK:         nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c1_i32
// CHECK:         nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c2_i32
// CHECK:         arith.andi %[[WRITES]],
// CHECK:         llvm.inline_asm {{.*}}"@$2 red.global.add.f32 [$0], $1;", "l,f,b"
#l = #simt.layout<lane = [d:4, d:8, t:1, t:2, t:4], warp = [], register = [d:1*4]>
#r = #simt.layout<lane = [_, _, t:1, t:2, t:4], warp = [], register = []>
!f = !tile.tile<[d = 16, t = 8], f32, #l>
tile.program @forward {
  %x = tile.tensor "input:x" : !tile.array<[t, d = 16], f32>
  %y = tile.tensor "output:y" : !tile.array<[t], f32>
  tile.kernel @sums grid(%i in ceildiv(t, 8)) launch #simt.launch<warps = 1> {
    %c8 = arith.constant 8 : index
    %t0 = arith.muli %i, %c8 : index
    %a = tile.load %x[t = %t0] : !tile.array<[t, d = 16], f32> -> !f
    %s = tile.reduce sum %a over(d) : !f -> !tile.tile<[t = 8], f32, #r>
    tile.accumulate %s, %y[t = %t0] : !tile.tile<[t = 8], f32, #r>, !tile.array<[t], f32>
  }
}

// -----

// Pieces of 16 bytes with a source size of 0 past the end; four matrices at once, transposed where the summed axis is not contiguous; for each step the
// rows, then columns by twos.
// CHECK-LABEL: llvm.func @forward_product
// CHECK:         %[[SIZE:.*]] = arith.select %{{.*}}, %c16_i32, %c0_i32
// CHECK:         nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[SIZE]]
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK:         nvvm.barrier0
// CHECK:         nvvm.ldmatrix %{{.*}} {{.*}}layout = #nvvm.mma_layout<row>, num = 4
// CHECK:         nvvm.ldmatrix %{{.*}} {{.*}}layout = #nvvm.mma_layout<col>, num = 4
// CHECK-COUNT-2: nvvm.mma.sync
// CHECK:         nvvm.ldmatrix %{{.*}} {{.*}}layout = #nvvm.mma_layout<row>, num = 4
// CHECK:         nvvm.ldmatrix %{{.*}} {{.*}}layout = #nvvm.mma_layout<col>, num = 4
// CHECK-COUNT-2: nvvm.mma.sync
// CHECK-NOT:     nvvm.mma.sync
#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [], register = [u:1*2, t:8*2, u:8*2]>
!q = !tile.array<[t, d = 32], bf16>
!k = !tile.array<[d = 32, u = 16], bf16>
!qb = !simt.buffer<1 x [t = 16, d = 32], bf16, swizzle = 64>
!kb = !simt.buffer<1 x [d = 32, u = 16], bf16, swizzle = 32>
!s = !tile.tile<[t = 16, u = 16], f32, #s>
tile.program @forward {
  %q = tile.tensor "input:q" : !q
  %k = tile.tensor "input:k" : !k
  %o = tile.tensor "output:o" : !tile.array<[t, u = 16], f32>
  tile.kernel @product grid(%i in ceildiv(t, 16)) launch #simt.launch<warps = 1> {
    %c16 = arith.constant 16 : index
    %t0 = arith.muli %i, %c16 : index
    %qb = simt.alloc "q" at 0 : !qb
    %kb = simt.alloc "k" at 1024 : !kb
    simt.copy %q[t = %t0], %qb : !q, !qb
    simt.copy %k[], %kb : !k, !kb
    simt.commit
    simt.wait 0
    simt.barrier
    %s = simt.dot mma16 %qb, %kb over(d) : !qb, !kb -> !s
    tile.store %s, %o[t = %t0] : !s, !tile.array<[t, u = 16], f32>
  }
}
