// Fences stand before barriers, where the thread may have written what products read.
// RUN: taylor-opt %s --taylor-simt-fence-proxies | FileCheck %s --implicit-check-not=simt.proxy_fence
// RUN: taylor-opt %s --taylor-simt-fence-proxies --taylor-simt-fence-proxies | FileCheck %s --implicit-check-not=simt.proxy_fence
// RUN: echo "module {}" | not taylor-opt --taylor-simt-fence-proxies 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expected a tile.program, but found none; run taylor-tile-pipeline before

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
#q = #simt.layout<lane = [d:2, d:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [d:1*2, t:8*2, d:8*8]>
!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!qt = !tile.tile<[d = 64, t = 64], bf16, #q>
!st = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
tile.program @fenced {
  %keys = tile.tensor "input:k" : !array
  // A copy counts from its wait on.
  // CHECK-LABEL: tile.kernel @copied
  // CHECK:      simt.copy
  // CHECK-NEXT: simt.commit
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: simt.wait 0
  // CHECK-NEXT: simt.proxy_fence
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: simt.start
  tile.kernel @copied grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : bf16
    %more = arith.cmpi slt, %c0, %i : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %other = simt.alloc "other" : !q
    %tile = tile.splat %zero : bf16 -> !qt
    simt.copy %keys[u = %c0], %k : !array, !k
    simt.commit
    simt.barrier
    simt.wait 0
    simt.barrier
    %s0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
    %t0 = simt.await 0 %s0 : !p
  }

  // A wait for all groups but one may complete a copy, and may not: the next wait may, too. After a wait for all there is none left.
  // CHECK-LABEL: tile.kernel @copied_twice
  // CHECK:      simt.wait 1
  // CHECK-NEXT: simt.proxy_fence
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: simt.start
  // CHECK-NEXT: simt.await
  // CHECK-NEXT: simt.wait 0
  // CHECK-NEXT: simt.proxy_fence
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: simt.start
  // CHECK-NEXT: simt.await
  // CHECK-NEXT: simt.wait 0
  // CHECK-NEXT: simt.barrier
  tile.kernel @copied_twice grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : bf16
    %more = arith.cmpi slt, %c0, %i : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %other = simt.alloc "other" : !q
    %tile = tile.splat %zero : bf16 -> !qt
    simt.copy %keys[u = %c0], %k : !array, !k
    simt.commit
    simt.copy %keys[u = %c0], %k : !array, !k
    simt.commit
    simt.wait 1
    simt.barrier
    %s0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
    %t0 = simt.await 0 %s0 : !p
    simt.wait 0
    simt.barrier
    %s1 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
    %t1 = simt.await 0 %s1 : !p
    simt.wait 0
    simt.barrier
  }

  // Writes count at once, and once.
  // CHECK-LABEL: tile.kernel @written
  // CHECK:      simt.write
  // CHECK-NEXT: simt.proxy_fence
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: simt.start
  // CHECK-NEXT: simt.await
  // CHECK-NEXT: simt.barrier
  tile.kernel @written grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : bf16
    %more = arith.cmpi slt, %c0, %i : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %other = simt.alloc "other" : !q
    %tile = tile.splat %zero : bf16 -> !qt
    simt.write %tile, %q : !qt, !q
    simt.barrier
    %s0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
    %t0 = simt.await 0 %s0 : !p
    simt.barrier
  }

  // No product reads the other buffer.
  // CHECK-LABEL: tile.kernel @other_buffers
  // CHECK:      simt.write
  // CHECK-NEXT: simt.barrier
  // CHECK-NEXT: simt.read
  tile.kernel @other_buffers grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : bf16
    %more = arith.cmpi slt, %c0, %i : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %other = simt.alloc "other" : !q
    %tile = tile.splat %zero : bf16 -> !qt
    simt.write %tile, %other : !qt, !q
    simt.barrier
    %back = simt.read %other : !q -> !qt
    %s0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
    %t0 = simt.await 0 %s0 : !p
  }

  // One of two branches may have written. Where the other one's barrier comes before the product's too, the fence stands after both.
  // CHECK-LABEL: tile.kernel @written_in_a_branch
  // CHECK:      scf.if
  // CHECK-NEXT:   simt.write
  // CHECK-NEXT: } else {
  // CHECK-NEXT: }
  // CHECK-NEXT: simt.proxy_fence
  // CHECK-NEXT: simt.barrier
  // CHECK:      scf.if
  // CHECK-NEXT:   simt.write
  // CHECK-NEXT:   simt.barrier
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   simt.write
  // CHECK-NEXT: }
  // CHECK-NEXT: simt.proxy_fence
  // CHECK-NEXT: simt.barrier
  tile.kernel @written_in_a_branch grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : bf16
    %more = arith.cmpi slt, %c0, %i : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %other = simt.alloc "other" : !q
    %tile = tile.splat %zero : bf16 -> !qt
    scf.if %more {
      simt.write %tile, %q : !qt, !q
    } else {
    }
    simt.barrier
    %s0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
    %t0 = simt.await 0 %s0 : !p
    scf.if %more {
      simt.write %tile, %q : !qt, !q
      simt.barrier
    } else {
      simt.write %tile, %q : !qt, !q
    }
    simt.barrier
    %s1 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
    %t1 = simt.await 0 %s1 : !p
  }

  // Where both have fences there is nothing left.
  // CHECK-LABEL: tile.kernel @written_in_both_branches
  // CHECK:      scf.if
  // CHECK-NEXT:   simt.write
  // CHECK-NEXT:   simt.proxy_fence
  // CHECK-NEXT:   simt.barrier
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   simt.write
  // CHECK-NEXT:   simt.proxy_fence
  // CHECK-NEXT:   simt.barrier
  // CHECK-NEXT: }
  // CHECK-NEXT: simt.barrier
  tile.kernel @written_in_both_branches grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : bf16
    %more = arith.cmpi slt, %c0, %i : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %other = simt.alloc "other" : !q
    %tile = tile.splat %zero : bf16 -> !qt
    scf.if %more {
      simt.write %tile, %q : !qt, !q
      simt.barrier
    } else {
      simt.write %tile, %q : !qt, !q
      simt.barrier
    }
    simt.barrier
    %s0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
    %t0 = simt.await 0 %s0 : !p
  }

  // What an iteration writes at its end is fenced in the next one; after the loop no product reads it.
  // CHECK-LABEL: tile.kernel @next_iteration
  // CHECK:      scf.for
  // CHECK-NEXT:   simt.proxy_fence
  // CHECK-NEXT:   simt.barrier
  // CHECK-NEXT:   simt.start
  // CHECK-NEXT:   simt.await
  // CHECK-NEXT:   simt.barrier
  // CHECK-NEXT:   simt.write
  // CHECK-NEXT: }
  // CHECK-NEXT: simt.barrier
  tile.kernel @next_iteration grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : bf16
    %more = arith.cmpi slt, %c0, %i : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %other = simt.alloc "other" : !q
    %tile = tile.splat %zero : bf16 -> !qt
    scf.for %j = %c0 to %i step %c1 {
      simt.barrier
      %s0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
      %t0 = simt.await 0 %s0 : !p
      simt.barrier
      simt.write %tile, %q : !qt, !q
    }
    simt.barrier
  }

  // Copies that run ahead of a loop, with one group open.
  // CHECK-LABEL: tile.kernel @pipelined
  // CHECK:      scf.for
  // CHECK-NEXT:   simt.copy
  // CHECK-NEXT:   simt.commit
  // CHECK-NEXT:   simt.wait 1
  // CHECK-NEXT:   simt.proxy_fence
  // CHECK-NEXT:   simt.barrier
  // CHECK:        simt.await
  // CHECK-NEXT:   simt.barrier
  // CHECK-NEXT: }
  tile.kernel @pipelined grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : bf16
    %more = arith.cmpi slt, %c0, %i : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %other = simt.alloc "other" : !q
    %tile = tile.splat %zero : bf16 -> !qt
    simt.copy %keys[u = %c0], %k : !array, !k
    simt.commit
    scf.for %j = %c0 to %i step %c1 {
      simt.copy %keys[u = %c0], %k : !array, !k
      simt.commit
      simt.wait 1
      simt.barrier
      %s0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
      %t0 = simt.await 0 %s0 : !p
      simt.barrier
    }
  }

  // A loop may have no iteration: what was written before it is fenced after it, and that fence is enough.
  // CHECK-LABEL: tile.kernel @before_the_loop
  // CHECK:      simt.write
  // CHECK-NEXT: scf.for
  // CHECK-NEXT:   simt.barrier
  // CHECK-NEXT: }
  // CHECK-NEXT: simt.proxy_fence
  // CHECK-NEXT: simt.barrier
  tile.kernel @before_the_loop grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : bf16
    %more = arith.cmpi slt, %c0, %i : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %other = simt.alloc "other" : !q
    %tile = tile.splat %zero : bf16 -> !qt
    simt.write %tile, %q : !qt, !q
    scf.for %j = %c0 to %i step %c1 {
      simt.barrier
    }
    simt.barrier
    %s0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
    %t0 = simt.await 0 %s0 : !p
  }

  // Without started products there are no fences.
  // CHECK-LABEL: tile.kernel @no_products
  // CHECK:      simt.write
  // CHECK-NEXT: simt.barrier
  tile.kernel @no_products grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : bf16
    %more = arith.cmpi slt, %c0, %i : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %other = simt.alloc "other" : !q
    %tile = tile.splat %zero : bf16 -> !qt
    simt.write %tile, %q : !qt, !q
    simt.barrier
  }
}
