// Products are started, and awaited where the description of the pass says. A second run changes nothing.
// RUN: taylor-opt %s --taylor-simt-start-products | FileCheck %s --implicit-check-not=simt.dot --implicit-check-not=simt.await --implicit-check-not=simt.start
// RUN: taylor-opt %s --taylor-simt-start-products --taylor-simt-start-products | FileCheck %s --implicit-check-not=simt.dot --implicit-check-not=simt.await --implicit-check-not=simt.start
// RUN: echo "module {}" | not taylor-opt --taylor-simt-start-products 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expected a tile.program, but found none; run taylor-tile-pipeline before

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
#o = #simt.layout<lane = [e:2, e:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [e:1*2, t:8*2, e:8*8]>
#r = #simt.layout<lane = [_, _, t:1, t:2, t:4], warp = [t:16, t:32], register = [t:8*2]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!v = !simt.buffer<1 x [u = 64, e = 64], bf16, swizzle = 128>
!st = !tile.tile<[t = 64, u = 64], f32, #s>
!pt = !tile.tile<[t = 64, u = 64], bf16, #s>
!ot = !tile.tile<[e = 64, t = 64], f32, #o>
!rt = !tile.tile<[t = 64], f32, #r>
!out = !tile.array<[t], f32>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @started {
  %o = tile.tensor "output:o" : !out
  // The wait stands before the first reader, also where a branch reads it; what is read later stays in flight. One wait takes what is complete then.
  // The second product was there to be started before; the third, whose slot is computed after that wait, was not.
  // CHECK-LABEL: tile.kernel @first_reader
  // CHECK:      %[[S:.*]] = simt.start wgmma %[[Q:.*]], %[[K:.*]] over(d)
  // CHECK-NEXT: %[[DP:.*]] = simt.start wgmma %[[Q]], %[[K]] over(d)
  // CHECK-NEXT: %[[ST:.*]] = simt.await 1 %[[S]] :
  // CHECK-NEXT: scf.if
  // CHECK-NEXT:   tile.reduce sum %[[ST]]
  // CHECK:      %[[SLOT:.*]] = simt.slot
  // CHECK-NEXT: %[[OTHER:.*]] = simt.start wgmma %[[Q]], %[[SLOT]] over(d)
  // CHECK-NEXT: %[[BOTH:.*]]:2 = simt.await 0 %[[DP]], %[[OTHER]] :
  // CHECK-NEXT: tile.map (%{{.*}} = %[[BOTH]]#0, %{{.*}} = %[[BOTH]]#1)
  tile.kernel @first_reader grid(%i in t) {
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %more = arith.cmpi slt, %c0, %i : index
    %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
    scf.if %more {
      %x = tile.reduce sum %s over(u) : !st -> !rt
      tile.store %x, %o[t = %i] : !rt, !out
    }
    %dp = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
    %slots = simt.alloc "slots" : !simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>
    %other = arith.subi %c1, %i : index
    %slot = simt.slot %slots[%other] : !simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>
    %third = simt.dot wgmma %q, %slot over(d) : !q, !k -> !st
    %both = tile.map (%x = %dp, %y = %third) : (!st, !st) -> !st {
      %z = arith.addf %x, %y : f32
      tile.yield %z : f32
    }
    %sum = tile.reduce sum %both over(u) : !st -> !rt
    tile.store %sum, %o[t = %i] : !rt, !out
  }

  // After a barrier the buffers may be written again; so all is complete before it, and nothing is started across it.
  // CHECK-LABEL: tile.kernel @barrier
  // CHECK:      %[[S:.*]] = simt.start
  // CHECK-NEXT: %[[T:.*]] = simt.start
  // CHECK-NEXT: %[[READY:.*]]:2 = simt.await 0 %[[S]], %[[T]] :
  // CHECK-NEXT: simt.barrier
  // CHECK:      %[[U:.*]] = simt.start
  // CHECK-NEXT: simt.await 0 %[[U]] :
  tile.kernel @barrier grid(%i in t) {
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
    %t = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
    simt.barrier
    %a = tile.reduce sum %s over(u) : !st -> !rt
    tile.store %a, %o[t = %i] : !rt, !out
    %b = tile.reduce sum %t over(u) : !st -> !rt
    tile.store %b, %o[t = %i] : !rt, !out
    %u = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
    %c = tile.reduce sum %u over(u) : !st -> !rt
    tile.store %c, %o[t = %i] : !rt, !out
  }

  // The same for a loop with a barrier inside.
  // CHECK-LABEL: tile.kernel @barrier_inside
  // CHECK:      %[[S:.*]] = simt.start
  // CHECK-NEXT: %[[READY:.*]] = simt.await 0 %[[S]] :
  // CHECK-NEXT: scf.for
  // CHECK-NEXT:   simt.barrier
  // CHECK:      tile.reduce sum %[[READY]]
  tile.kernel @barrier_inside grid(%i in t) {
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
    scf.for %j = %c0 to %i step %c1 {
      simt.barrier
    }
    %a = tile.reduce sum %s over(u) : !st -> !rt
    tile.store %a, %o[t = %i] : !rt, !out
  }

  // A loop that only reads goes on beside what was started before it; its own products are complete when an iteration ends, also those that it
  // carries.
  // CHECK-LABEL: tile.kernel @loop_without_barrier
  // CHECK:      %[[S:.*]] = simt.start
  // CHECK:      %[[SUMS:.*]] = scf.for {{.*}} iter_args(%[[C:.*]] = %
  // CHECK-NEXT:   %[[P:.*]] = simt.start wgmma %{{.*}}, %{{.*}} over(d) into %[[C]] : !tile
  // CHECK-NEXT:   %[[N:.*]] = simt.await 0 %[[P]] :
  // CHECK-NEXT:   scf.yield %[[N]]
  // CHECK:      tile.reduce sum %[[SUMS]]
  // CHECK:      %[[READY:.*]] = simt.await 0 %[[S]] :
  // CHECK-NEXT: tile.reduce sum %[[READY]]
  tile.kernel @loop_without_barrier grid(%i in t) {
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
    %none = tile.splat %zero : f32 -> !st
    %sums = scf.for %j = %c0 to %i step %c1 iter_args(%c = %none) -> (!st) {
      %n = simt.dot wgmma %q, %k over(d) into %c : !q, !k -> !st
      scf.yield %n : !st
    }
    %a = tile.reduce sum %sums over(u) : !st -> !rt
    tile.store %a, %o[t = %i] : !rt, !out
    %b = tile.reduce sum %s over(u) : !st -> !rt
    tile.store %b, %o[t = %i] : !rt, !out
  }

  // What a branch starts is complete when it ends; its reader outside reads the branch.
  // CHECK-LABEL: tile.kernel @end_of_branch
  // CHECK:      scf.if
  // CHECK-NEXT:   %[[S:.*]] = simt.start
  // CHECK-NEXT:   %[[T:.*]] = simt.await 0 %[[S]] :
  // CHECK-NEXT:   scf.yield %[[T]]
  // CHECK-NEXT: } else {
  // CHECK:      }
  tile.kernel @end_of_branch grid(%i in t) {
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %more = arith.cmpi slt, %c0, %i : index
    %none = tile.splat %zero : f32 -> !st
    %s = scf.if %more -> (!st) {
      %t = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      scf.yield %t : !st
    } else {
      scf.yield %none : !st
    }
    %a = tile.reduce sum %s over(u) : !st -> !rt
    tile.store %a, %o[t = %i] : !rt, !out
  }

  // No product is left in flight at the end of a kernel.
  // CHECK-LABEL: tile.kernel @end_of_kernel
  // CHECK:      %[[S:.*]] = simt.start
  // CHECK-NEXT: simt.await 0 %[[S]] :
  // CHECK-NEXT: }
  tile.kernel @end_of_kernel grid(%i in t) {
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
  }

  // What adds to a product in flight takes it without a wait, and one wait takes the last of them. The oldest group of two sums is not the first
  // to be continued.
  // CHECK-LABEL: tile.kernel @chain
  // CHECK:      %[[A:.*]] = simt.start wgmma %{{.*}}, %{{.*}} over(d) : !simt
  // CHECK-NEXT: %[[B:.*]] = simt.start wgmma %{{.*}}, %{{.*}} over(d) : !simt
  // CHECK-NEXT: %[[A1:.*]] = simt.start wgmma %{{.*}}, %{{.*}} over(d) into %[[A]] : !simt.pending
  // CHECK-NEXT: %[[BT:.*]] = simt.await 1 %[[B]] :
  // CHECK-NEXT: tile.reduce sum %[[BT]]
  // CHECK:      simt.await 0 %[[A1]] :
  tile.kernel @chain grid(%i in t) {
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %a = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
    %b = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
    %a1 = simt.dot wgmma %q, %k over(d) into %a : !q, !k -> !st
    %x = tile.reduce sum %b over(u) : !st -> !rt
    tile.store %x, %o[t = %i] : !rt, !out
    %y = tile.reduce sum %a1 over(u) : !st -> !rt
    tile.store %y, %o[t = %i] : !rt, !out
  }

  // Where something else reads the sum too, the next product waits for it.
  // CHECK-LABEL: tile.kernel @shared_accumulator
  // CHECK:      %[[A:.*]] = simt.start wgmma %{{.*}}, %{{.*}} over(d) : !simt
  // CHECK-NEXT: %[[AT:.*]] = simt.await 0 %[[A]] :
  // CHECK-NEXT: %[[A1:.*]] = simt.start wgmma %{{.*}}, %{{.*}} over(d) into %[[AT]] : !tile
  // CHECK-NEXT: tile.reduce sum %[[AT]]
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: simt.await 0 %[[A1]] :
  tile.kernel @shared_accumulator grid(%i in t) {
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %a = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
    %a1 = simt.dot wgmma %q, %k over(d) into %a : !q, !k -> !st
    %x = tile.reduce sum %a over(u) : !st -> !rt
    tile.store %x, %o[t = %i] : !rt, !out
    %y = tile.reduce sum %a1 over(u) : !st -> !rt
    tile.store %y, %o[t = %i] : !rt, !out
  }

  // An operand in registers is complete before the product that takes it.
  // CHECK-LABEL: tile.kernel @operand
  // CHECK:      %[[A:.*]] = simt.start wgmma %{{.*}}, %{{.*}} over(d)
  // CHECK-NEXT: %[[AT:.*]] = simt.await 0 %[[A]] :
  // CHECK-NEXT: %[[P:.*]] = tile.map (%{{.*}} = %[[AT]])
  // CHECK:      %[[B:.*]] = simt.start wgmma %[[P]], %{{.*}} over(u)
  // CHECK-NEXT: simt.await 0 %[[B]] :
  tile.kernel @operand grid(%i in t) {
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %a = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
    %p = tile.map (%x = %a) : (!st) -> !pt {
      %y = arith.truncf %x : f32 to bf16
      tile.yield %y : bf16
    }
    %b = simt.dot wgmma %p, %v over(u) : !pt, !v -> !ot
    %y = tile.reduce sum %b over(e) : !ot -> !rt
    tile.store %y, %o[t = %i] : !rt, !out
  }

  // What the threads compute without the result comes before the wait, which does not name it: no product waits for it. Rounded tiles stay
  // where they are.
  // CHECK-LABEL: tile.kernel @computed_before_the_wait
  // CHECK:      %[[X:.*]] = tile.splat
  // CHECK-NEXT: %[[A:.*]] = simt.start
  // CHECK-NEXT: %[[DOUBLE:.*]] = tile.map (%{{.*}} = %[[X]])
  // CHECK:      %[[MOST:.*]] = tile.reduce max %[[DOUBLE]]
  // CHECK-NEXT: %[[AT:.*]] = simt.await 0 %[[A]] :
  // CHECK-NEXT: tile.reduce sum %[[AT]]
  // CHECK:      %[[P:.*]] = tile.map (%{{.*}} = %[[X]]) {{.*}} -> !tile.tile<[t = 64, u = 64], bf16
  // CHECK:      %[[B:.*]] = simt.start wgmma %[[P]]
  // CHECK-NEXT: simt.await 0 %[[B]] :
  tile.kernel @computed_before_the_wait grid(%i in t) {
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !st
    %a = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
    %s = tile.reduce sum %a over(u) : !st -> !rt
    tile.store %s, %o[t = %i] : !rt, !out
    %round = tile.map (%y = %x) : (!st) -> !pt {
      %z = arith.truncf %y : f32 to bf16
      tile.yield %z : bf16
    }
    %double = tile.map (%y = %x) : (!st) -> !st {
      %z = arith.addf %y, %y : f32
      tile.yield %z : f32
    }
    %most = tile.reduce max %double over(u) : !st -> !rt
    tile.store %most, %o[t = %i] : !rt, !out
    %b = simt.dot wgmma %round, %v over(u) : !pt, !v -> !ot
    %y = tile.reduce sum %b over(e) : !ot -> !rt
    tile.store %y, %o[t = %i] : !rt, !out
  }

  // What reads a later product, and not the result, stays until that product's wait. It names what follows from the product awaited before.
  // CHECK-LABEL: tile.kernel @reader_of_a_later_product
  // CHECK:      %[[A:.*]] = simt.start
  // CHECK-NEXT: %[[B:.*]] = simt.start
  // CHECK-NEXT: %[[AT:.*]] = simt.await 1 %[[A]] :
  // CHECK-NEXT: %[[S:.*]] = tile.reduce sum %[[AT]]
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: %[[BT:.*]] = simt.await 0 %[[B]] after %[[S]]
  // CHECK-NEXT: tile.map (%{{.*}} = %[[BT]])
  tile.kernel @reader_of_a_later_product grid(%i in t) {
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %a = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
    %b = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
    %s = tile.reduce sum %a over(u) : !st -> !rt
    tile.store %s, %o[t = %i] : !rt, !out
    %double = tile.map (%y = %b) : (!st) -> !st {
      %z = arith.addf %y, %y : f32
      tile.yield %z : f32
    }
    %t = tile.reduce sum %double over(u) : !st -> !rt
    tile.store %t, %o[t = %i] : !rt, !out
    %both = tile.map (%y = %s, %z = %t) : (!rt, !rt) -> !rt {
      %w = arith.addf %y, %z : f32
      tile.yield %w : f32
    }
    tile.store %both, %o[t = %i] : !rt, !out
  }

  // The tile that replaces an operand from the iteration before takes its registers: it is computed when that product is complete.
  // CHECK-LABEL: tile.kernel @replaced_operand
  // CHECK:      scf.for {{.*}} iter_args(%[[C:.*]] = %{{.*}}, %[[W:.*]] = %{{.*}})
  // CHECK-NEXT:   %[[B:.*]] = simt.start wgmma %[[W]], %{{.*}} over(u) into %[[C]]
  // CHECK-NEXT:   %[[X:.*]] = tile.splat
  // CHECK-NEXT:   %[[N:.*]] = simt.await 0 %[[B]] :
  // CHECK-NEXT:   %[[ROUND:.*]] = tile.map (%{{.*}} = %[[X]])
  // CHECK:        scf.yield %[[N]], %[[ROUND]]
  tile.kernel @replaced_operand grid(%i in t) {
    %v = simt.alloc "v" : !v
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.splat %zero : f32 -> !ot
    %w0 = tile.splat %zero : f32 -> !st
    %w1 = tile.map (%y = %w0) : (!st) -> !pt {
      %z = arith.truncf %y : f32 to bf16
      tile.yield %z : bf16
    }
    %r:2 = scf.for %j = %c0 to %i step %c1 iter_args(%c = %n, %w = %w1) -> (!ot, !pt) {
      %b = simt.dot wgmma %w, %v over(u) into %c : !pt, !v -> !ot
      %x = tile.splat %zero : f32 -> !st
      %round = tile.map (%y = %x) : (!st) -> !pt {
        %z = arith.truncf %y : f32 to bf16
        tile.yield %z : bf16
      }
      scf.yield %b, %round : !ot, !pt
    }
    %y = tile.reduce sum %r#0 over(e) : !ot -> !rt
    tile.store %y, %o[t = %i] : !rt, !out
  }

  // A use of a ring is released when no product in flight reads it; a wait for a second product's operand comes along with its start.
  // CHECK-LABEL: tile.kernel @released
  // CHECK:      consumer
  // CHECK:      %[[K:.*]] = simt.wait_full %[[KS:.*]][%[[N:.*]]] :
  // CHECK:      %[[S:.*]] = simt.start wgmma %[[Q:.*]], %[[K]] over(d)
  // CHECK-NEXT: %[[V:.*]] = simt.wait_full %[[VS:.*]][%[[N]]] :
  // CHECK-NEXT: %[[T:.*]] = simt.start wgmma %[[Q]], %[[V]] over(d)
  // CHECK-NEXT: %[[ST:.*]] = simt.await 1 %[[S]] :
  // CHECK-NEXT: simt.release %[[KS]][%[[N]]] :
  // CHECK-NEXT: tile.reduce sum %[[ST]]
  // CHECK:      %[[TT:.*]] = simt.await 0 %[[T]] :
  // CHECK-NEXT: simt.release %[[VS]][%[[N]]] :
  // CHECK-NEXT: tile.reduce sum %[[TT]]
  tile.kernel @released grid(%i in t) {
    %q = simt.alloc "q" : !q
    %ks = simt.ring "k" : !ring
    %vs = simt.ring "v" : !ring
    %c0 = arith.constant 0 : index
    simt.roles members 1 registers 40, 232 producer {
    } consumer (%member) {
      %k = simt.wait_full %ks[%c0] : !ring
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      simt.release %ks[%c0] : !ring
      %a = tile.reduce sum %s over(u) : !st -> !rt
      tile.store %a, %o[t = %i] : !rt, !out
      %v = simt.wait_full %vs[%c0] : !ring
      %t = simt.dot wgmma %q, %v over(d) : !q, !k -> !st
      simt.release %vs[%c0] : !ring
      %b = tile.reduce sum %t over(u) : !st -> !rt
      tile.store %b, %o[t = %i] : !rt, !out
    }
  }

  // What threads read of a ring, and what waits for it, stands behind the wait for products: registers are scarcest before.
  // CHECK-LABEL: tile.kernel @read_late
  // CHECK:      %[[S:.*]] = simt.start wgmma
  // CHECK-NEXT: %[[ST:.*]] = simt.await 0 %[[S]] :
  // CHECK-NEXT: simt.release
  // CHECK-NEXT: %[[R:.*]] = simt.wait_full %[[RS:.*]][%[[N:.*]]] :
  // CHECK-NEXT: %[[X:.*]] = simt.read %[[R]]
  // CHECK-NEXT: tile.map (%{{.*}} = %[[ST]], %{{.*}} = %[[X]])
  // CHECK:      simt.release %[[RS]][%[[N]]] :
  tile.kernel @read_late grid(%i in t) {
    %q = simt.alloc "q" : !q
    %ks = simt.ring "k" : !ring
    %rs = simt.ring "r" : !simt.ring<!simt.buffer<2 x [t = 64], f32>>
    %c0 = arith.constant 0 : index
    simt.roles members 1 registers 40, 232 producer {
    } consumer (%member) {
      %k = simt.wait_full %ks[%c0] : !ring
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      simt.release %ks[%c0] : !ring
      %r = simt.wait_full %rs[%c0] : !simt.ring<!simt.buffer<2 x [t = 64], f32>>
      %x = simt.read %r : !simt.buffer<1 x [t = 64], f32> -> !rt
      %y = tile.map (%a = %s, %b = %x) : (!st, !rt) -> !st {
        %c = arith.mulf %a, %b : f32
        tile.yield %c : f32
      }
      simt.release %rs[%c0] : !simt.ring<!simt.buffer<2 x [t = 64], f32>>
      %z = tile.reduce sum %y over(u) : !st -> !rt
      tile.store %z, %o[t = %i] : !rt, !out
    }
  }
}
