// Copies run ahead of loops, and waits and barriers stand where they are needed and nowhere else.
// RUN: taylor-opt %s --split-input-file --taylor-simt-schedule-copies="stages=1" | FileCheck %s --check-prefix=ONE --implicit-check-not=simt.barrier --implicit-check-not=simt.wait --implicit-check-not=simt.commit --implicit-check-not=simt.copy
// RUN: taylor-opt %s --split-input-file --taylor-simt-schedule-copies="stages=2" | FileCheck %s --check-prefix=TWO --implicit-check-not=simt.barrier --implicit-check-not=simt.wait --implicit-check-not=simt.commit --implicit-check-not=simt.copy
// RUN: taylor-opt %s --split-input-file --taylor-simt-schedule-copies="stages=3" | FileCheck %s --check-prefix=THREE

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
#o = #simt.layout<lane = [e:2, e:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [e:1*2, t:8*2, e:8*8]>
!queries = !tile.array<[b, t, d = 64], bf16>
!keys = !tile.array<[b, u, d = 64], bf16>
!values = !tile.array<[b, u, e = 64], bf16>
!qb = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!kb = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!vb = !simt.buffer<1 x [u = 64, e = 64], bf16, swizzle = 128>
!st = !tile.tile<[t = 64, u = 64], f32, #s>
!pt = !tile.tile<[t = 64, u = 64], bf16, #s>
!ot = !tile.tile<[e = 64, t = 64], f32, #o>

// One slot each: what one product has read is refilled under the next. The resident operand is waited for with the first tile, and in its group.
// ONE-LABEL: @two_products
// ONE:       simt.copy {{.*}}, %[[Q:.*]] : {{.*}}[t = 64, d = 64]
// ONE:       %[[FIRST:.*]] = arith.cmpi sgt, %[[U:.*]], %c0 : index
// ONE-NEXT:  simt.copy %[[KEYS:.*]] [b = %{{.*}}, u = %c0], %[[K:.*]] if %[[FIRST]] :
// ONE-NEXT:  simt.commit
// ONE:       scf.for %[[J:.*]] = %c0 to %[[U]] step %c64
// ONE-NEXT:    simt.wait 0
// ONE-NEXT:    simt.barrier
// ONE-NEXT:    simt.copy %{{.*}} [b = %{{.*}}, u = %[[J]]], %[[V:.*]] : {{.*}}[u = 64, e = 64]
// ONE-NEXT:    simt.commit
// ONE-NEXT:    simt.dot mma16 %[[Q]], %[[K]]
// ONE-NEXT:    simt.wait 0
// ONE-NEXT:    simt.barrier
// ONE-NEXT:    %[[NEXT:.*]] = arith.addi %[[J]], %c64
// ONE-NEXT:    %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %[[U]]
// ONE-NEXT:    simt.copy %[[KEYS]] [b = %{{.*}}, u = %[[NEXT]]], %[[K]] if %[[MORE]]
// ONE-NEXT:    simt.commit
// ONE-NEXT:    tile.map
// ONE:         simt.dot mma16 %{{.*}}, %[[V]]
// ONE-NEXT:    scf.yield

// Two slots each: one barrier per iteration.
// TWO-LABEL: @two_products
// TWO:       %[[K:.*]] = simt.alloc "k" ahead : !simt.buffer<2 x
// TWO:       %[[V:.*]] = simt.alloc "v" ahead : !simt.buffer<2 x
// TWO:       simt.copy
// TWO:       %[[K0:.*]] = simt.slot %[[K]][%{{.*}}]
// TWO-NEXT:  simt.copy %{{.*}} [b = %{{.*}}, u = %c0], %[[K0]] if
// TWO:       %[[V0:.*]] = simt.slot %[[V]][%{{.*}}]
// TWO-NEXT:  simt.copy %{{.*}} [b = %{{.*}}, u = %c0], %[[V0]] if
// TWO-NEXT:  simt.commit
// TWO:       scf.for %[[J:.*]] = %c0 to %[[U:.*]] step %c64 iter_args(%{{.*}} = %{{.*}}, %[[SLOT:.*]] = %{{.*}}) -> ({{.*}}, index)
// TWO-DAG:     %[[KJ:.*]] = simt.slot %[[K]][%[[SLOT]]]
// TWO-DAG:     %[[VJ:.*]] = simt.slot %[[V]][%[[SLOT]]]
// TWO:         simt.wait 0
// TWO-NEXT:    simt.barrier
// TWO-NEXT:    %[[NEXT:.*]] = arith.addi %[[J]], %c64
// TWO-NEXT:    %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %[[U]]
// TWO:         %[[OTHER:.*]] = arith.subi %{{.*}}, %[[SLOT]]
// TWO-NEXT:    %[[KN:.*]] = simt.slot %[[K]][%[[OTHER]]]
// TWO-NEXT:    simt.copy %{{.*}} [b = %{{.*}}, u = %[[NEXT]]], %[[KN]] if %[[MORE]]
// TWO:         simt.copy %{{.*}} if %{{.*}} : {{.*}}[u = 64, e = 64]
// TWO-NEXT:    simt.commit
// TWO-NEXT:    simt.dot mma16 %{{.*}}, %[[KJ]]
// TWO:         simt.dot mma16 %{{.*}}, %[[VJ]]
// TWO:         %[[TURN:.*]] = arith.subi %{{.*}}, %[[SLOT]]
// TWO-NEXT:    scf.yield %{{.*}}, %[[TURN]]

