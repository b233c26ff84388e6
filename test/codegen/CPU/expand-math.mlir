// RUN: taylor-opt %s --taylor-cpu-expand-math=target=x86-64-v4 | FileCheck %s
// RUN: taylor-opt %s --taylor-cpu-expand-math=target=x86-64-v3 | FileCheck %s --check-prefix=AVX2

// One instruction each for the fraction and for the power of two; weights below 2^-64 are left out by the mask.
// CHECK-LABEL: @exp2
// CHECK:         llvm.x86.avx512.mask.reduce.ps.512
// CHECK-COUNT-5: math.fma
// CHECK-NOT:     math.fma
// CHECK:         arith.cmpf uge
// CHECK:         llvm.x86.avx512.mask.scalef.ps.512
// AVX2-LABEL:  @exp2
// AVX2-COUNT-6:  math.fma
// AVX2:          arith.shli
// AVX2:          arith.cmpf olt
func.func @exp2(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp2 %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// A compare and a select, which keep a NaN of the first operand; two more for one of the second.
// CHECK-LABEL: @least
// CHECK-SAME:    %[[X:.*]]: vector<16xf32>, %[[Y:.*]]: vector<16xf32>
// CHECK:         %[[LESS:.*]] = arith.cmpf olt, %[[Y]], %[[X]]
// CHECK-NEXT:    %[[LEAST:.*]] = arith.select %[[LESS]], %[[Y]], %[[X]]
// CHECK-NEXT:    %[[NAN:.*]] = arith.cmpf uno, %[[Y]], %[[Y]]
// CHECK-NEXT:    arith.select %[[NAN]], %[[Y]], %[[LEAST]]
func.func @least(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  %0 = arith.minimumf %x, %y : vector<16xf32>
  return %0 : vector<16xf32>
}

// A number is none, on either side.
// CHECK-LABEL: @clamp
// CHECK-SAME:    %[[X:.*]]: vector<16xf32>
// CHECK:         %[[C:.*]] = vector.broadcast
// CHECK:         %[[LESS:.*]] = arith.cmpf ogt, %[[C]], %[[X]]
// CHECK-NEXT:    arith.select %[[LESS]], %[[C]], %[[X]]
// CHECK-NEXT:    return
func.func @clamp(%x: vector<16xf32>) -> vector<16xf32> {
  %five = arith.constant 5.0 : f32
  %c = vector.broadcast %five : f32 to vector<16xf32>
  %0 = arith.maximumf %c, %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// relu as a maximum whose second side is the number that may be a NaN.
// CHECK-LABEL: @relu
// CHECK-SAME:    %[[X:.*]]: vector<16xf32>
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.0
// CHECK:         %[[OFF:.*]] = arith.cmpf ogt, %[[ZERO]], %[[X]]
// CHECK-NEXT:    arith.select %[[OFF]], %[[ZERO]], %[[X]]
func.func @relu(%x: vector<16xf32>) -> vector<16xf32> {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %isOff = arith.cmpf ole, %x, %zero : vector<16xf32>
  %0 = arith.select %isOff, %zero, %x : vector<16xi1>, vector<16xf32>
  return %0 : vector<16xf32>
}

// No function of a library is left.
// CHECK-LABEL: @others
// CHECK-NOT:     call
// CHECK-NOT:     math.{{exp|log|tanh|erf|sin|cos|powf|fpowi|rsqrt}}
// CHECK:         return
func.func @others(%x: vector<4xf64>, %y: vector<4xf64>, %n: vector<4xi32>) -> vector<4xf64> {
  %0 = math.log %x : vector<4xf64>
  %1 = math.tanh %0 : vector<4xf64>
  %2 = math.sin %1 : vector<4xf64>
  %3 = math.cos %2 : vector<4xf64>
  %4 = math.powf %3, %y : vector<4xf64>
  %5 = math.rsqrt %4 : vector<4xf64>
  %6 = math.exp %5 : vector<4xf64>
  %7 = math.erf %6 : vector<4xf64>
  %8 = math.log10 %7 : vector<4xf64>
  %9 = math.fpowi %8, %n : vector<4xf64>, vector<4xi32>
  return %9 : vector<4xf64>
}

// Constant whole and half exponents: products, a root and a quotient; products of f32 beyond x^8 are of f64.
// CHECK-LABEL: @powers
// CHECK-NOT:     math.floor
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK:         math.sqrt %{{.*}} : vector<16xf32>
// CHECK:         arith.divf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK:         arith.extf
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : vector<16xf64>
// CHECK:         arith.truncf
// CHECK-NOT:     math.floor
// CHECK:         return
func.func @powers(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %half = arith.constant dense<-2.5> : vector<16xf32>
  %0 = math.powf %x, %half : vector<16xf32>
  %nine = arith.constant dense<9.0> : vector<16xf32>
  %1 = math.powf %x, %nine : vector<16xf32>
  return %0, %1 : vector<16xf32>, vector<16xf32>
}

// Any other exponent: the exponential of a logarithm, as where it is no constant.
// CHECK-LABEL: @roots
// CHECK:         math.floor
func.func @roots(%x: vector<16xf32>) -> vector<16xf32> {
  %third = arith.constant dense<0.33> : vector<16xf32>
  %0 = math.powf %x, %third : vector<16xf32>
  return %0 : vector<16xf32>
}

// So is an exponent that comes from outside of a map, as a number in all lanes.
// CHECK-LABEL: @cube
// CHECK-NOT:     math.floor
// CHECK-COUNT-2: arith.mulf
// CHECK-NOT:     arith.mulf
// CHECK:         return
func.func @cube(%x: vector<16xf32>) -> vector<16xf32> {
  %three = arith.constant 3.0 : f32
  %exponents = vector.broadcast %three : f32 to vector<16xf32>
  %0 = math.powf %x, %exponents : vector<16xf32>
  return %0 : vector<16xf32>
}
