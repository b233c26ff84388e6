// A loop that adds up windows of an array and stores each sum where it was read: no other iteration reads there, since an axis is at the loop's number, from
// either end. So copies run ahead of the stores, four times as many iterations as `stages` says, since the rest of the body takes no time.
// RUN: taylor-opt %s --taylor-simt-schedule-copies="stages=2 shared=25088" | FileCheck %s
#p = #simt.layout<lane = [f:1, f:2, f:4, f:8, f:16], warp = [_], register = [c:1*2]>
#r = #simt.layout<lane = [f:1, f:2, f:4, f:8, f:16], warp = [_], register = []>
!states = !tile.array<[b, c = ceildiv(t, 64), f = 32], f32>
!buffer = !simt.buffer<1 x [f = 32], f32>
!wide = !simt.buffer<1 x [c = 2, f = 32], f32>
!pair = !tile.tile<[c = 2, f = 32], f32, #p>
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
// A copy sees what was stored before it, and a store waits for the reads of the copy before it.
// CHECK-LABEL: tile.kernel @store_first
// CHECK:     simt.alloc "states" : !simt.buffer<1 x
// CHECK-LABEL: tile.kernel @store_before_read
// CHECK:     simt.alloc "states" : !simt.buffer<1 x
// Copies of two numbers at a time are of windows that overlap.
// CHECK-LABEL: tile.kernel @wide
// CHECK:     simt.alloc "states" : !simt.buffer<1 x
tile.program @sums {
  %states = tile.workspace "states" : !states
  %other = tile.workspace "other" : !states
  %pairs = tile.workspace "pairs" : !states
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
  tile.kernel @store_first grid(%b in b) {
    %buffer = simt.alloc "states" : !buffer
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %size = arith.constant 64 : index
    %none = arith.constant 0.0 : f32
    %t = tile.size "t"
    %count = arith.ceildivsi %t, %size : index
    %init = tile.splat %none : f32 -> !row
    %sum = scf.for %i = %zero to %count step %one iter_args(%before = %init) -> (!row) {
      tile.store %before, %states[b = %b, c = %i, f = %zero] : !row, !states
      simt.copy %states[b = %b, c = %i, f = %zero], %buffer : !states, !buffer
      %x = simt.read %buffer : !buffer -> !row
      tile.store %x, %other[b = %b, c = %i, f = %zero] : !row, !states
      scf.yield %before : !row
    }
  }
  tile.kernel @store_before_read grid(%b in b) {
    %buffer = simt.alloc "states" : !buffer
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %size = arith.constant 64 : index
    %none = arith.constant 0.0 : f32
    %t = tile.size "t"
    %count = arith.ceildivsi %t, %size : index
    %init = tile.splat %none : f32 -> !row
    %sum = scf.for %i = %zero to %count step %one iter_args(%before = %init) -> (!row) {
      simt.copy %states[b = %b, c = %i, f = %zero], %buffer : !states, !buffer
      tile.store %before, %states[b = %b, c = %i, f = %zero] : !row, !states
      %x = simt.read %buffer : !buffer -> !row
      tile.store %x, %other[b = %b, c = %i, f = %zero] : !row, !states
      scf.yield %before : !row
    }
  }
  tile.kernel @wide grid(%b in b) {
    %buffer = simt.alloc "states" : !wide
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %size = arith.constant 64 : index
    %none = arith.constant 0.0 : f32
    %t = tile.size "t"
    %count = arith.ceildivsi %t, %size : index
    %init = tile.splat %none : f32 -> !row
    %sum = scf.for %i = %zero to %count step %one iter_args(%before = %init) -> (!row) {
      simt.copy %states[b = %b, c = %i, f = %zero], %buffer : !states, !wide
      %y = simt.read %buffer : !wide -> !pair
      tile.store %y, %pairs[b = %b, c = %i, f = %zero] : !pair, !states
      tile.store %before, %states[b = %b, c = %i, f = %zero] : !row, !states
      scf.yield %before : !row
    }
  }
}
