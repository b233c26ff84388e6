// Both roles run over the places of their block, and count uses of rings on from place to place.
// RUN: taylor-opt %s --taylor-simt-persist-blocks | FileCheck %s
// RUN: taylor-opt %s --taylor-simt-persist-blocks --taylor-simt-persist-blocks | taylor-opt | FileCheck %s
// RUN: echo "module {}" | not taylor-opt --taylor-simt-persist-blocks 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expected a tile.program, but found none; run taylor-tile-pipeline before

#k = #simt.layout<lane = [u:1, u:2, u:4, u:8, d:2], warp = [d:4, d:8], register = [d:1*2, u:16*4, d:16*4]>
!array = !tile.array<[b, h, u, d = 64], bf16>
!slot = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @forward {
  %keys = tile.tensor "input:k" : !array
  %saved = tile.tensor "saved:m" optional : !tile.array<[b, h, u], f32>
  // CHECK-LABEL: tile.kernel @attend
  tile.kernel @attend grid(%b in b, %h in h, %i in ceildiv(t, 192)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %ring = simt.ring "k" : !ring
    // CHECK:      producer {
    // CHECK-NEXT:   %[[FROM:.*]], %[[TO:.*]], %[[STEP:.*]] = simt.own_tiles
    // CHECK:        scf.for %[[TILE:.*]] = %[[FROM]] to %[[TO]] step %[[STEP]] iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (index) {
    // CHECK-NEXT:     %[[PLACES:.*]]:3 = simt.place %[[TILE]] : index, index, index
    // CHECK:          %[[COUNT:.*]] = scf.for %{{.*}} iter_args(%[[N:.*]] = %{{.*}}) -> (index) {
    // CHECK-NEXT:       %[[USE:.*]] = arith.addi %[[BEFORE]], %[[N]] : index
    // CHECK-NEXT:       simt.acquire %{{.*}}[%[[USE]]]
    // CHECK-NEXT:       simt.copy %{{.*}} [b = %[[PLACES]]#0, h = %[[PLACES]]#1, {{.*}} signals %{{.*}}[%[[USE]]]
    // CHECK:          %[[AFTER:.*]] = arith.addi %[[BEFORE]], %[[COUNT]] : index
    // CHECK-NEXT:     scf.yield %[[AFTER]] : index
    simt.roles members 3 registers 32, 160 producer {
      %end = arith.muli %i, %c64 : index
      %n = scf.for %j = %c0 to %end step %c64 iter_args(%k = %c0) -> (index) {
        %slot = simt.acquire %ring[%k] : !ring
        simt.copy %keys [b = %b, h = %h, u = %j], %slot signals %ring[%k] : !array, !slot, !ring
        %next = arith.addi %k, %c1 : index
        scf.yield %next : index
      }
    } consumer (%member) {
      // A member's last uses are numbered by a loop of its own, to a bound: the larger one of its bounds is the count.
      // CHECK:      consumer
      // CHECK:        scf.for %{{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (index) {
      // CHECK:          simt.wait_full
      // CHECK:          scf.for %[[K:.*]] = %[[LOW:.*]] to %[[HIGH:.*]] step
      // CHECK-NEXT:       %[[USE:.*]] = arith.addi %[[BEFORE]], %[[K]] : index
      // CHECK-NEXT:       simt.wait_full %{{.*}}[%[[USE]]]
      // CHECK-NEXT:       simt.release %{{.*}}[%[[USE]]]
      // CHECK:          %[[COUNT:.*]] = arith.maxsi %[[LOW]], %[[HIGH]] : index
      // CHECK-NEXT:     %[[AFTER:.*]] = arith.addi %[[BEFORE]], %[[COUNT]] : index
      // CHECK-NEXT:     scf.yield %[[AFTER]] : index
      %end = arith.muli %i, %c64 : index
      %n = scf.for %j = %c0 to %end step %c64 iter_args(%k = %c0) -> (index) {
        %slot = simt.wait_full %ring[%k] : !ring
        %tile = simt.read %slot : !slot -> !tile.tile<[d = 64, u = 64], bf16, #k>
        simt.release %ring[%k] : !ring
        %next = arith.addi %k, %c1 : index
        scf.yield %next : index
      }
      scf.for %k = %n to %i step %c1 {
        %slot = simt.wait_full %ring[%k] : !ring
        simt.release %ring[%k] : !ring
      }
    }
  }

  // In a branch: uses of a place count where it is taken.
  // CHECK-LABEL: tile.kernel @asked
  tile.kernel @asked grid(%b in b, %h in h) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %ring = simt.ring "k" : !ring
    %is = tile.requested %saved : !tile.array<[b, h, u], f32>
    // CHECK:      %[[COUNT:.*]] = scf.if %{{.*}} -> (index) {
    // CHECK:        %[[N:.*]] = scf.for
    // CHECK:        scf.yield %[[N]] : index
    // CHECK-NEXT: } else {
    // CHECK:        scf.yield %c0
    // CHECK:      arith.addi %{{.*}}, %[[COUNT]] : index
    simt.roles members 3 registers 32, 160 producer {
      scf.if %is {
        %n = scf.for %j = %c0 to %h step %c64 iter_args(%k = %c0) -> (index) {
          %slot = simt.acquire %ring[%k] : !ring
          simt.copy %keys [b = %b, h = %h, u = %j], %slot signals %ring[%k] : !array, !slot, !ring
          %next = arith.addi %k, %c1 : index
          scf.yield %next : index
        }
      }
    } consumer (%member) {
      scf.if %is {
        %n = scf.for %j = %c0 to %h step %c64 iter_args(%k = %c0) -> (index) {
          %slot = simt.wait_full %ring[%k] : !ring
          simt.release %ring[%k] : !ring
          %next = arith.addi %k, %c1 : index
          scf.yield %next : index
        }
      }
    }
  }

  // A loop around: it carries the count, from which what a member passes by is numbered. (What comes last is numbered from what nobody can follow.)
  // CHECK-LABEL: tile.kernel @around
  // CHECK:      consumer
  // CHECK:        scf.for %{{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (index) {
  // CHECK:          %[[COUNT:.*]] = scf.for %{{.*}} iter_args(%[[OF_PLACE:.*]] = %{{.*}}) -> (index) {
  // CHECK:            scf.for %[[K:.*]] = %[[OF_PLACE]] to %{{.*}} step
  // CHECK-NEXT:         %[[USE:.*]] = arith.addi %[[BEFORE]], %[[K]] : index
  // CHECK-NEXT:         simt.wait_full %{{.*}}[%[[USE]]]
  // CHECK:          %[[AFTER:.*]] = arith.addi %[[BEFORE]], %[[COUNT]] : index
  // CHECK-NEXT:     scf.yield %[[AFTER]] : index
  tile.kernel @around grid(%b in b, %h in h, %i in ceildiv(t, 192)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %ring = simt.ring "k" : !ring
    simt.roles members 3 registers 32, 160 producer {
      %n = scf.for %g = %c0 to %c64 step %c1 iter_args(%k0 = %c0) -> (index) {
        %n = scf.for %j = %c0 to %h step %c64 iter_args(%k = %k0) -> (index) {
          %slot = simt.acquire %ring[%k] : !ring
          simt.copy %keys [b = %b, h = %h, u = %j], %slot signals %ring[%k] : !array, !slot, !ring
          %next = arith.addi %k, %c1 : index
          scf.yield %next : index
        }
        scf.yield %n : index
      }
    } consumer (%member) {
      %n = scf.for %g = %c0 to %c64 step %c1 iter_args(%k0 = %c0) -> (index) {
        %all = arith.addi %k0, %h : index
        %from = arith.minsi %member, %all : index
        scf.for %k = %k0 to %from step %c1 {
          %slot = simt.wait_full %ring[%k] : !ring
          simt.release %ring[%k] : !ring
        }
        scf.for %k = %from to %all step %c1 {
          %slot = simt.wait_full %ring[%k] : !ring
          simt.release %ring[%k] : !ring
        }
        scf.yield %all : index
      }
    }
  }

  // A number that follows from no loop: the kernel stays as it is.
  // CHECK-LABEL: tile.kernel @once
  // CHECK-NOT:   simt.own_tiles
  tile.kernel @once grid(%b in b, %h in h) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %ring = simt.ring "k" : !ring
    simt.roles members 3 registers 32, 160 producer {
      %slot = simt.acquire %ring[%c0] : !ring
      simt.copy %keys [b = %b, h = %h, u = %c0], %slot signals %ring[%c0] : !array, !slot, !ring
    } consumer (%member) {
      %slot = simt.wait_full %ring[%c0] : !ring
      simt.release %ring[%c0] : !ring
    }
  }
}
