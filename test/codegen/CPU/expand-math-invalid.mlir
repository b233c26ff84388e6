// RUN: taylor-opt %s --taylor-cpu-expand-math --split-input-file --verify-diagnostics

func.func @sinh(%x: vector<8xf32>) -> vector<8xf32> {
  // expected-error @+1 {{unsupported op on a CPU: 'math.sinh' of 'vector<8xf32>'; expected arithmetic, or exp, exp2, expm1, log, log1p, log2, log10, tanh, erf, sin, cos, powf, fpowi, sqrt or rsqrt of f32 or f64}}
  %0 = math.sinh %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// -----

func.func @remainder(%x: f64, %y: f64) -> f64 {
  // expected-error @+1 {{unsupported op on a CPU: 'arith.remf' of 'f64'; expected arithmetic, or exp, exp2, expm1, log, log1p, log2, log10, tanh, erf, sin, cos, powf, fpowi, sqrt or rsqrt of f32 or f64}}
  %0 = arith.remf %x, %y : f64
  return %0 : f64
}
