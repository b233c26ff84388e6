// RUN: taylor-opt %s --split-input-file --verify-diagnostics --taylor-simt-assign-layouts
// RUN: not taylor-opt --taylor-simt-assign-layouts="warps=3" %S/../../tile/round-trip.mlir 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not taylor-opt --taylor-simt-assign-layouts="f32-products=fast" %S/../../tile/round-trip.mlir 2>&1 | FileCheck %s --check-prefix=PRODUCTS
// RUN: not taylor-opt --taylor-simt-assign-layouts="f32-products=wgmma start-products=true" %S/../../tile/round-trip.mlir 2>&1 | FileCheck %s --check-prefix=STARTED
// STARTED: for the --f32-products option: Cannot find option named 'wgmma'!
// WARPS: expected warps=1, 2, 4, 8 or 16, or 0 to choose, but got 3
// PRODUCTS: for the --f32-products option: Cannot find option named 'fast'!

tile.program @f {
  %q = tile.tensor "input:q" : !tile.array<[b, t, d = 16], f32>
  tile.kernel @k grid(%b in b) {
    %c0 = arith.constant 0 : index
    %Q = tile.load %q[b = %b, t = %c0] : !tile.array<[b, t, d = 16], f32> -> !tile.tile<[d = 16, t = 12], f32>
    %K = tile.load %q[b = %b, t as u = %c0] : !tile.array<[b, t, d = 16], f32> -> !tile.tile<[d = 16, u = 16], f32>
    // expected-error @+1 {{unsupported on this target: size 12 of axis 't' of '!tile.tile<[d = 16, t = 12], f32>'; expected a multiple of 8, which channels of zeros fill up}}
    %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 16, t = 12], f32>, !tile.tile<[d = 16, u = 16], f32> -> !tile.tile<[t = 12, u = 16], f32>
  }
}

// -----

tile.program @f {
  %q = tile.tensor "input:q" : !tile.array<[b, t, d = 16], f32>
  tile.kernel @k grid(%b in b) {
    %c0 = arith.constant 0 : index
    %Q = tile.load %q[b = %b, t = %c0] : !tile.array<[b, t, d = 16], f32> -> !tile.tile<[d = 16, t = 16], f32>
    %K = tile.load %q[b = %b, t as u = %c0] : !tile.array<[b, t, d = 16], f32> -> !tile.tile<[d = 16, u = 16], bf16>
    // expected-error @+1 {{unsupported on this target: operands of different types, 'f32' and 'bf16'}}
    %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 16, t = 16], f32>, !tile.tile<[d = 16, u = 16], bf16> -> !tile.tile<[t = 16, u = 16], f32>
  }
}

// -----

tile.program @f {
  %q = tile.tensor "input:q" : !tile.array<[b, h, t, d = 16], f32>
  tile.kernel @k grid(%b in b) {
    %c0 = arith.constant 0 : index
    %Q = tile.load %q[b = %b, h = %c0, t = %c0] : !tile.array<[b, h, t, d = 16], f32> -> !tile.tile<[d = 16, h = 16, t = 16], f32>
    %K = tile.load %q[b = %b, h = %c0, t as u = %c0] : !tile.array<[b, h, t, d = 16], f32> -> !tile.tile<[d = 16, u = 16], f32>
    // expected-error @+1 {{expected one axis of each beside the one summed over}}
    %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 16, h = 16, t = 16], f32>, !tile.tile<[d = 16, u = 16], f32> -> !tile.tile<[h = 16, t = 16, u = 16], f32>
  }
}

// -----

tile.program @f {
  %q = tile.tensor "input:q" : !tile.array<[b, h, t, d = 16], f32>
  tile.kernel @k grid(%b in b) {
    %c0 = arith.constant 0 : index
    %Q = tile.load %q[b = %b, h = %c0, t = %c0] : !tile.array<[b, h, t, d = 16], f32> -> !tile.tile<[d = 16, h = 16, t = 16], f32>
    %K = tile.load %q[b = %b, h = %c0, t as u = %c0] : !tile.array<[b, h, t, d = 16], f32> -> !tile.tile<[d = 16, h = 16, u = 16], f32>
    // expected-error @+1 {{unsupported on this target: a product over 2 axes}}
    %S = tile.dot %Q, %K over(d, h) : !tile.tile<[d = 16, h = 16, t = 16], f32>, !tile.tile<[d = 16, h = 16, u = 16], f32> -> !tile.tile<[t = 16, u = 16], f32>
  }
}
