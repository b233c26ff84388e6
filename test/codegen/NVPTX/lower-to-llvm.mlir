// RUN: taylor-opt %s --taylor-nvptx-lower-to-llvm | FileCheck %s

// Loops become branches, numbers become llvm; nvvm stays.
// CHECK-LABEL: llvm.func @sum(
// CHECK:         nvvm.read.ptx.sreg.tid.x
// CHECK:         llvm.sdiv
// CHECK:         nvvm.barrier
// CHECK:         llvm.cond_br
// CHECK:         llvm.intr.fma
// CHECK-NOT:     {{(scf|arith|math|cf)\.}}
llvm.func @sum(%p: !llvm.ptr<1>, %n: i64) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %thread = nvvm.read.ptx.sreg.tid.x : i32
  %first = arith.extui %thread : i32 to i64
  %half = arith.floordivsi %n, %two : i64
  nvvm.barrier
  %r = scf.for %i = %first to %half step %c1 iter_args(%s = %zero) -> (f32) : i64 {
    %at = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %x = llvm.load %at : !llvm.ptr<1> -> f32
    %t = math.fma %x, %x, %s : f32
    scf.yield %t : f32
  }
  llvm.return %r : f32
}
