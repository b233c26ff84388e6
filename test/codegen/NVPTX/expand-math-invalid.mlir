// RUN: not taylor-opt %s --taylor-nvptx-expand-math 2>&1 | FileCheck %s
// CHECK: expand-math-invalid.mlir:[[#@LINE+2]]:8: error: unsupported op on a GPU: 'math.atan' of 'f32'; expected arithmetic, or exp, exp2, expm1, log, log1p, log2, log10, tanh, erf, sin, cos, powf, fpowi, sqrt or rsqrt of floats
func.func @f(%x: f32) -> f32 {
  %0 = math.atan %x : f32
  return %0 : f32
}
