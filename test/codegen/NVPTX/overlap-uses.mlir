// The last products of a member's iteration beside the first ones of the next, and every reason for which they stay where they are.
// RUN: taylor-opt %s --taylor-simt-overlap-uses | FileCheck %s
// A loop carries 32 registers of a sum, which count a quarter more, and multiplies 32 of scores; weights of one number that wait are 16: 88 of 160, of two 104. What threads read in an iteration counts, too.
// RUN: taylor-opt %s --taylor-simt-overlap-uses="scalars=56" | FileCheck %s
// RUN: taylor-opt %s --taylor-simt-overlap-uses="scalars=57" | FileCheck %s --check-prefix=ONE
// ONE-LABEL: tile.kernel @attend
// ONE:       scf.if
// ONE-LABEL: tile.kernel @two_into_one_sum
// ONE-NOT:   scf.if
// RUN: taylor-opt %s --taylor-simt-overlap-uses="scalars=73" | FileCheck %s --check-prefix=NOT
// NOT-NOT:   scf.if
// A function in many steps keeps one more tile of 32 registers: 120.
// RUN: sed 's/math.exp2/math.tanh/' %s > %t.tanh.mlir
// RUN: taylor-opt %t.tanh.mlir --taylor-simt-overlap-uses="scalars=40" | FileCheck %s --check-prefix=TANH
// RUN: taylor-opt %t.tanh.mlir --taylor-simt-overlap-uses="scalars=41" | FileCheck %s --check-prefix=MIXED
// TANH-LABEL:  tile.kernel @attend
// TANH:        scf.if
// MIXED-LABEL: tile.kernel @attend
// MIXED-NOT:   scf.if
// MIXED-LABEL: tile.kernel @two_into_one_sum
// Blocks that go from place to place have fewer.
// RUN: taylor-opt %s --taylor-simt-persist-blocks --taylor-simt-overlap-uses="scalars=32 places=40" | FileCheck %s --check-prefix=PERSIST
// RUN: taylor-opt %s --taylor-simt-persist-blocks --taylor-simt-overlap-uses="scalars=32 places=41" | FileCheck %s --check-prefix=NONE
// PERSIST-LABEL:    tile.kernel @attend
// PERSIST:          consumer
// PERSIST:          simt.own_tiles
// PERSIST:          scf.if
// PERSIST-LABEL:    tile.kernel @two_into_one_sum
// NONE-LABEL: tile.kernel @attend
// NONE:       consumer
// NONE:       simt.own_tiles
// NO-PLACES-NOT:   scf.if
// NONE-LABEL: tile.kernel @two_into_one_sum
// RUN: taylor-opt %s --taylor-simt-overlap-uses --taylor-simt-schedule-copies --taylor-simt-allocate-shared --canonicalize --cse --taylor-simt-start-products --taylor-simt-fence-proxies | FileCheck %s --check-prefix=AFTER
// RUN: not taylor-opt %s --taylor-simt-schedule-copies --taylor-simt-overlap-uses 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: expected ops on buffers in the order of the text; taylor-simt-schedule-copies has run already

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
#o = #simt.layout<lane = [e:2, e:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [e:1*2, t:8*2, e:8*8]>
#d = #simt.layout<lane = [d:2, d:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [d:1*2, t:8*2, d:8*8]>
#r = #simt.layout<lane = [e:2, e:4, u:1, u:2, u:4], warp = [u:16, u:32], register = [e:1*2, u:8*2, e:8*8]>
!keys = !tile.array<[u, d = 64], bf16>
!values = !tile.array<[u, e = 64], bf16>
!queries = !tile.array<[t, d = 64], bf16>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!v = !simt.buffer<1 x [u = 64, e = 64], bf16, swizzle = 128>
!kring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
!vring = !simt.ring<!simt.buffer<2 x [u = 64, e = 64], bf16, swizzle = 128>>
!st = !tile.tile<[t = 64, u = 64], f32, #s>
!pt = !tile.tile<[t = 64, u = 64], bf16, #s>
!ot = !tile.tile<[e = 64, t = 64], f32, #o>
!dt = !tile.tile<[d = 64, t = 64], f32, #d>
!out = !tile.array<[t, e = 64], f32>
!derived = !tile.array<[t, d = 64], f32>
tile.program @members {
  %queries = tile.tensor "input:q" : !queries
  %keys = tile.tensor "input:k" : !keys
  %values = tile.tensor "input:v" : !values
  %out = tile.tensor "output:o" : !out
  %derived = tile.tensor "output:dq" : !derived
  // The example of the description.
  // CHECK-LABEL: tile.kernel @attend grid
  // CHECK:      %[[K:.*]] = simt.ring "k"
  // CHECK-NEXT: %[[V:.*]] = simt.ring "v"
  // CHECK:      producer {
  // CHECK-NEXT:   scf.for
  // CHECK:      consumer
  // CHECK:      simt.copy %{{.*}}, %[[Q:.*]] :
  // CHECK-NEXT: %[[ANY:.*]] = arith.cmpi slt, %c0, %[[N:.*]] : index
  // CHECK-NEXT: %[[R:.*]]:2 = scf.if %[[ANY]] -> (!tile.tile<[e = 64, t = 64], f32, #{{.*}}>, index) {
  // CHECK-NEXT:   %[[KF:.*]] = simt.wait_full %[[K]][%c0]
  // CHECK-NEXT:   %[[S0:.*]] = simt.dot wgmma %[[Q]], %[[KF]] over(d)
  // CHECK-NEXT:   simt.release %[[K]][%c0]
  // CHECK-NEXT:   %[[W0:.*]] = tile.map (%{{.*}} = %[[S0]])
  // CHECK-NOT:    simt.wait_full
  // CHECK:        %[[N1:.*]] = arith.addi %c0, %c1
  // CHECK-NEXT:   %[[SECOND:.*]] = arith.addi %c0, %c64
  // CHECK-NEXT:   %[[L:.*]]:3 = scf.for %{{.*}} = %[[SECOND]] to %[[N]] step %c64 iter_args(%[[O:.*]] = %[[O0:.*]], %[[U:.*]] = %[[N1]], %[[W:.*]] = %[[W0]])
  // CHECK:          %[[BEFORE:.*]] = arith.subi %[[U]], %
  // CHECK-NEXT:     %[[KS:.*]] = simt.wait_full %[[K]][%[[U]]]
  // CHECK-NEXT:     %[[S:.*]] = simt.dot wgmma %[[Q]], %[[KS]] over(d)
  // CHECK-NEXT:     simt.release %[[K]][%[[U]]]
  // CHECK-NEXT:     %[[W1:.*]] = tile.map (%{{.*}} = %[[S]])
  // CHECK:          %[[NEXT:.*]] = arith.addi %[[U]], %c1
  // CHECK-NEXT:     %[[VS:.*]] = simt.wait_full %[[V]][%[[BEFORE]]]
  // CHECK-NEXT:     %[[O1:.*]] = simt.dot wgmma %[[W]], %[[VS]] over(u) into %[[O]]
  // CHECK-NEXT:     simt.release %[[V]][%[[BEFORE]]]
  // CHECK-NEXT:     scf.yield %[[O1]], %[[NEXT]], %[[W1]]
  // CHECK-NEXT:   }
  // CHECK:        %[[LAST:.*]] = arith.subi %[[L]]#1, %
  // CHECK-NEXT:   %[[VL:.*]] = simt.wait_full %[[V]][%[[LAST]]]
  // CHECK-NEXT:   %[[O2:.*]] = simt.dot wgmma %[[L]]#2, %[[VL]] over(u) into %[[L]]#0
  // CHECK-NEXT:   simt.release %[[V]][%[[LAST]]]
  // CHECK-NEXT:   scf.yield %[[O2]], %[[L]]#1
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   scf.yield %[[O0]], %c0
  // CHECK-NEXT: }
  // CHECK-NEXT: tile.store %[[R]]#0

  // After all passes: both products are under way while the exponentials are computed, and each use is released when its own is complete.
  // AFTER-LABEL: tile.kernel @attend grid
  // AFTER:      consumer
  // AFTER:      scf.if
  // AFTER:      scf.for
  // AFTER-NEXT:   %[[BEFORE:.*]] = arith.subi %[[U:.*]], %c1
  // AFTER-NEXT:   %[[KS:.*]] = simt.wait_full %[[K:.*]][%[[U]]]
  // AFTER-NEXT:   %[[S:.*]] = simt.start wgmma %{{.*}}, %[[KS]]
  // AFTER-NEXT:   %[[VS:.*]] = simt.wait_full %[[V:.*]][%[[BEFORE]]]
  // AFTER-NEXT:   %[[P:.*]] = simt.start wgmma %{{.*}}, %[[VS]]
  // AFTER-NEXT:   simt.await 1 %[[S]]
  // AFTER-NEXT:   simt.release %[[K]][%[[U]]]
  // AFTER:        simt.await 0 %[[P]]
  // AFTER-NEXT:   simt.release %[[V]][%[[BEFORE]]]
  tile.kernel @attend grid(%i in ceildiv(t, 192)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %kring = simt.ring "k" : !kring
    %vring = simt.ring "v" : !vring
    %q = simt.alloc "q" : !q
    simt.roles members 3 registers 32, 160 producer {
      scf.for %j = %c0 to %n step %c64 iter_args(%use = %c0) -> (index) {
        %k = simt.acquire %kring[%use] : !kring
        simt.copy %keys [u = %j], %k signals %kring[%use] : !keys, !k, !kring
        %v = simt.acquire %vring[%use] : !vring
        simt.copy %values [u = %j], %v signals %vring[%use] : !values, !v, !vring
        %next = arith.addi %use, %c1 : index
        scf.yield %next : index
      }
    } consumer (%member) {
      %first = arith.muli %member, %c64 : index
      %o0 = tile.splat %zero : f32 -> !ot
      simt.copy %queries[t = %first], %q : !queries, !q
      %r:2 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0, %use = %c0) -> (!ot, index) {
        %k = simt.wait_full %kring[%use] : !kring
        %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
        simt.release %kring[%use] : !kring
        %w = tile.map (%x = %s) : (!st) -> !pt {
          %y = math.exp2 %x : f32
          %z = arith.truncf %y : f32 to bf16
          tile.yield %z : bf16
        }
        %v = simt.wait_full %vring[%use] : !vring
        %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
        simt.release %vring[%use] : !vring
        %next = arith.addi %use, %c1 : index
        scf.yield %o1, %next : !ot, index
      }
      tile.store %r#0, %out[t = %first] : !ot, !out
    }
  }

  // Weights as two numbers, by the same values: one wait, and one release after both. Blocks that go from place to place count on from the places before.
  // CHECK-LABEL: tile.kernel @two_into_one_sum grid
  // CHECK:      consumer
  // CHECK:      scf.for %{{.*}} iter_args(%[[PLACES:.*]] = %c0)
  // CHECK:        %[[USE0:.*]] = arith.addi %[[PLACES]], %c0
  // CHECK:        simt.wait_full %[[K:.*]][%[[USE0]]]
  // CHECK:        scf.for %{{.*}} iter_args(%[[O:.*]] = %{{.*}}, %[[U:.*]] = %{{.*}}, %[[W:.*]] = %{{.*}}, %[[X:.*]] = %
  // CHECK:          %[[LESS:.*]] = arith.subi %[[U]], %
  // CHECK-NEXT:     %[[BEFORE:.*]] = arith.addi %[[PLACES]], %[[LESS]]
  // CHECK:          %[[USE:.*]] = arith.addi %[[PLACES]], %[[U]]
  // CHECK:          simt.wait_full %[[K]][%[[USE]]]
  // CHECK:          %[[VS:.*]] = simt.wait_full %[[V:.*]][%[[BEFORE]]]
  // CHECK-NEXT:     %[[O1:.*]] = simt.dot wgmma %[[W]], %[[VS]] over(u) into %[[O]]
  // CHECK-NEXT:     %[[O2:.*]] = simt.dot wgmma %[[X]], %[[VS]] over(u) into %[[O1]]
  // CHECK-NEXT:     simt.release %[[V]][%[[BEFORE]]]
  // CHECK:          scf.yield %[[O2]],
  tile.kernel @two_into_one_sum grid(%i in ceildiv(t, 192)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %kring = simt.ring "k" : !kring
    %vring = simt.ring "v" : !vring
    %q = simt.alloc "q" : !q
    simt.roles members 3 registers 32, 160 producer {
      scf.for %j = %c0 to %n step %c64 iter_args(%use = %c0) -> (index) {
        %k = simt.acquire %kring[%use] : !kring
        simt.copy %keys [u = %j], %k signals %kring[%use] : !keys, !k, !kring
        %v = simt.acquire %vring[%use] : !vring
        simt.copy %values [u = %j], %v signals %vring[%use] : !values, !v, !vring
        %next = arith.addi %use, %c1 : index
        scf.yield %next : index
      }
    } consumer (%member) {
      %first = arith.muli %member, %c64 : index
      %o0 = tile.splat %zero : f32 -> !ot
      simt.copy %queries[t = %first], %q : !queries, !q
      scf.for %place = %c0 to %n step %c64 iter_args(%before = %c0) -> (index) {
        %r:2 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0, %use = %c0) -> (!ot, index) {
          %at = arith.addi %before, %use : index
          %k = simt.wait_full %kring[%at] : !kring
          %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
          simt.release %kring[%at] : !kring
          %w, %w1 = tile.map (%x = %s) : (!st) -> (!pt, !pt) {
            %z = arith.truncf %x : f32 to bf16
            %a = arith.negf %z : bf16
            tile.yield %z, %a : bf16, bf16
          }
          %v = simt.wait_full %vring[%at] : !vring
          %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
          %o2 = simt.dot wgmma %w1, %v over(u) into %o1 : !pt, !v -> !ot
          simt.release %vring[%at] : !vring
          %next = arith.addi %use, %c1 : index
          scf.yield %o2, %next : !ot, index
        }
        tile.store %r#0, %out[t = %first] : !ot, !out
        %after = arith.addi %before, %r#1 : index
        scf.yield %after : index
      }
    }
  }

  // Threads read the values too.
  // CHECK-LABEL: tile.kernel @other_reader grid
  // CHECK-NOT:   scf.if
  tile.kernel @other_reader grid(%i in ceildiv(t, 192)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %kring = simt.ring "k" : !kring
    %vring = simt.ring "v" : !vring
    %q = simt.alloc "q" : !q
    simt.roles members 3 registers 32, 160 producer {
      scf.for %j = %c0 to %n step %c64 iter_args(%use = %c0) -> (index) {
        %k = simt.acquire %kring[%use] : !kring
        simt.copy %keys [u = %j], %k signals %kring[%use] : !keys, !k, !kring
        %v = simt.acquire %vring[%use] : !vring
        simt.copy %values [u = %j], %v signals %vring[%use] : !values, !v, !vring
        %next = arith.addi %use, %c1 : index
        scf.yield %next : index
      }
    } consumer (%member) {
      %first = arith.muli %member, %c64 : index
      %o0 = tile.splat %zero : f32 -> !ot
      simt.copy %queries[t = %first], %q : !queries, !q
      %r:2 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0, %use = %c0) -> (!ot, index) {
        %k = simt.wait_full %kring[%use] : !kring
        %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
        simt.release %kring[%use] : !kring
        %w = tile.map (%x = %s) : (!st) -> !pt {
          %y = math.exp2 %x : f32
          %z = arith.truncf %y : f32 to bf16
          tile.yield %z : bf16
        }
        %v = simt.wait_full %vring[%use] : !vring
        %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
        %back = simt.read %v : !v -> !tile.tile<[e = 64, u = 64], bf16, #r>
        simt.release %vring[%use] : !vring
        %next = arith.addi %use, %c1 : index
        scf.yield %o1, %next : !ot, index
      }
      tile.store %r#0, %out[t = %first] : !ot, !out
    }
  }

  // Two sums read one use.
  // CHECK-LABEL: tile.kernel @two_sums grid
  // CHECK-NOT:   scf.if
  tile.kernel @two_sums grid(%i in ceildiv(t, 192)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %kring = simt.ring "k" : !kring
    %vring = simt.ring "v" : !vring
    %q = simt.alloc "q" : !q
    simt.roles members 3 registers 32, 160 producer {
      scf.for %j = %c0 to %n step %c64 iter_args(%use = %c0) -> (index) {
        %k = simt.acquire %kring[%use] : !kring
        simt.copy %keys [u = %j], %k signals %kring[%use] : !keys, !k, !kring
        %v = simt.acquire %vring[%use] : !vring
        simt.copy %values [u = %j], %v signals %vring[%use] : !values, !v, !vring
        %next = arith.addi %use, %c1 : index
        scf.yield %next : index
      }
    } consumer (%member) {
      %first = arith.muli %member, %c64 : index
      %o0 = tile.splat %zero : f32 -> !ot
      simt.copy %queries[t = %first], %q : !queries, !q
      %r:3 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0, %p = %o0, %use = %c0) -> (!ot, !ot, index) {
        %k = simt.wait_full %kring[%use] : !kring
        %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
        simt.release %kring[%use] : !kring
        %w, %w1 = tile.map (%x = %s) : (!st) -> (!pt, !pt) {
          %z = arith.truncf %x : f32 to bf16
          %a = arith.negf %z : bf16
          tile.yield %z, %a : bf16, bf16
        }
        %v = simt.wait_full %vring[%use] : !vring
        %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
        %p1 = simt.dot wgmma %w1, %v over(u) into %p : !pt, !v -> !ot
        simt.release %vring[%use] : !vring
        %next = arith.addi %use, %c1 : index
        scf.yield %o1, %p1, %next : !ot, !ot, index
      }
      tile.store %r#0, %out[t = %first] : !ot, !out
    }
  }

  // The first product reads the use too, as the scores of a derivative do.
  // CHECK-LABEL: tile.kernel @keys_of_both_products grid
  // CHECK-NOT:   scf.if
  tile.kernel @keys_of_both_products grid(%i in ceildiv(t, 192)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %kring = simt.ring "k" : !kring
    %vring = simt.ring "v" : !vring
    %q = simt.alloc "q" : !q
    simt.roles members 3 registers 32, 160 producer {
      scf.for %j = %c0 to %n step %c64 iter_args(%use = %c0) -> (index) {
        %k = simt.acquire %kring[%use] : !kring
        simt.copy %keys [u = %j], %k signals %kring[%use] : !keys, !k, !kring
        %v = simt.acquire %vring[%use] : !vring
        simt.copy %values [u = %j], %v signals %vring[%use] : !values, !v, !vring
        %next = arith.addi %use, %c1 : index
        scf.yield %next : index
      }
    } consumer (%member) {
      %first = arith.muli %member, %c64 : index
      %o0 = tile.splat %zero : f32 -> !ot
      simt.copy %queries[t = %first], %q : !queries, !q
      %d0 = tile.splat %zero : f32 -> !dt
      %r:2 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %d0, %use = %c0) -> (!dt, index) {
        %k = simt.wait_full %kring[%use] : !kring
        %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
        %w = tile.map (%x = %s) : (!st) -> !pt {
          %y = math.exp2 %x : f32
          %z = arith.truncf %y : f32 to bf16
          tile.yield %z : bf16
        }
        %o1 = simt.dot wgmma %w, %k over(u) into %o : !pt, !k -> !dt
        simt.release %kring[%use] : !kring
        %next = arith.addi %use, %c1 : index
        scf.yield %o1, %next : !dt, index
      }
      tile.store %r#0, %derived[t = %first] : !dt, !derived
    }
  }

  // Not every use is this loop's.
  // CHECK-LABEL: tile.kernel @not_one_by_one grid
  // CHECK-NOT:   scf.if
  tile.kernel @not_one_by_one grid(%i in ceildiv(t, 192)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %kring = simt.ring "k" : !kring
    %vring = simt.ring "v" : !vring
    %q = simt.alloc "q" : !q
    simt.roles members 3 registers 32, 160 producer {
      scf.for %j = %c0 to %n step %c64 iter_args(%use = %c0) -> (index) {
        %k = simt.acquire %kring[%use] : !kring
        simt.copy %keys [u = %j], %k signals %kring[%use] : !keys, !k, !kring
        %v = simt.acquire %vring[%use] : !vring
        simt.copy %values [u = %j], %v signals %vring[%use] : !values, !v, !vring
        %next = arith.addi %use, %c1 : index
        scf.yield %next : index
      }
    } consumer (%member) {
      %first = arith.muli %member, %c64 : index
      %o0 = tile.splat %zero : f32 -> !ot
      simt.copy %queries[t = %first], %q : !queries, !q
      %r:2 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0, %use = %c0) -> (!ot, index) {
        %k = simt.wait_full %kring[%use] : !kring
        %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
        simt.release %kring[%use] : !kring
        %w = tile.map (%x = %s) : (!st) -> !pt {
          %y = math.exp2 %x : f32
          %z = arith.truncf %y : f32 to bf16
          tile.yield %z : bf16
        }
        %v = simt.wait_full %vring[%use] : !vring
        %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
        simt.release %vring[%use] : !vring
        %next = arith.addi %use, %c64 : index
        scf.yield %o1, %next : !ot, index
      }
      tile.store %r#0, %out[t = %first] : !ot, !out
    }
  }

  // No iteration counts the use.
  // CHECK-LABEL: tile.kernel @not_counted grid
  // CHECK-NOT:   scf.if
  tile.kernel @not_counted grid(%i in ceildiv(t, 192)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %kring = simt.ring "k" : !kring
    %vring = simt.ring "v" : !vring
    %q = simt.alloc "q" : !q
    simt.roles members 3 registers 32, 160 producer {
      scf.for %j = %c0 to %n step %c64 iter_args(%use = %c0) -> (index) {
        %k = simt.acquire %kring[%use] : !kring
        simt.copy %keys [u = %j], %k signals %kring[%use] : !keys, !k, !kring
        %v = simt.acquire %vring[%use] : !vring
        simt.copy %values [u = %j], %v signals %vring[%use] : !values, !v, !vring
        %next = arith.addi %use, %c1 : index
        scf.yield %next : index
      }
    } consumer (%member) {
      %first = arith.muli %member, %c64 : index
      %o0 = tile.splat %zero : f32 -> !ot
      simt.copy %queries[t = %first], %q : !queries, !q
      %r:2 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0, %use = %c0) -> (!ot, index) {
        %k = simt.wait_full %kring[%use] : !kring
        %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
        simt.release %kring[%use] : !kring
        %w = tile.map (%x = %s) : (!st) -> !pt {
          %y = math.exp2 %x : f32
          %z = arith.truncf %y : f32 to bf16
          tile.yield %z : bf16
        }
        %v = simt.wait_full %vring[%c0] : !vring
        %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
        simt.release %vring[%c0] : !vring
        %next = arith.addi %use, %c1 : index
        scf.yield %o1, %next : !ot, index
      }
      tile.store %r#0, %out[t = %first] : !ot, !out
    }
  }

  // The weights wait for no product.
  // CHECK-LABEL: tile.kernel @not_from_a_product grid
  // CHECK-NOT:   scf.if
  tile.kernel @not_from_a_product grid(%i in ceildiv(t, 192)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %kring = simt.ring "k" : !kring
    %vring = simt.ring "v" : !vring
    %q = simt.alloc "q" : !q
    simt.roles members 3 registers 32, 160 producer {
      scf.for %j = %c0 to %n step %c64 iter_args(%use = %c0) -> (index) {
        %k = simt.acquire %kring[%use] : !kring
        simt.copy %keys [u = %j], %k signals %kring[%use] : !keys, !k, !kring
        %v = simt.acquire %vring[%use] : !vring
        simt.copy %values [u = %j], %v signals %vring[%use] : !values, !v, !vring
        %next = arith.addi %use, %c1 : index
        scf.yield %next : index
      }
    } consumer (%member) {
      %first = arith.muli %member, %c64 : index
      %o0 = tile.splat %zero : f32 -> !ot
      simt.copy %queries[t = %first], %q : !queries, !q
      %fixed = tile.splat %zero : f32 -> !st
      %r:2 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0, %use = %c0) -> (!ot, index) {
        %k = simt.wait_full %kring[%use] : !kring
        %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
        simt.release %kring[%use] : !kring
        %w = tile.map (%x = %fixed) : (!st) -> !pt {
          %y = math.exp2 %x : f32
          %z = arith.truncf %y : f32 to bf16
          tile.yield %z : bf16
        }
        %v = simt.wait_full %vring[%use] : !vring
        %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
        simt.release %vring[%use] : !vring
        %next = arith.addi %use, %c1 : index
        scf.yield %o1, %next : !ot, index
      }
      tile.store %r#0, %out[t = %first] : !ot, !out
    }
  }

  // No member: copies that stand in the loop are taylor-simt-overlap-iterations'.
  // CHECK-LABEL: tile.kernel @no_roles grid
  // CHECK-NOT:   scf.if
  tile.kernel @no_roles grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !queries, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0) -> (!ot) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %w = tile.map (%x = %s) : (!st) -> !pt {
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16
      }
      simt.copy %values[u = %j] until(u = %n), %v : !values, !v
      %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
      scf.yield %o1 : !ot
    }
    tile.store %r, %out[t = %i] : !ot, !out
  }
}
