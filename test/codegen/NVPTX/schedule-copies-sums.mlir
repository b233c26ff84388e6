// A loop that adds up windows of an array and stores each sum where it was read: no other iteration reads there, since an axis is at the loop's number, from
// either end. So copies run ahead of the stores, four times as many iterations as `stages` says, since the rest of the body takes no time.
// RUN: taylor-opt %s --taylor-simt-schedule-copies="stages=2 shared=25088" | FileCheck %s
#r = #simt.layout<lane = [f:1, f:2, f:4, f:8, f:16], warp = [_], register = []>
!states = !tile.array<[b, c = ceildiv(t, 64), f = 32], f32>
!buffer = !simt.buffer<1 x [f = 32], f32>
!row = !tile.tile<[f = 32], f32, #r>

// CHECK-LABEL: tile.kernel @forward
// CHECK:     simt.alloc "states" ahead : !simt.buffer<8 x
// CHECK:     scf.for
// CHECK:       simt.wait 6
// CHECK-NEXT:  simt.barrier
// CHECK:       simt.copy
// CHECK:       tile.store
// CHECK-LABEL: tile.kernel @backward
// CHECK:     simt.alloc "states" ahead : !simt.buffer<8 x
// Where the window stored is another one, the next iteration may read it.
// CHECK-LABEL: tile.kernel @shifted
// CHECK:     simt.alloc "states" : !simt.buffer<1 x
// CHECK:     scf.for
// CHECK:       simt.copy
// CHECK:       simt.wait 0
// CHECK:       tile.store
// Nor are windows apart that are at the same place in all iterations.
// CHECK-LABEL: tile.kernel @same
// CHECK:     simt.alloc "states" : !simt.buffer<1 x
tile.program @sums {
  %states = tile.workspace "states" : !states
  tile.kernel @forward grid(%b in b) {
    %buffer = simt.alloc "states" : !buffer
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %size = arith.constant 64 : index
    %none = arith.constant 0.0 : f32
    %t = tile.size "t"
    %count = arith.ceildivsi %t, %size : index
    %last = arith.subi %count, %one : index
    %init = tile.splat %none : f32 -> !row
    %sum = scf.for %i = %zero to %count step %one iter_args(%before = %init) -> (!row) {
      simt.copy %states[b = %b, c = %i, f = %zero], %buffer : !states, !buffer
      %x = simt.read %buffer : !buffer -> !row
      %next = tile.map (%p = %before, %q = %x) : (!row, !row) -> !row {
        %y = arith.addf %p, %q : f32
        tile.yield %y : f32
      }
      tile.store %next, %states[b = %b, c = %i, f = %zero] : !row, !states
      scf.yield %next : !row
    }
  }
  tile.kernel @backward grid(%b in b) {
    %buffer = simt.alloc "states" : !buffer
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %size = arith.constant 64 : index
    %none = arith.constant 0.0 : f32
    %t = tile.size "t"
    %count = arith.ceildivsi %t, %size : index
    %last = arith.subi %count, %one : index
    %init = tile.splat %none : f32 -> !row
    %sum = scf.for %i = %zero to %count step %one iter_args(%before = %init) -> (!row) {
      %at = arith.subi %last, %i : index
      simt.copy %states[b = %b, c = %at, f = %zero], %buffer : !states, !buffer
      %x = simt.read %buffer : !buffer -> !row
      %next = tile.map (%p = %before, %q = %x) : (!row, !row) -> !row {
        %y = arith.addf %p, %q : f32
        tile.yield %y : f32
      }
      tile.store %next, %states[b = %b, c = %at, f = %zero] : !row, !states
      scf.yield %next : !row
    }
  }
  tile.kernel @shifted grid(%b in b) {
    %buffer = simt.alloc "states" : !buffer
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %size = arith.constant 64 : index
    %none = arith.constant 0.0 : f32
    %t = tile.size "t"
    %count = arith.ceildivsi %t, %size : index
    %last = arith.subi %count, %one : index
    %init = tile.splat %none : f32 -> !row
    %sum = scf.for %i = %zero to %count step %one iter_args(%before = %init) -> (!row) {
      %at = arith.addi %i, %one : index
      simt.copy %states[b = %b, c = %i, f = %zero], %buffer : !states, !buffer
      %x = simt.read %buffer : !buffer -> !row
      %next = tile.map (%p = %before, %q = %x) : (!row, !row) -> !row {
        %y = arith.addf %p, %q : f32
        tile.yield %y : f32
      }
      tile.store %next, %states[b = %b, c = %at, f = %zero] : !row, !states
      scf.yield %next : !row
    }
  }
  tile.kernel @same grid(%b in b) {
    %buffer = simt.alloc "states" : !buffer
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %size = arith.constant 64 : index
    %none = arith.constant 0.0 : f32
    %t = tile.size "t"
    %count = arith.ceildivsi %t, %size : index
    %last = arith.subi %count, %one : index
    %init = tile.splat %none : f32 -> !row
    %sum = scf.for %i = %zero to %count step %one iter_args(%before = %init) -> (!row) {
      simt.copy %states[b = %b, c = %zero, f = %zero], %buffer : !states, !buffer
      %x = simt.read %buffer : !buffer -> !row
      %next = tile.map (%p = %before, %q = %x) : (!row, !row) -> !row {
        %y = arith.addf %p, %q : f32
        tile.yield %y : f32
      }
      tile.store %next, %states[b = %b, c = %zero, f = %zero] : !row, !states
      scf.yield %next : !row
    }
  }
}
