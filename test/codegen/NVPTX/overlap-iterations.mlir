// The last products of an iteration beside the first ones of the next, and every reason for which they stay where they are.
// RUN: taylor-opt %s --taylor-simt-overlap-iterations | FileCheck %s
// RUN: taylor-opt %s --taylor-simt-overlap-iterations="alone=65536" | FileCheck %s --check-prefix=NOT
// RUN: taylor-opt %s --taylor-simt-overlap-iterations="registers=64" | FileCheck %s --check-prefix=NOT
// RUN: taylor-opt %s --taylor-simt-overlap-iterations="shared=49152" | FileCheck %s --check-prefix=NOT
// NOT-NOT: .last"
// RUN: taylor-opt %s --taylor-simt-overlap-iterations --taylor-simt-schedule-copies --taylor-simt-start-products --taylor-simt-fence-proxies -o /dev/null
// RUN: not taylor-opt %s --taylor-simt-schedule-copies --taylor-simt-overlap-iterations 2>&1 | FileCheck %s --check-prefix=AFTER
// AFTER: expected ops on buffers in the order of the text; taylor-simt-schedule-copies has run already

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
#o = #simt.layout<lane = [e:2, e:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [e:1*2, t:8*2, e:8*8]>
!keys = !tile.array<[u, d = 64], bf16>
!values = !tile.array<[u, e = 64], bf16>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!v = !simt.buffer<1 x [u = 64, e = 64], bf16, swizzle = 128>
!st = !tile.tile<[t = 64, u = 64], f32, #s>
!pt = !tile.tile<[t = 64, u = 64], bf16, #s>
!ot = !tile.tile<[e = 64, t = 64], f32, #o>
!out = !tile.array<[t, e = 64], f32>
tile.program @overlapped {
  %queries = tile.tensor "input:q" : !tile.array<[t, d = 64], bf16>
  %keys = tile.tensor "input:k" : !keys
  %values = tile.tensor "input:v" : !values
  %out = tile.tensor "output:o" : !out
  // The example of the description. Without an iteration selects give what the loop began with, and zeros; the last copy is of no row then.
  // CHECK-LABEL: tile.kernel @attention 
  // CHECK-DAG:  %[[K:.*]] = simt.alloc "k" :
  // CHECK-DAG:  %[[KF:.*]] = simt.alloc "k.first" :
  // CHECK-DAG:  %[[V:.*]] = simt.alloc "v" :
  // CHECK-DAG:  %[[VL:.*]] = simt.alloc "v.last" :
  // CHECK-DAG:  %[[O0:.*]] = tile.splat
  // CHECK:      %[[ANY:.*]] = arith.cmpi slt, %c0, %[[N:.*]] : index
  // CHECK:      %[[RANGE:.*]] = arith.subi %[[N]], %c0
  // CHECK-NEXT: %[[LESS:.*]] = arith.subi %[[RANGE]], %
  // CHECK-NEXT: %[[BEFORE:.*]] = arith.maxsi %[[LESS]], %
  // CHECK-NEXT: %[[STEPS:.*]] = arith.divsi %[[BEFORE]], %c64
  // CHECK-NEXT: %[[BYTES:.*]] = arith.muli %[[STEPS]], %c64
  // CHECK-NEXT: %[[LAST:.*]] = arith.addi %c0, %[[BYTES]]
  // CHECK-NEXT: simt.copy %{{.*}} [u = %[[LAST]]] until(u = %[[N]]), %[[VL]] :
  // CHECK-NEXT: simt.copy %{{.*}} [u = %c0], %[[KF]] :
  // CHECK-NEXT: %[[S0:.*]] = simt.dot wgmma %[[Q:.*]], %[[KF]] over(d)
  // CHECK-NEXT: tile.map (%{{.*}} = %[[S0]])
  // CHECK:      %[[BASE:.*]] = tile.map (%{{.*}} = %[[O0]], %{{.*}} = %[[O0]])
  // CHECK-NEXT:   arith.select %[[ANY]],
  // CHECK:      %[[W0:.*]] = tile.map (
  // CHECK-NEXT:   %[[NONE:.*]] = arith.constant 0.000000e+00 : bf16
  // CHECK-NEXT:   arith.select %[[ANY]], %{{.*}}, %[[NONE]] : bf16
  // CHECK:      %[[SECOND:.*]] = arith.addi %c0, %c64
  // CHECK-NEXT: %[[R:.*]]:2 = scf.for %[[J:.*]] = %[[SECOND]] to %[[N]] step %c64 iter_args(%[[O:.*]] = %[[BASE]], %[[W:.*]] = %[[W0]])
  // CHECK-NEXT:   %[[I:.*]] = arith.subi %[[J]], %c64
  // CHECK-NEXT:   simt.copy %{{.*}} [u = %[[I]]] until(u = %[[N]]), %[[V]] :
  // CHECK-NEXT:   simt.copy %{{.*}} [u = %[[J]]], %[[K]] :
  // CHECK-NEXT:   %[[S:.*]] = simt.dot wgmma %[[Q]], %[[K]] over(d)
  // CHECK:        %[[O1:.*]] = simt.dot wgmma %[[W]], %[[V]] over(u) into %[[O]]
  // CHECK:        scf.yield %[[O1]], %{{.*}} :
  // CHECK:      %[[RESULT:.*]] = simt.dot wgmma %[[R]]#1, %[[VL]] over(u) into %[[R]]#0
  // CHECK-NEXT: tile.store %[[RESULT]]
  tile.kernel @attention grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0) -> (!ot) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %w = tile.map (%x = %s) : (!st) -> !pt {
        %y = math.exp2 %x : f32
        %z = arith.truncf %y : f32 to bf16
        tile.yield %z : bf16
      }
      simt.copy %values[u = %j] until(u = %n), %v : !values, !v
      %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
      scf.yield %o1 : !ot
    }
    tile.store %r, %out[t = %i] : !ot, !out
  }

  // A sum that is rescaled before it is added to: the product of the iteration before comes right before that. A tile that is rounded beside what it
  // is rounded from is rounded at the end, when its registers are free.
  // CHECK-LABEL: tile.kernel @rescaled 
  // CHECK:      %{{.*}}:3 = scf.for {{.*}} iter_args(%[[O:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}}, %[[W:.*]] = %
  // CHECK:        %[[S:.*]] = simt.dot wgmma %{{.*}}, %{{.*}} over(d)
  // CHECK-NEXT:   %[[E:.*]]:2 = tile.map (%{{.*}} = %[[S]], %{{.*}} = %[[M]])
  // CHECK:        %[[O1:.*]] = simt.dot wgmma %[[W]], %{{.*}} over(u) into %[[O]]
  // CHECK-NEXT:   %[[O2:.*]] = tile.map (%{{.*}} = %[[O1]])
  // CHECK:        %[[W1:.*]] = tile.map (%{{.*}} = %[[E]]#0)
  // CHECK-NEXT:     arith.truncf
  // CHECK:        scf.yield %[[O2]], %[[E]]#0, %[[W1]]
  tile.kernel @rescaled grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %m0 = tile.splat %zero : f32 -> !st
    %r:2 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0, %m = %m0) -> (!ot, !st) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %e, %w = tile.map (%x = %s, %y = %m) : (!st, !st) -> (!st, !pt) {
        %a = arith.addf %x, %y : f32
        %z = arith.truncf %a : f32 to bf16
        tile.yield %a, %z : f32, bf16
      }
      %o1 = tile.map (%x = %o) : (!ot) -> !ot {
        %a = arith.addf %x, %x : f32
        tile.yield %a : f32
      }
      simt.copy %values[u = %j] until(u = %n), %v : !values, !v
      %o2 = simt.dot wgmma %w, %v over(u) into %o1 : !pt, !v -> !ot
      scf.yield %o2, %e : !ot, !st
    }
    tile.store %r#0, %out[t = %i] : !ot, !out
  }

  // Two late products into one sum, and a number that the loop carries: its select is a scalar one.
  // CHECK-LABEL: tile.kernel @two_into_one_sum 
  // CHECK-DAG:  %[[VL:.*]] = simt.alloc "v.last" :
  // CHECK-DAG:  %[[YL:.*]] = simt.alloc "rest.last" :
  // CHECK:      arith.select %{{.*}}, %{{.*}}, %c0 : index
  // CHECK:      %[[R:.*]]:4 = scf.for {{.*}} iter_args(%[[O:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[W:.*]] = %{{.*}}, %[[X:.*]] = %
  // CHECK:        %[[O1:.*]] = simt.dot wgmma %[[W]], %[[V:.*]] over(u) into %[[O]]
  // CHECK-NEXT:   %[[O2:.*]] = simt.dot wgmma %[[X]], %[[Y:.*]] over(u) into %[[O1]]
  // CHECK:        scf.yield %[[O2]],
  // CHECK:      %[[A:.*]] = simt.dot wgmma %[[R]]#2, %[[VL]] over(u) into %[[R]]#0
  // CHECK-NEXT: %[[B:.*]] = simt.dot wgmma %[[R]]#3, %[[YL]] over(u) into %[[A]]
  // CHECK-NEXT: tile.store %[[B]]
  tile.kernel @two_into_one_sum grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %y = simt.alloc "rest" : !v
    %r:2 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0, %count = %c0) -> (!ot, index) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %w, %x = tile.map (%x = %s) : (!st) -> (!pt, !pt) {
        %z = arith.truncf %x : f32 to bf16
        %a = arith.negf %z : bf16
        tile.yield %z, %a : bf16, bf16
      }
      simt.copy %values[u = %j] until(u = %n), %v : !values, !v
      simt.copy %values[u = %j] until(u = %n), %y : !values, !v
      %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
      %o2 = simt.dot wgmma %x, %y over(u) into %o1 : !pt, !v -> !ot
      %next = arith.addi %count, %c64 : index
      scf.yield %o2, %next : !ot, index
    }
    tile.store %r#0, %out[t = %i] : !ot, !out
  }

  // Another op reads the buffer in the same iteration.
  // CHECK-LABEL: tile.kernel @other_reader 
  // CHECK-NOT: .last"
  // CHECK:      scf.for
  // CHECK:      simt.dot wgmma %{{.*}}, %{{.*}} over(u) into
  // CHECK-NOT:  simt.dot wgmma
  tile.kernel @other_reader grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0) -> (!ot) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %w = tile.map (%x = %s) : (!st) -> !pt {
        %y = math.exp2 %x : f32
        %z = arith.truncf %y : f32 to bf16
        tile.yield %z : bf16
      }
      simt.copy %values[u = %j] until(u = %n), %v : !values, !v
      %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
      %back = simt.read %v : !v -> !tile.tile<[e = 64, u = 64], bf16, #simt.layout<lane = [e:2, e:4, u:1, u:2, u:4], warp = [u:16, u:32], register = [e:1*2, u:8*2, e:8*8]>>
      scf.yield %o1 : !ot
    }
    tile.store %r, %out[t = %i] : !ot, !out
  }

  // Another op reads a buffer of the loop after it.
  // CHECK-LABEL: tile.kernel @reader_after 
  // CHECK-NOT: .last"
  // CHECK:      scf.for
  // CHECK:      simt.dot wgmma %{{.*}}, %{{.*}} over(u) into
  // CHECK:      simt.read
  tile.kernel @reader_after grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0) -> (!ot) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %w = tile.map (%x = %s) : (!st) -> !pt {
        %y = math.exp2 %x : f32
        %z = arith.truncf %y : f32 to bf16
        tile.yield %z : bf16
      }
      simt.copy %values[u = %j] until(u = %n), %v : !values, !v
      %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
      scf.yield %o1 : !ot
    }
    %back = simt.read %k : !k -> !tile.tile<[d = 64, u = 64], bf16, #simt.layout<lane = [d:2, d:4, u:1, u:2, u:4], warp = [u:16, u:32], register = [d:1*2, u:8*2, d:8*8]>>
    tile.store %r, %out[t = %i] : !ot, !out
  }

  // The tile waits for no product.
  // CHECK-LABEL: tile.kernel @not_from_a_product 
  // CHECK-NOT: .last"
  // CHECK:      scf.for
  // CHECK:      simt.dot wgmma %{{.*}}, %{{.*}} over(u) into
  // CHECK-NOT:  simt.dot wgmma
  tile.kernel @not_from_a_product grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %fixed = tile.splat %zero : f32 -> !st
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0) -> (!ot) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %w = tile.map (%x = %fixed) : (!st) -> !pt {
        %y = math.exp2 %x : f32
        %z = arith.truncf %y : f32 to bf16
        tile.yield %z : bf16
      }
      simt.copy %values[u = %j] until(u = %n), %v : !values, !v
      %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
      scf.yield %o1 : !ot
    }
    tile.store %r, %out[t = %i] : !ot, !out
  }

  // The loop stores: what the first iteration stores would be stored without an iteration too.
  // CHECK-LABEL: tile.kernel @store 
  // CHECK-NOT: .last"
  // CHECK:      scf.for
  // CHECK:      simt.dot wgmma %{{.*}}, %{{.*}} over(u) into
  // CHECK-NOT:  simt.dot wgmma
  tile.kernel @store grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0) -> (!ot) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %w = tile.map (%x = %s) : (!st) -> !pt {
        %y = math.exp2 %x : f32
        %z = arith.truncf %y : f32 to bf16
        tile.yield %z : bf16
      }
      simt.copy %values[u = %j] until(u = %n), %v : !values, !v
      %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
      tile.store %o, %out[t = %j] : !ot, !out
      scf.yield %o1 : !ot
    }
    tile.store %r, %out[t = %i] : !ot, !out
  }

  // The loop writes to a buffer.
  // CHECK-LABEL: tile.kernel @write 
  // CHECK-NOT: .last"
  // CHECK:      scf.for
  // CHECK:      simt.dot wgmma %{{.*}}, %{{.*}} over(u) into
  // CHECK-NOT:  simt.dot wgmma
  tile.kernel @write grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %p = simt.alloc "p" : !simt.buffer<1 x [t = 64, u = 64], bf16, swizzle = 128>
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0) -> (!ot) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %w = tile.map (%x = %s) : (!st) -> !pt {
        %y = math.exp2 %x : f32
        %z = arith.truncf %y : f32 to bf16
        tile.yield %z : bf16
      }
      simt.copy %values[u = %j] until(u = %n), %v : !values, !v
      %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
      simt.write %w, %p : !pt, !simt.buffer<1 x [t = 64, u = 64], bf16, swizzle = 128>
      scf.yield %o1 : !ot
    }
    tile.store %r, %out[t = %i] : !ot, !out
  }

  // The copy does not end where the loop does: an iteration that is not there would copy rows, and 0 times NaN is NaN.
  // CHECK-LABEL: tile.kernel @endless_copy 
  // CHECK-NOT: .last"
  // CHECK:      scf.for
  // CHECK:      simt.dot wgmma %{{.*}}, %{{.*}} over(u) into
  // CHECK-NOT:  simt.dot wgmma
  tile.kernel @endless_copy grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0) -> (!ot) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %w = tile.map (%x = %s) : (!st) -> !pt {
        %y = math.exp2 %x : f32
        %z = arith.truncf %y : f32 to bf16
        tile.yield %z : bf16
      }
      simt.copy %values[u = %j], %v : !values, !v
      %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
      scf.yield %o1 : !ot
    }
    tile.store %r, %out[t = %i] : !ot, !out
  }

  // The copy ends where the loop does, but its rows are others.
  // CHECK-LABEL: tile.kernel @other_end 
  // CHECK-NOT: .last"
  // CHECK:      scf.for
  // CHECK:      simt.dot wgmma %{{.*}}, %{{.*}} over(u) into
  // CHECK-NOT:  simt.dot wgmma
  tile.kernel @other_end grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0) -> (!ot) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %w = tile.map (%x = %s) : (!st) -> !pt {
        %y = math.exp2 %x : f32
        %z = arith.truncf %y : f32 to bf16
        tile.yield %z : bf16
      }
      %shifted = arith.subi %j, %c64 : index
      simt.copy %values[u = %shifted] until(u = %n), %v : !values, !v
      %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
      scf.yield %o1 : !ot
    }
    tile.store %r, %out[t = %i] : !ot, !out
  }

  // Where the loop carries the place of a copy, no number of an iteration gives it.
  // CHECK-LABEL: tile.kernel @carried_place 
  // CHECK-NOT: .last"
  // CHECK:      scf.for
  // CHECK:      simt.dot wgmma %{{.*}}, %{{.*}} over(u) into
  // CHECK-NOT:  simt.dot wgmma
  tile.kernel @carried_place grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %r:2 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0, %place = %c0) -> (!ot, index) {
      simt.copy %keys[u = %place], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %w = tile.map (%x = %s) : (!st) -> !pt {
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16
      }
      simt.copy %values[u = %j] until(u = %n), %v : !values, !v
      %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
      %next = arith.addi %place, %c64 : index
      scf.yield %o1, %next : !ot, index
    }
    tile.store %r#0, %out[t = %i] : !ot, !out
  }

  // A copy under a condition of the iteration.
  // CHECK-LABEL: tile.kernel @conditional_copy 
  // CHECK-NOT: .last"
  // CHECK:      scf.for
  // CHECK:      simt.dot wgmma %{{.*}}, %{{.*}} over(u) into
  // CHECK-NOT:  simt.dot wgmma
  tile.kernel @conditional_copy grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0) -> (!ot) {
      %some = arith.cmpi slt, %j, %i : index
      simt.copy %keys[u = %j], %k if %some : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %w = tile.map (%x = %s) : (!st) -> !pt {
        %y = math.exp2 %x : f32
        %z = arith.truncf %y : f32 to bf16
        tile.yield %z : bf16
      }
      simt.copy %values[u = %j] until(u = %n), %v : !values, !v
      %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
      scf.yield %o1 : !ot
    }
    tile.store %r, %out[t = %i] : !ot, !out
  }

  // The loop carries the last product, which adds to nothing.
  // CHECK-LABEL: tile.kernel @no_accumulator 
  // CHECK-NOT: .last"
  // CHECK:      scf.for
  // CHECK:      simt.dot wgmma %{{.*}}, %{{.*}} over(u)
  // CHECK-NOT:  simt.dot wgmma
  tile.kernel @no_accumulator grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0) -> (!ot) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %w = tile.map (%x = %s) : (!st) -> !pt {
        %y = math.exp2 %x : f32
        %z = arith.truncf %y : f32 to bf16
        tile.yield %z : bf16
      }
      simt.copy %values[u = %j] until(u = %n), %v : !values, !v
      %o1 = simt.dot wgmma %w, %v over(u) : !pt, !v -> !ot
      scf.yield %o1 : !ot
    }
    tile.store %r, %out[t = %i] : !ot, !out
  }

  // The sum is read in the iteration too.
  // CHECK-LABEL: tile.kernel @read_twice 
  // CHECK-NOT: .last"
  // CHECK:      scf.for
  // CHECK:      simt.dot wgmma %{{.*}}, %{{.*}} over(u) into
  // CHECK-NOT:  simt.dot wgmma
  tile.kernel @read_twice grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0) -> (!ot) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %w = tile.map (%x = %s) : (!st) -> !pt {
        %y = math.exp2 %x : f32
        %z = arith.truncf %y : f32 to bf16
        tile.yield %z : bf16
      }
      simt.copy %values[u = %j] until(u = %n), %v : !values, !v
      %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
      %most = tile.reduce max %o1 over(e) : !ot -> !tile.tile<[t = 64], f32, #simt.layout<lane = [_, _, t:1, t:2, t:4], warp = [t:16, t:32], register = [t:8*2]>>
      scf.yield %o1 : !ot
    }
    tile.store %r, %out[t = %i] : !ot, !out
  }

  // Products that their threads wait for.
  // CHECK-LABEL: tile.kernel @other_instruction 
  // CHECK-NOT: .last"
  // CHECK:      scf.for
  // CHECK:      simt.dot mma16 %{{.*}}, %{{.*}} over(u) into
  // CHECK-NOT:  simt.dot mma16
  tile.kernel @other_instruction grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %o0) -> (!ot) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot mma16 %q, %k over(d) : !q, !k -> !st
      %w = tile.map (%x = %s) : (!st) -> !pt {
        %y = math.exp2 %x : f32
        %z = arith.truncf %y : f32 to bf16
        tile.yield %z : bf16
      }
      simt.copy %values[u = %j] until(u = %n), %v : !values, !v
      %o1 = simt.dot mma16 %w, %v over(u) into %o : !pt, !v -> !ot
      scf.yield %o1 : !ot
    }
    tile.store %r, %out[t = %i] : !ot, !out
  }

  // A loop inside of another is one too.
  // CHECK-LABEL: tile.kernel @inner_loop 
  // CHECK:      scf.for
  // CHECK:        simt.copy %{{.*}}, %{{.*}} :
  // CHECK:        scf.for
  // CHECK:        simt.dot wgmma %{{.*}}, %{{.*}} over(u) into
  // CHECK:        simt.dot wgmma %{{.*}}, %{{.*}} over(u) into
  // CHECK-NEXT:   scf.yield
  tile.kernel @inner_loop grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %r = scf.for %h = %c0 to %i step %c64 iter_args(%start = %o0) -> (!ot) {
      %inner = scf.for %j = %c0 to %n step %c64 iter_args(%o = %start) -> (!ot) {
        simt.copy %keys[u = %j], %k : !keys, !k
        %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
        %w = tile.map (%x = %s) : (!st) -> !pt {
          %y = math.exp2 %x : f32
          %z = arith.truncf %y : f32 to bf16
          tile.yield %z : bf16
        }
        simt.copy %values[u = %j] until(u = %n), %v : !values, !v
        %o1 = simt.dot wgmma %w, %v over(u) into %o : !pt, !v -> !ot
        scf.yield %o1 : !ot
      }
      scf.yield %inner : !ot
    }
    tile.store %r, %out[t = %i] : !ot, !out
  }
}
