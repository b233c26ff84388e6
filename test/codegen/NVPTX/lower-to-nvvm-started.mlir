// The text of started products. What it computes is checked by the unit tests beside this file, in the interpreter.
// RUN: taylor-opt %s --taylor-simt-lower-to-nvvm --cse | FileCheck %s
// RUN: not taylor-opt %s --taylor-nvptx-pipeline=target=sm_80 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: 'llvm.inline_asm' op unsupported instruction wgmma on target 'sm_80'; compile for sm_90a
// RUN: taylor-opt %s --taylor-nvptx-pipeline=target=sm_90a | FileCheck %s --check-prefix=PTX
// PTX: ".target sm_90a"
// PTX: wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*2]>
#a = #simt.layout<lane = [d:2, d:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [d:1*2, t:8*2, d:8*4]>
#two = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*2, t:64*2]>
#eight = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32, t:64], register = [u:1*2, t:8*2, u:8*2]>
#r = #simt.layout<lane = [_, _, t:1, t:2, t:4], warp = [t:16, t:32], register = [t:8*2]>
!q = !simt.buffer<1 x [t = 64, d = 32], bf16, swizzle = 64>
!k = !simt.buffer<1 x [u = 16, d = 32], bf16, swizzle = 64>
!s = !tile.tile<[t = 64, u = 16], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 16], f32, #s>>
!out = !tile.array<[t, u = 16], f32>
tile.program @forward {
  %o = tile.tensor "output:o" : !out
  // Both operands in buffers: descriptors of 32 bytes further on for each 16 of the summed axis, and 0 for the first to add to. Rows of 64 bytes, lines of
  // 512: mode 2, and 32 units of 16 bytes. One group; the wait takes the sums.
  // CHECK-LABEL: llvm.func @forward_buffers
  // CHECK:      %[[BASE:.*]] = llvm.ptrtoint
  // CHECK:      %[[LEFT:.*]] = arith.addi %{{.*}}, %c-9223371899415756800_i64
  // CHECK:      arith.addi %{{.*}}, %c2_i64
  // CHECK:      %[[SUMS:.*]] = llvm.inline_asm has_side_effects
  // CHECK-SAME:   "wgmma.fence.sync.aligned;\0Awgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7}, $8, $9, 0, 1, 1, 0, 0;\0Awgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7}, $10, $11, 1, 1, 1, 0, 0;\0A", "=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,l,l,l,l,~{memory}"
  // CHECK:      llvm.inline_asm has_side_effects {{.*}}"wgmma.commit_group.sync.aligned;", "~{memory}"
  // CHECK:      llvm.inline_asm has_side_effects {{.*}}"wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}"
  tile.kernel @buffers grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 4> {
    %q = simt.alloc "q" at 0 : !q
    %k = simt.alloc "k" at 4096 : !k
    %0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
    %1 = simt.await 0 %0 : !p
    tile.store %1, %o[t = %i] : !s, !out
  }

  // The left operand in registers, four words for each 16 of the summed axis, and a sum to add to: it is tied to the results. The wait takes the words too.
  // CHECK-LABEL: llvm.func @forward_registers
  // CHECK:      llvm.inline_asm has_side_effects
  // CHECK-SAME:   "wgmma.fence.sync.aligned;\0Awgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7}, {$16, $17, $18, $19}, $20, 1, 1, 1, 0;\0Awgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7}, {$21, $22, $23, $24}, $25, 1, 1, 1, 0;\0A", "=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,0,1,2,3,4,5,6,7,r,r,r,r,l,r,r,r,r,l,~{memory}"
  // CHECK:      "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,r,r,r,r,r,r,r,r,~{memory}"
  tile.kernel @registers grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 4> {
    %zero = arith.constant 0.0 : bf16
    %one = arith.constant 1.0 : f32
    %k = simt.alloc "k" at 0 : !k
    %a = tile.splat %zero : bf16 -> !tile.tile<[d = 32, t = 64], bf16, #a>
    %c = tile.splat %one : f32 -> !s
    %0 = simt.start wgmma %a, %k over(d) into %c : !s : !tile.tile<[d = 32, t = 64], bf16, #a>, !k -> !p
    %1 = simt.await 0 %0 : !p
    tile.store %1, %o[t = %i] : !s, !out
  }

  // Operands whose own axis is contiguous, in f16.
  // CHECK-LABEL: llvm.func @forward_transposed
  // CHECK:      "wgmma.fence.sync.aligned;\0Awgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {$0, $1, $2, $3, $4, $5, $6, $7}, $8, $9, 0, 1, 1, 1, 1;\0A"
  tile.kernel @transposed grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 4> {
    %q = simt.alloc "q" at 0 : !simt.buffer<1 x [d = 16, t = 64], f16, swizzle = 128>
    %k = simt.alloc "k" at 4096 : !simt.buffer<1 x [d = 16, u = 16], f16, swizzle = 32>
    %0 = simt.start wgmma %q, %k over(d) : !simt.buffer<1 x [d = 16, t = 64], f16, swizzle = 128>, !simt.buffer<1 x [d = 16, u = 16], f16, swizzle = 32> -> !p
    %1 = simt.await 0 %0 : !p
    tile.store %1, %o[t = %i] : !s, !out
  }

  // Two blocks of 64 rows are two texts and one group.
  // CHECK-LABEL: llvm.func @forward_two_blocks
  // CHECK-COUNT-2: llvm.inline_asm has_side_effects {{.*}}"wgmma.fence.sync.aligned;\0Awgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7}, $8, $9, 0, 1, 1, 0, 0;
  // CHECK:      "wgmma.commit_group.sync.aligned;"
  // CHECK-NOT:  commit_group
  // CHECK:      "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,
  tile.kernel @two_blocks grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 4> {
    %q = simt.alloc "q" at 0 : !simt.buffer<1 x [t = 128, d = 32], bf16, swizzle = 64>
    %k = simt.alloc "k" at 8192 : !k
    %0 = simt.start wgmma %q, %k over(d) : !simt.buffer<1 x [t = 128, d = 32], bf16, swizzle = 64>, !k -> !simt.pending<!tile.tile<[t = 128, u = 16], f32, #two>>
    %1 = simt.await 0 %0 : !simt.pending<!tile.tile<[t = 128, u = 16], f32, #two>>
    tile.store %1, %o[t = %i] : !tile.tile<[t = 128, u = 16], f32, #two>, !out
  }

  // Of eight warps each four have rows of their own: 64 rows of 64 bytes, 256 units of 16 bytes, further on. The number is read from lane 0, so that
  // it is known to be the same in all.
  // CHECK-LABEL: llvm.func @forward_eight_warps
  // CHECK:      %[[GROUP:.*]] = arith.shrui %{{.*}}, %c7_i32
  // CHECK:      %[[SAME:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[GROUP]], %c0_i32
  // CHECK:      %[[STEP:.*]] = arith.muli %[[SAME]], %c256_i32
  // CHECK:      arith.extsi %[[STEP]] : i32 to i64
  // CHECK-COUNT-1: "wgmma.fence.sync.aligned;
  tile.kernel @eight_warps grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 8> {
    %q = simt.alloc "q" at 0 : !simt.buffer<1 x [t = 128, d = 32], bf16, swizzle = 64>
    %k = simt.alloc "k" at 8192 : !k
    %0 = simt.start wgmma %q, %k over(d) : !simt.buffer<1 x [t = 128, d = 32], bf16, swizzle = 64>, !k -> !simt.pending<!tile.tile<[t = 128, u = 16], f32, #eight>>
    %1 = simt.await 0 %0 : !simt.pending<!tile.tile<[t = 128, u = 16], f32, #eight>>
    tile.store %1, %o[t = %i] : !tile.tile<[t = 128, u = 16], f32, #eight>, !out
  }

  // A store of what is computed before the wait, under a condition that never holds, keeps it there; a later group may be incomplete.
  // CHECK-LABEL: llvm.func @forward_pinned
  // CHECK:      "wgmma.commit_group.sync.aligned;"
  // CHECK:      "wgmma.commit_group.sync.aligned;"
  // CHECK:      %[[NEVER:.*]] = arith.cmpi {{.*}}, %arg3, %c0_i64
  // CHECK-COUNT-2: llvm.inline_asm has_side_effects {{.*}}"@$2 st.volatile.shared.f32 [$0], $1;", "r,f,b,~{memory}" %{{.*}}, %{{.*}}, %[[NEVER]]
  // CHECK:      "wgmma.wait_group.sync.aligned 1;"
  // CHECK:      "wgmma.wait_group.sync.aligned 0;"
  // CHECK:      "fence.proxy.async.shared::cta;", "~{memory}"
  tile.kernel @pinned grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 4> {
    %q = simt.alloc "q" at 0 : !q
    %k = simt.alloc "k" at 4096 : !k
    %one = arith.constant 1.0 : f32
    %c = tile.splat %one : f32 -> !tile.tile<[t = 64], f32, #r>
    %0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
    %1 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
    %2 = simt.await 1 %0 after %c : !p : !tile.tile<[t = 64], f32, #r>
    %3 = simt.await 0 %1 : !p
    simt.proxy_fence
    tile.store %2, %o[t = %i] : !s, !out
    tile.store %3, %o[t = %i] : !s, !out
  }
}
