// RUN: taylor-opt %s --taylor-cpu-lower-to-llvm --convert-func-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @sum(
// CHECK:         llvm.cond_br
// CHECK:         llvm.intr.fma
// CHECK-NOT:     {{scf|arith|math|vector|func|cf}}.
func.func @sum(%p: !llvm.ptr, %n: i64) -> vector<16xf32> {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %half = arith.floordivsi %n, %two : i64
  %r = scf.for %i = %c0 to %half step %c1 iter_args(%s = %zero) -> (vector<16xf32>) : i64 {
    %at = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %at : !llvm.ptr -> f32
    %v = vector.broadcast %x : f32 to vector<16xf32>
    %t = math.fma %v, %v, %s : vector<16xf32>
    scf.yield %t : vector<16xf32>
  }
  return %r : vector<16xf32>
}
