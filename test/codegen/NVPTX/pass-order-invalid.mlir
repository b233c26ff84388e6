// Passes out of order: each says at the op which pass must come first. Cases of copies and barriers stand with the walk that checks them, in allocate-shared-invalid.mlir.
// RUN: split-file %s %t
// RUN: not taylor-opt %t/tiles.mlir --taylor-simt-schedule-copies 2>&1 | FileCheck %s --check-prefix=LAYOUTS
// RUN: not taylor-opt %t/tiles.mlir --taylor-simt-allocate-shared 2>&1 | FileCheck %s --check-prefix=LAYOUTS
// RUN: not taylor-opt %t/tiles.mlir --taylor-simt-strip-mine 2>&1 | FileCheck %s --check-prefix=LAYOUTS
// RUN: not taylor-opt %t/tiles.mlir --taylor-simt-lower-to-nvvm 2>&1 | FileCheck %s --check-prefix=LAYOUTS
// LAYOUTS: tiles.mlir:4:10: error: 'tile.load' op expected tiles with layouts, but got '!tile.tile<[t = 32], f32>'; run taylor-simt-assign-layouts before{{$}}

// RUN: not taylor-opt %t/tiles.mlir --taylor-nvptx-expand-math 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not taylor-opt %t/tiles.mlir --taylor-nvptx-lower-to-llvm 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not taylor-opt %t/tiles.mlir --taylor-nvptx-emit 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: tiles.mlir:1:1: error: 'tile.program' op expected the code of one thread, but got a tile program; run taylor-simt-lower-to-nvvm before{{$}}

// RUN: not taylor-opt %t/tiles.mlir --taylor-simt-assign-layouts --taylor-simt-assign-layouts 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: tiles.mlir:4:10: error: 'tile.load' op expected tiles without layouts; taylor-simt-assign-layouts has run already{{$}}

// RUN: not taylor-opt %t/scheduled.mlir --taylor-simt-schedule-copies 2>&1 | FileCheck %s --check-prefix=SCHEDULED
// SCHEDULED: scheduled.mlir:3:5: error: 'simt.barrier' op expected ops on buffers in the order of the text; taylor-simt-schedule-copies has run already{{$}}
// RUN: not taylor-opt %t/stripped.mlir --taylor-simt-schedule-copies 2>&1 | FileCheck %s --check-prefix=STRIPPED
// STRIPPED: stripped.mlir:4:10: error: 'simt.part' op expected whole buffers; run taylor-simt-strip-mine after taylor-simt-schedule-copies{{$}}

// RUN: not taylor-opt %t/thread.mlir --taylor-simt-assign-layouts 2>&1 | FileCheck %s --check-prefix=PROGRAM
// RUN: not taylor-opt %t/thread.mlir --taylor-simt-schedule-copies 2>&1 | FileCheck %s --check-prefix=PROGRAM
// RUN: not taylor-opt %t/thread.mlir --taylor-simt-allocate-shared 2>&1 | FileCheck %s --check-prefix=PROGRAM
// RUN: not taylor-opt %t/thread.mlir --taylor-simt-strip-mine 2>&1 | FileCheck %s --check-prefix=PROGRAM
// RUN: not taylor-opt %t/thread.mlir --taylor-simt-lower-to-nvvm 2>&1 | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: thread.mlir:1:1: error: expected a tile.program, but found none; run taylor-tile-pipeline before{{$}}

// RUN: not taylor-opt %t/thread.mlir --taylor-nvptx-emit 2>&1 | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: thread.mlir:2:8: error: 'arith.addf' op expected ops of llvm and nvvm only; run taylor-nvptx-lower-to-llvm before{{$}}
// RUN: not taylor-opt %t/entry.mlir --taylor-nvptx-emit 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: entry.mlir:1:1: error: 'llvm.func' op requires 'simt.entry', by which a kernel is launched; taylor-simt-lower-to-nvvm sets it{{$}}
// RUN: not taylor-opt %t/none.mlir --taylor-nvptx-emit 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: none.mlir:1:1: error: requires a kernel, an llvm.func with nvvm.kernel and nvvm.reqntid, but found none; run taylor-simt-lower-to-nvvm before{{$}}
// RUN: not taylor-opt %t/text.mlir --taylor-nvptx-emit 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: text.mlir:1:1: error: 'simt.ptx' op expected kernels that are not text yet; taylor-nvptx-emit has run already{{$}}

//--- tiles.mlir
tile.program @forward {
  %x = tile.tensor "input:x" : !tile.array<[t], f32>
  tile.kernel @k grid(%i in t) {
    %a = tile.load %x[t = %i] : !tile.array<[t], f32> -> !tile.tile<[t = 32], f32>
    tile.store %a, %x[t = %i] : !tile.tile<[t = 32], f32>, !tile.array<[t], f32>
  }
}
//--- scheduled.mlir
tile.program @forward {
  tile.kernel @k grid(%i in t) {
    simt.barrier
  }
}
//--- stripped.mlir
tile.program @forward {
  tile.kernel @k grid(%i in t) {
    %a = simt.alloc "a" : !simt.buffer<1 x [t = 64], f32>
    %p = simt.part %a from 32 : !simt.buffer<1 x [t = 64], f32> -> !simt.buffer<1 x [t = 32], f32>
  }
}
//--- thread.mlir
llvm.func @k(%x: f32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %y = arith.addf %x, %x : f32
  llvm.return
}
//--- entry.mlir
llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}
//--- none.mlir
llvm.func @helper(%x: f32) {
  llvm.return
}
//--- text.mlir
simt.ptx "sm_80" entries [] {
  ".version 8.0"
}
