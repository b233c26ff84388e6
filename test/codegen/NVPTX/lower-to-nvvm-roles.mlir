// The text of rings and roles. What it computes is checked in the interpreter, by the specifications of test/endtoend.
// RUN: taylor-opt %s --taylor-simt-lower-to-nvvm --cse | FileCheck %s
// RUN: taylor-opt %s --taylor-nvptx-pipeline=target=sm_90a+roles | FileCheck %s --check-prefix=PTX

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*2]>
#rows = #simt.layout<lane = [u:1, u:2, u:4, u:8, u:16], warp = [_, _], register = [u:32*2]>
!q = !simt.buffer<1 x [t = 64, d = 32], bf16, swizzle = 64>
!k = !simt.buffer<1 x [u = 16, d = 32], bf16, swizzle = 64>
!ring = !simt.ring<!simt.buffer<2 x [u = 16, d = 32], bf16, swizzle = 64>>
!s = !tile.tile<[t = 64, u = 16], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 16], f32, #s>>
!keys = !tile.array<[b, u, d = 32], bf16>
!out = !tile.array<[t, u = 16], f32>
tile.program @forward {
  %keys = tile.tensor "input:k" : !keys
  %o = tile.tensor "output:o" : !out
  %scalars = tile.tensor "input:r" : !tile.array<[u], f32>
  %sums = tile.tensor "output:s" : !tile.array<[u], f32>
  // A parameter for the map of the keys. Thread 0 sets up the signals: one arrival fills a use, one of each of eight warps empties it; the last one is the producer's own.
  // CHECK-LABEL: llvm.func @forward_roles
  // CHECK-SAME:  %[[MAP:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
  // CHECK-SAME:  nvvm.minctasm = 1 : i32
  // CHECK-SAME:  nvvm.reqntid = array<i32: 384>
  // CHECK:      "mbarrier.init.shared.b64 [$0], $1;", "r,r,~{memory}" %{{.*}}, %c1_i32 :
  // CHECK:      "mbarrier.init.shared.b64 [$0], $1;", "r,r,~{memory}" %{{.*}}, %c8_i32 :
  // CHECK-COUNT-2: mbarrier.init
  // CHECK:      "mbarrier.init.shared.b64 [$0], $1;", "r,r,~{memory}" %{{.*}}, %c1_i32 :
  // CHECK-NOT:  mbarrier.init
  // CHECK:      "fence.mbarrier_init.release.cluster;"
  // CHECK:      nvvm.barrier0
  // One warp of the producer works. A use is slot n mod 2, and its phase n / 2 mod 2; the producer waits for the phase before it.
  // CHECK:      nvvm.setmaxregister decrease 40
  // CHECK:      %[[N:.*]] = arith.trunci %{{.*}} : i64 to i32
  // CHECK:      %[[SLOT:.*]] = arith.remui %[[N]], %c2_i32
  // CHECK-NEXT: %[[TURN:.*]] = arith.divui %[[N]], %c2_i32
  // CHECK-NEXT: %[[ODD:.*]] = arith.andi %[[TURN]], %c1_i32
  // CHECK-NEXT: %[[PHASE:.*]] = arith.xori %[[ODD]], %c1_i32
  // CHECK:      "{\0A.reg .pred P1;\0AWAIT:\0Ambarrier.try_wait.parity.shared.b64 P1, [$0], $1;\0A@P1 bra DONE;\0Abra WAIT;\0ADONE:\0A}", "r,r,~{memory}" %{{.*}}, %[[PHASE]] :
  // A box, which one lane starts. Where the end cuts it within the array, the warp waits for it, and writes zeros: a row in four lanes, eight rows at once.
  // CHECK:      scf.if
  // CHECK:        nvvm.elect.sync
  // CHECK:        "mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;", "r,r,~{memory}" %[[FULL:.*]], %c1024_i32 :
  // CHECK:        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4, $5}], [$2];", "r,l,r,r,r,r,~{memory}" %{{.*}}, %{{.*}}, %[[FULL]], %c0_i32, %{{.*}}, %{{.*}} :
  // CHECK:      } else {
  // CHECK:        %[[PHASE:.*]] = llvm.inline_asm has_side_effects {{.*}}"{\0A.reg .pred P1;\0Ambarrier.test_wait.parity.shared.b64 P1, [$1], $2;\0Aselp.b32 $0, 1, 0, P1;\0A}", "=r,r,r,~{memory}" %[[OWN:.*]], %c0_i32 :
  // CHECK-NEXT:   nvvm.bar.warp.sync
  // CHECK:        "mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;", "r,r,~{memory}" %[[OWN]], %c1024_i32 :
  // CHECK:        cp.async.bulk.tensor.3d{{.*}} %[[OWN]], %c0_i32, %{{.*}}, %{{.*}} :
  // CHECK:        mbarrier.try_wait.parity{{.*}} %[[OWN]], %[[PHASE]] :
  // CHECK:        %[[ROWS:.*]] = arith.maxsi %{{.*}}, %c0_i32
  // CHECK:        scf.for %[[ROW:.*]] = %[[ROWS]] to %c16_i32 step %c8_i32
  // CHECK:          %[[LANE:.*]] = arith.divui %{{.*}}, %c4_i32
  // CHECK-NEXT:     %[[AT:.*]] = arith.addi %[[ROW]], %[[LANE]]
  // CHECK:        "fence.proxy.async.shared::cta;"
  // CHECK-NEXT:   nvvm.bar.warp.sync
  // CHECK:        "@$1 mbarrier.arrive.shared.b64 _, [$0];", "r,b,~{memory}" %[[FULL]], %
  // CHECK-NOT:  nvvm.cp.async.shared.global
  // A member's buffers are its number times 4096 further on, its barrier is 1 or 2; it waits for the phase itself, and each warp releases once.
  // CHECK:      nvvm.setmaxregister increase 232
  // CHECK:      %[[MEMBER:.*]] = arith.subi %{{.*}}, %c1_i32
  // CHECK:      arith.muli %[[MEMBER]], %c4096_i32
  // CHECK:      %[[BARRIER:.*]] = arith.addi %[[MEMBER]], %c1_i32
  // CHECK:      nvvm.barrier id = %[[BARRIER]] number_of_threads = %c128_i32
  // CHECK:      %[[ODD:.*]] = arith.andi %{{.*}}, %c1_i32
  // CHECK-NOT:  arith.xori
  // CHECK:      mbarrier.try_wait.parity{{.*}} %{{.*}}, %[[ODD]] :
  // CHECK:      wgmma.wait_group
  // CHECK-NOT:  nvvm.bar.warp.sync
  // CHECK:      "@$1 mbarrier.arrive.shared.b64 _, [$0];", "r,b,~{memory}" %{{.*}}, %{{.*}} :
  // PTX:      simt.ptx "sm_90a+roles" entries [#simt.entry<"forward_roles", threads = 384, shared = 10288,
  // PTX:      ".target sm_90a"
  // PTX:      .param .align 64 .b8 forward_roles_param_13[128]"
  // PTX:      ".reqntid 384"
  // PTX-NEXT: ".minnctapersm 1"
  tile.kernel @roles grid(%b in b, %i in ceildiv(t, 128)) launch #simt.launch<warps = 4, shared = 10288> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    %n = tile.size "u"
    %k = simt.ring "k" at 8192 signals 10240 : !ring
    %q = simt.alloc "q" at 0 : !q
    simt.roles members 2 apart 4096 registers 40, 232 producer {
      %r = scf.for %j = %c0 to %n step %c16 iter_args(%use = %c0) -> (index) {
        %slot = simt.acquire %k[%use] : !ring
        simt.copy %keys[b = %b, u = %j] until(u = %n), %slot signals %k[%use] bulk : !keys, !k, !ring
        %next = arith.addi %use, %c1 : index
        scf.yield %next : index
      }
    } consumer (%member) {
      %of = arith.muli %i, %c2 : index
      %place = arith.addi %of, %member : index
      simt.barrier member
      %r = scf.for %j = %c0 to %n step %c16 iter_args(%use = %c0) -> (index) {
        %slot = simt.wait_full %k[%use] : !ring
        %0 = simt.start wgmma %q, %slot over(d) : !q, !k -> !p
        %1 = simt.await 0 %0 : !p
        simt.release %k[%use] : !ring
        tile.store %1, %o[t = %place, u = %c0] : !s, !out
        %next = arith.addi %use, %c1 : index
        scf.yield %next : index
      }
    }
  }

  // Pieces that threads read say themselves that they have come: each lane's arrival is expected beside the one that the warp signals, and the warp goes on.
  // CHECK-LABEL: llvm.func @forward_rows
  // CHECK:      nvvm.setmaxregister decrease 40
  // CHECK:      nvvm.cp.async.shared.global
  // CHECK-NOT:  nvvm.cp.async.wait.group
  // CHECK-NOT:  fence.proxy
  // CHECK:      "cp.async.mbarrier.arrive.shared.b64 [$0];", "r,~{memory}" %[[FULL:.*]] :
  // CHECK-NEXT: nvvm.bar.warp.sync
  // CHECK:      "@$1 mbarrier.arrive.shared.b64 _, [$0];", "r,b,~{memory}" %[[FULL]], %
  // A lane has read by itself before its warp releases.
  // CHECK:      nvvm.setmaxregister increase 232
  // CHECK:      nvvm.bar.warp.sync
  // CHECK:      "@$1 mbarrier.arrive.shared.b64 _, [$0];"
  tile.kernel @rows grid(%i in ceildiv(u, 2)) launch #simt.launch<warps = 4, shared = 288> {
    %c0 = arith.constant 0 : index
    %r = simt.ring "r" at 0 signals 256 : !simt.ring<!simt.buffer<1 x [u = 64], f32>>
    simt.roles members 2 apart 0 registers 40, 232 producer {
      %slot = simt.acquire %r[%c0] : !simt.ring<!simt.buffer<1 x [u = 64], f32>>
      simt.copy %scalars[u = %c0], %slot signals %r[%c0] : !tile.array<[u], f32>, !simt.buffer<1 x [u = 64], f32>, !simt.ring<!simt.buffer<1 x [u = 64], f32>>
    } consumer (%member) {
      %slot = simt.wait_full %r[%c0] : !simt.ring<!simt.buffer<1 x [u = 64], f32>>
      %x = simt.read %slot : !simt.buffer<1 x [u = 64], f32> -> !tile.tile<[u = 64], f32, #rows>
      simt.release %r[%c0] : !simt.ring<!simt.buffer<1 x [u = 64], f32>>
      tile.store %x, %sums[u = %c0] : !tile.tile<[u = 64], f32, #rows>, !tile.array<[u], f32>
    }
  }
}
