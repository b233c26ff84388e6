// RUN: taylor-opt %s --taylor-nvptx-expand-math | FileCheck %s

// One product and one instruction.
// CHECK-LABEL: @exponentials
// CHECK:       %[[PRODUCT:.*]] = arith.mulf %arg0, %{{.*}} : f32
// CHECK-NEXT:  llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[PRODUCT]])
// CHECK-NEXT:  llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%arg0)
func.func @exponentials(%x: f32) -> (f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.exp2 %x : f32
  return %0, %1 : f32, f32
}

// CHECK-LABEL: @approximations
// CHECK:       "llvm.nvvm.sqrt.approx.f"(%arg0)
// CHECK:       "llvm.nvvm.rsqrt.approx.ftz.f"(%arg0)
// CHECK:       "llvm.nvvm.div.full"(%arg0, %arg1)
func.func @approximations(%x: f32, %y: f32) -> (f32, f32, f32) {
  %1 = math.sqrt %x fastmath<afn> : f32
  %2 = math.rsqrt %x : f32
  %3 = arith.divf %x, %y fastmath<arcp> : f32
  return %1, %2, %3 : f32, f32, f32
}

// What is not relaxed is rounded to the nearest, as a floor or a comparison needs it.
// CHECK-LABEL: @nearest
// CHECK:       "llvm.nvvm.div.rn.f"(%arg0, %arg1)
// CHECK:       "llvm.nvvm.sqrt.rn.f"(%arg0)
func.func @nearest(%x: f32, %y: f32) -> (f32, f32) {
  %0 = arith.divf %x, %y : f32
  %1 = math.sqrt %x : f32
  return %0, %1 : f32, f32
}

// The exponent of a power of two without an error, which the approximate instruction does not promise.
// CHECK-LABEL: @logarithm
// CHECK-NOT:   lg2.approx
// CHECK:       math.fma
func.func @logarithm(%x: f32) -> f32 {
  %0 = math.log2 %x : f32
  return %0 : f32
}

// A polynomial near 0; farther out, by the exponential and a quotient, which is an instruction too.
// CHECK-LABEL: @hyperbolic
// CHECK-NOT:   {{math.tanh|arith.divf}}
// CHECK:       math.fma
// CHECK:       llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK:       llvm.call_intrinsic "llvm.nvvm.div.full"
// CHECK-NOT:   {{math.tanh|arith.divf}}
// CHECK:       return
func.func @hyperbolic(%x: f32) -> f32 {
  %0 = math.tanh %x : f32
  return %0 : f32
}

// f64 has no approximations: division stays, relaxed or not, exp is a polynomial.
// CHECK-LABEL: @wide
// CHECK:       arith.divf %arg0, %arg1 : f64
// CHECK-NOT:   llvm.call_intrinsic
func.func @wide(%x: f64, %y: f64) -> (f64, f64) {
  %0 = arith.divf %x, %y fastmath<arcp> : f64
  %1 = math.exp %x : f64
  return %0, %1 : f64, f64
}

// CHECK-LABEL: @half
// CHECK:       %[[WIDE:.*]] = arith.extf %arg0 : bf16 to f32
// CHECK:       %[[RESULT:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[WIDE]])
// CHECK:       arith.truncf %[[RESULT]] : f32 to bf16
func.func @half(%x: bf16) -> bf16 {
  %0 = math.exp2 %x : bf16
  return %0 : bf16
}

// Constant whole and half exponents: products, a root and a quotient. Only 16-bit numbers are widened.
// CHECK-LABEL: @powers
// CHECK:       %[[SQUARE:.*]] = arith.mulf %arg0, %arg0 : f32
// CHECK:       %[[CUBE:.*]] = arith.mulf %arg0, %[[SQUARE]] : f32
// CHECK:       %[[ROOT:.*]] = math.sqrt
// CHECK:       %[[POWER:.*]] = arith.mulf %[[ROOT]], %{{.*}} : f32
// CHECK:       %[[QUOTIENT:.*]] = llvm.call_intrinsic "llvm.nvvm.div.full"(%{{.*}}, %[[POWER]])
// CHECK:       %[[WIDE:.*]] = arith.extf %arg1 : bf16 to f32
// CHECK:       %[[PRODUCT:.*]] = arith.mulf %[[WIDE]], %[[WIDE]] : f32
// CHECK:       %[[HALF:.*]] = arith.truncf %[[PRODUCT]] : f32 to bf16
// CHECK:       return %[[CUBE]], %[[QUOTIENT]], %[[HALF]]
func.func @powers(%x: f32, %y: bf16) -> (f32, f32, bf16) {
  %three = arith.constant 3 : i32
  %0 = math.fpowi %x, %three : f32, i32
  %half = arith.constant -1.5 : f32
  %1 = math.powf %x, %half : f32
  %two = arith.constant 2.0 : bf16
  %2 = math.powf %y, %two : bf16
  return %0, %1, %2 : f32, f32, bf16
}
