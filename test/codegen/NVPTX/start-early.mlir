// Kernels of a call begin before the one before them has ended, and wait where they touch what a kernel writes.
// RUN: taylor-opt %s --taylor-simt-start-early | FileCheck %s --implicit-check-not=simt.start_next --implicit-check-not=simt.await_previous
// RUN: taylor-opt %s --taylor-simt-start-early --taylor-simt-start-early | FileCheck %s --implicit-check-not=simt.start_next --implicit-check-not=simt.await_previous
// RUN: taylor-opt %s --taylor-simt-start-early --taylor-simt-lower-to-nvvm | FileCheck %s --check-prefix=NVVM
// RUN: echo "module {}" | not taylor-opt --taylor-simt-start-early 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expected a tile.program, but found none; run taylor-tile-pipeline before

#t = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [], register = [t:32*4]>
!rows = !tile.array<[t], f32>
!row = !tile.tile<[t = 128], f32, #t>
tile.program @forward {
  %q = tile.tensor "input:q" : !rows
  %o = tile.tensor "output:o" : !rows
  %m = tile.workspace "m" : !rows
  // The first kernel waits for nothing.
  // CHECK-LABEL: tile.kernel @first
  // CHECK-NEXT:  simt.start_next
  // CHECK:       tile.store
  // NVVM-LABEL:  llvm.func @forward_first
  // NVVM:        llvm.inline_asm has_side_effects {{.*}}"griddepcontrol.launch_dependents;", "~{memory}"
  tile.kernel @first grid(%i in ceildiv(t, 128)) {
    %c128 = arith.constant 128 : index
    %at = arith.muli %i, %c128 : index
    %x = tile.load %q [t = %at] : !rows -> !row
    tile.store %x, %m [t = %at] : !row, !rows
  }
  // What only callers write may be read before.
  // CHECK-LABEL: tile.kernel @second
  // CHECK-NEXT:  simt.start_next
  // CHECK:       tile.load %0
  // CHECK-NEXT:  simt.await_previous
  // CHECK-NEXT:  tile.load %2
  // NVVM-LABEL:  llvm.func @forward_second
  // NVVM:        "griddepcontrol.launch_dependents;"
  // NVVM:        "griddepcontrol.wait;", "~{memory}"
  tile.kernel @second grid(%i in ceildiv(t, 128)) {
    %c128 = arith.constant 128 : index
    %at = arith.muli %i, %c128 : index
    %x = tile.load %q [t = %at] : !rows -> !row
    %y = tile.load %m [t = %at] : !rows -> !row
    %z = tile.map (%a = %x, %b = %y) : (!row, !row) -> !row {
      %sum = arith.addf %a, %b : f32
      tile.yield %sum : f32
    }
    tile.store %z, %m [t = %at] : !row, !rows
  }
  // The wait stands before a branch that touches such an array within, also if it only writes. No kernel follows.
  // CHECK-LABEL: tile.kernel @third
  // CHECK:       tile.load %0
  // CHECK:       simt.await_previous
  // CHECK-NEXT:  scf.if
  tile.kernel @third grid(%i in ceildiv(t, 128)) {
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %at = arith.muli %i, %c128 : index
    %x = tile.load %q [t = %at] : !rows -> !row
    %some = arith.cmpi sgt, %at, %c0 : index
    scf.if %some {
      tile.store %x, %o [t = %at] : !row, !rows
    }
  }
}

// A program of one kernel stays as it is.
tile.program @alone {
  %q = tile.tensor "input:q" : !rows
  %o = tile.tensor "output:o" : !rows
  // CHECK-LABEL: tile.kernel @only
  tile.kernel @only grid(%i in ceildiv(t, 128)) {
    %c128 = arith.constant 128 : index
    %at = arith.muli %i, %c128 : index
    %x = tile.load %q [t = %at] : !rows -> !row
    tile.store %x, %o [t = %at] : !row, !rows
  }
}