// Three slots: two groups before the loop, the later one may still be under way.
// THREE-LABEL: @two_products
// THREE-COUNT-2: simt.commit
// THREE-NOT:   simt.commit
// THREE:       scf.for
// THREE:         simt.wait 1
// THREE-NEXT:    simt.barrier
tile.program @forward {
  %q = tile.tensor "input:q" : !queries
  %k = tile.tensor "input:k" : !keys
  %v = tile.tensor "input:v" : !values
  tile.kernel @two_products grid(%b in b, %i in ceildiv(t, 64)) {
    %qb = simt.alloc "q" : !qb
    %kb = simt.alloc "k" : !kb
    %vb = simt.alloc "v" : !vb
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %u = tile.size "u"
    %t0 = arith.muli %i, %c64 : index
    simt.copy %q[b = %b, t = %t0], %qb : !queries, !qb
    %init = tile.splat %zero : f32 -> !ot
    %out = scf.for %j = %c0 to %u step %c64 iter_args(%acc = %init) -> (!ot) {
      simt.copy %k[b = %b, u = %j], %kb : !keys, !kb
      simt.copy %v[b = %b, u = %j], %vb : !values, !vb
      %s = simt.dot mma16 %qb, %kb over(d) : !qb, !kb -> !st
      %p = tile.map (%x = %s) : (!st) -> !pt {
        %y = arith.truncf %x : f32 to bf16
        tile.yield %y : bf16
      }
      %n = simt.dot mma16 %p, %vb over(u) into %acc : !pt, !vb -> !ot
      scf.yield %n : !ot
    }
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
#q = #simt.layout<lane = [d:2, d:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [d:1*2, t:8*2, d:8*8]>
!queries = !tile.array<[b, t, d = 64], bf16>
!keys = !tile.array<[b, u, d = 64], bf16>
!qb = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!kb = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!qt = !tile.tile<[d = 64, t = 64], bf16, #q>
!st = !tile.tile<[t = 64, u = 64], f32, #s>

// One buffer with one slot needs a second barrier after its read. The first tile of keys is under way while the resident operand is read; the
// address, which stands after that read, moves along.
// ONE-LABEL: @one_product
// ONE:       simt.copy {{.*}}, %[[Q:.*]] : {{.*}}[t = 64, d = 64]
// ONE-NEXT:  simt.commit
// ONE:       %[[FROM:.*]] = arith.muli
// ONE-NEXT:  arith.cmpi
// ONE-NEXT:  %[[AT0:.*]] = arith.addi %c0, %[[FROM]]
// ONE-NEXT:  simt.copy {{.*}}u = %[[AT0]]], %[[K:.*]] if
// ONE-NEXT:  simt.commit
// ONE-NEXT:  simt.wait 1
// ONE-NEXT:  simt.barrier
// ONE-NEXT:  %[[X:.*]] = simt.read %[[Q]]
// ONE:       scf.for %[[J:.*]] =
// ONE-NEXT:    simt.wait 0
// ONE-NEXT:    simt.barrier
// ONE-NEXT:    simt.dot mma16 %[[X]], %[[K]]
// ONE-NEXT:    simt.barrier
// ONE-NEXT:    %[[NEXT:.*]] = arith.addi %[[J]],
// ONE-NEXT:    arith.cmpi
// ONE-NEXT:    %[[ATNEXT:.*]] = arith.addi %[[NEXT]], %[[FROM]]
// ONE-NEXT:    simt.copy {{.*}}u = %[[ATNEXT]]], %[[K]] if
// ONE-NEXT:    simt.commit
// ONE-NEXT:    tile.map
// TWO-LABEL: @one_product
// TWO:       simt.copy
// TWO-NEXT:  simt.commit
// TWO:       simt.copy
// TWO-NEXT:  simt.commit
// TWO-NEXT:  simt.wait 1
// TWO-NEXT:  simt.barrier
// TWO-NEXT:  simt.read
// TWO:       scf.for
// TWO:         simt.wait 0
// TWO-NEXT:    simt.barrier
// TWO:         simt.copy
// TWO-NEXT:    simt.commit
// TWO:         simt.dot
// THREE-LABEL: @one_product
tile.program @forward {
  %q = tile.tensor "input:q" : !queries
  %k = tile.tensor "input:k" : !keys
  tile.kernel @one_product grid(%b in b, %i in ceildiv(t, 64)) {
    %qb = simt.alloc "q" : !qb
    %kb = simt.alloc "k" : !kb
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %u = tile.size "u"
    %t0 = arith.muli %i, %c64 : index
    simt.copy %q[b = %b, t = %t0], %qb : !queries, !qb
    %x = simt.read %qb : !qb -> !qt
    %from = arith.muli %b, %c64 : index
    scf.for %j = %c0 to %u step %c64 {
      %at = arith.addi %j, %from : index
      simt.copy %k[b = %b, u = %at], %kb : !keys, !kb
      %s = simt.dot mma16 %x, %kb over(d) : !qt, !kb -> !st
      %p = tile.map (%y = %s) : (!st) -> !st {
        %z = arith.mulf %y, %y : f32
        tile.yield %z : f32
      }
    }
  }
}
