// Products that start: 64 rows for four warps, in warps first.
// RUN: taylor-opt %s --taylor-simt-assign-layouts="start-products=true warps=4" | FileCheck %s --check-prefixes=CHECK,FOUR
// RUN: taylor-opt %s --taylor-simt-assign-layouts="start-products=true warps=8" | FileCheck %s --check-prefix=EIGHT
// RUN: taylor-opt %s --taylor-simt-assign-layouts="start-products=true warps=2" | FileCheck %s --check-prefix=NEVER
// RUN: taylor-opt %s --taylor-simt-assign-layouts="warps=4" | FileCheck %s --check-prefix=NEVER
// NEVER-NOT: wgmma

// The left operand that the loop does not change is in a buffer, the computed one in registers of the accumulator's layout.
// Eight warps have 128 rows, and these have 64.
// FOUR-DAG: #[[S:.*]] = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
// FOUR-DAG: #[[WIDE:.*]] = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8, t:64*2]>
// EIGHT-DAG: #[[WIDE:.*]] = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32, t:64], register = [u:1*2, t:8*2, u:8*8]>
// CHECK-LABEL: tile.program @attention
// CHECK: %[[Q:.*]] = simt.alloc "q" : !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
// CHECK: scf.for
// CHECK: simt.dot wgmma %[[Q]], %{{.*}} over(d) : {{.*}} -> !tile.tile<[t = 64, u = 64], f32, #[[S]]>
// CHECK: %[[P:.*]] = tile.map ({{.*}} -> !tile.tile<[t = 64, u = 64], bf16, #[[S]]>
// CHECK: simt.dot wgmma %[[P]], %{{.*}} over(u) into %{{.*}} : !tile.tile<[t = 64, u = 64], bf16, #[[S]]>
// EIGHT-LABEL: tile.program @attention
// EIGHT: simt.dot mma16
// EIGHT: simt.dot mma16
tile.program @attention {
  %q = tile.tensor "input:q" : !tile.array<[t, d = 64], bf16>
  %k = tile.tensor "input:k" : !tile.array<[u, d = 64], bf16>
  %v = tile.tensor "input:v" : !tile.array<[u, e = 64], bf16>
  %o = tile.tensor "output:o" : !tile.array<[t, e = 64], bf16>
  tile.kernel @k grid(%i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %rows = arith.constant 64 : index
    %keys = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %rows : index
    %Q = tile.load %q[t = %t0] : !tile.array<[t, d = 64], bf16> -> !tile.tile<[d = 64, t = 64], bf16>
    %N0 = tile.splat %zero : f32 -> !tile.tile<[e = 64, t = 64], f32>
    %U = tile.size "u"
    %N = scf.for %j = %c0 to %U step %keys iter_args(%n = %N0) -> (!tile.tile<[e = 64, t = 64], f32>) {
      %K = tile.load %k[u = %j] : !tile.array<[u, d = 64], bf16> -> !tile.tile<[d = 64, u = 64], bf16>
      %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 64, t = 64], bf16>, !tile.tile<[d = 64, u = 64], bf16> -> !tile.tile<[t = 64, u = 64], f32>
      %P = tile.map (%s = %S) : (!tile.tile<[t = 64, u = 64], f32>) -> !tile.tile<[t = 64, u = 64], bf16> {
        %w = math.exp2 %s : f32
        %p = arith.truncf %w : f32 to bf16
        tile.yield %p : bf16
      }
      %V = tile.load %v[u = %j] : !tile.array<[u, e = 64], bf16> -> !tile.tile<[e = 64, u = 64], bf16>
      %n1 = tile.dot %P, %V over(u) into %n : !tile.tile<[t = 64, u = 64], bf16>, !tile.tile<[e = 64, u = 64], bf16> -> !tile.tile<[e = 64, t = 64], f32>
      scf.yield %n1 : !tile.tile<[e = 64, t = 64], f32>
    }
    tile.store %N, %o[t = %t0] : !tile.tile<[e = 64, t = 64], f32>, !tile.array<[t, e = 64], bf16>
  }
}

// Each of four warps has 16 of the first 64 rows, and 16 of the next.
// CHECK-LABEL: tile.program @two_blocks_of_rows
// CHECK: simt.dot wgmma {{.*}} over(d) : {{.*}} -> !tile.tile<[t = 128, u = 64], f32, #[[WIDE]]>
// CHECK: simt.dot wgmma {{.*}} over(u) into {{.*}} : !tile.tile<[t = 128, u = 64], bf16, #[[WIDE]]>
// EIGHT-LABEL: tile.program @two_blocks_of_rows
// EIGHT: simt.dot wgmma {{.*}} over(d) : {{.*}} -> !tile.tile<[t = 128, u = 64], f32, #[[WIDE]]>
// EIGHT: simt.dot wgmma {{.*}} over(u) into {{.*}} : !tile.tile<[t = 128, u = 64], bf16, #[[WIDE]]>
tile.program @two_blocks_of_rows {
  %q = tile.tensor "input:q" : !tile.array<[t, d = 64], bf16>
  %k = tile.tensor "input:k" : !tile.array<[u, d = 64], bf16>
  %v = tile.tensor "input:v" : !tile.array<[u, e = 64], bf16>
  %o = tile.tensor "output:o" : !tile.array<[t, e = 64], bf16>
  tile.kernel @k grid(%i in ceildiv(t, 128)) {
    %c0 = arith.constant 0 : index
    %rows = arith.constant 128 : index
    %keys = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %rows : index
    %Q = tile.load %q[t = %t0] : !tile.array<[t, d = 64], bf16> -> !tile.tile<[d = 64, t = 128], bf16>
    %N0 = tile.splat %zero : f32 -> !tile.tile<[e = 64, t = 128], f32>
    %U = tile.size "u"
    %N = scf.for %j = %c0 to %U step %keys iter_args(%n = %N0) -> (!tile.tile<[e = 64, t = 128], f32>) {
      %K = tile.load %k[u = %j] : !tile.array<[u, d = 64], bf16> -> !tile.tile<[d = 64, u = 64], bf16>
      %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 64, t = 128], bf16>, !tile.tile<[d = 64, u = 64], bf16> -> !tile.tile<[t = 128, u = 64], f32>
      %P = tile.map (%s = %S) : (!tile.tile<[t = 128, u = 64], f32>) -> !tile.tile<[t = 128, u = 64], bf16> {
        %w = math.exp2 %s : f32
        %p = arith.truncf %w : f32 to bf16
        tile.yield %p : bf16
      }
      %V = tile.load %v[u = %j] : !tile.array<[u, e = 64], bf16> -> !tile.tile<[e = 64, u = 64], bf16>
      %n1 = tile.dot %P, %V over(u) into %n : !tile.tile<[t = 128, u = 64], bf16>, !tile.tile<[e = 64, u = 64], bf16> -> !tile.tile<[e = 64, t = 128], f32>
      scf.yield %n1 : !tile.tile<[e = 64, t = 128], f32>
    }
    tile.store %N, %o[t = %t0] : !tile.tile<[e = 64, t = 128], f32>, !tile.array<[t, e = 64], bf16>
  }
}

// The other type of 16 bits, and the widest accumulator.
// CHECK-LABEL: tile.program @half_precision
// CHECK: simt.dot wgmma {{.*}} over(d)
// CHECK: simt.dot wgmma {{.*}} over(u) into {{.*}} -> !tile.tile<[e = 256, t = 64], f32
tile.program @half_precision {
  %q = tile.tensor "input:q" : !tile.array<[t, d = 64], f16>
  %k = tile.tensor "input:k" : !tile.array<[u, d = 64], f16>
  %v = tile.tensor "input:v" : !tile.array<[u, e = 256], f16>
  %o = tile.tensor "output:o" : !tile.array<[t, e = 256], f16>
  tile.kernel @k grid(%i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %rows = arith.constant 64 : index
    %keys = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %rows : index
    %Q = tile.load %q[t = %t0] : !tile.array<[t, d = 64], f16> -> !tile.tile<[d = 64, t = 64], f16>
    %N0 = tile.splat %zero : f32 -> !tile.tile<[e = 256, t = 64], f32>
    %U = tile.size "u"
    %N = scf.for %j = %c0 to %U step %keys iter_args(%n = %N0) -> (!tile.tile<[e = 256, t = 64], f32>) {
      %K = tile.load %k[u = %j] : !tile.array<[u, d = 64], f16> -> !tile.tile<[d = 64, u = 64], f16>
      %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 64, t = 64], f16>, !tile.tile<[d = 64, u = 64], f16> -> !tile.tile<[t = 64, u = 64], f32>
      %P = tile.map (%s = %S) : (!tile.tile<[t = 64, u = 64], f32>) -> !tile.tile<[t = 64, u = 64], f16> {
        %w = math.exp2 %s : f32
        %p = arith.truncf %w : f32 to f16
        tile.yield %p : f16
      }
      %V = tile.load %v[u = %j] : !tile.array<[u, e = 256], f16> -> !tile.tile<[e = 256, u = 64], f16>
      %n1 = tile.dot %P, %V over(u) into %n : !tile.tile<[t = 64, u = 64], f16>, !tile.tile<[e = 256, u = 64], f16> -> !tile.tile<[e = 256, t = 64], f32>
      scf.yield %n1 : !tile.tile<[e = 256, t = 64], f32>
    }
    tile.store %N, %o[t = %t0] : !tile.tile<[e = 256, t = 64], f32>, !tile.array<[t, e = 256], f16>
  }
}

// 32 rows, and 96.
// CHECK-LABEL: tile.program @rows
// CHECK: simt.dot mma16 {{.*}} over(d)
// CHECK: simt.dot mma16 {{.*}} over(u)
tile.program @rows {
  %q = tile.tensor "input:q" : !tile.array<[t, d = 64], bf16>
  %k = tile.tensor "input:k" : !tile.array<[u, d = 64], bf16>
  %v = tile.tensor "input:v" : !tile.array<[u, e = 64], bf16>
  %o = tile.tensor "output:o" : !tile.array<[t, e = 64], bf16>
  tile.kernel @k grid(%i in ceildiv(t, 32)) {
    %c0 = arith.constant 0 : index
    %rows = arith.constant 32 : index
    %keys = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %rows : index
    %Q = tile.load %q[t = %t0] : !tile.array<[t, d = 64], bf16> -> !tile.tile<[d = 64, t = 32], bf16>
    %N0 = tile.splat %zero : f32 -> !tile.tile<[e = 64, t = 32], f32>
    %U = tile.size "u"
    %N = scf.for %j = %c0 to %U step %keys iter_args(%n = %N0) -> (!tile.tile<[e = 64, t = 32], f32>) {
      %K = tile.load %k[u = %j] : !tile.array<[u, d = 64], bf16> -> !tile.tile<[d = 64, u = 64], bf16>
      %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 64, t = 32], bf16>, !tile.tile<[d = 64, u = 64], bf16> -> !tile.tile<[t = 32, u = 64], f32>
      %P = tile.map (%s = %S) : (!tile.tile<[t = 32, u = 64], f32>) -> !tile.tile<[t = 32, u = 64], bf16> {
        %w = math.exp2 %s : f32
        %p = arith.truncf %w : f32 to bf16
        tile.yield %p : bf16
      }
      %V = tile.load %v[u = %j] : !tile.array<[u, e = 64], bf16> -> !tile.tile<[e = 64, u = 64], bf16>
      %n1 = tile.dot %P, %V over(u) into %n : !tile.tile<[t = 32, u = 64], bf16>, !tile.tile<[e = 64, u = 64], bf16> -> !tile.tile<[e = 64, t = 32], f32>
      scf.yield %n1 : !tile.tile<[e = 64, t = 32], f32>
    }
    tile.store %N, %o[t = %t0] : !tile.tile<[e = 64, t = 32], f32>, !tile.array<[t, e = 64], bf16>
  }
}


// CHECK-LABEL: tile.program @more_rows
// CHECK: simt.dot mma16 {{.*}} over(d)
// CHECK: simt.dot mma16 {{.*}} over(u)
tile.program @more_rows {
  %q = tile.tensor "input:q" : !tile.array<[t, d = 64], bf16>
  %k = tile.tensor "input:k" : !tile.array<[u, d = 64], bf16>
  %v = tile.tensor "input:v" : !tile.array<[u, e = 64], bf16>
  %o = tile.tensor "output:o" : !tile.array<[t, e = 64], bf16>
  tile.kernel @k grid(%i in ceildiv(t, 96)) {
    %c0 = arith.constant 0 : index
    %rows = arith.constant 96 : index
    %keys = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %rows : index
    %Q = tile.load %q[t = %t0] : !tile.array<[t, d = 64], bf16> -> !tile.tile<[d = 64, t = 96], bf16>
    %N0 = tile.splat %zero : f32 -> !tile.tile<[e = 64, t = 96], f32>
    %U = tile.size "u"
    %N = scf.for %j = %c0 to %U step %keys iter_args(%n = %N0) -> (!tile.tile<[e = 64, t = 96], f32>) {
      %K = tile.load %k[u = %j] : !tile.array<[u, d = 64], bf16> -> !tile.tile<[d = 64, u = 64], bf16>
      %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 64, t = 96], bf16>, !tile.tile<[d = 64, u = 64], bf16> -> !tile.tile<[t = 96, u = 64], f32>
      %P = tile.map (%s = %S) : (!tile.tile<[t = 96, u = 64], f32>) -> !tile.tile<[t = 96, u = 64], bf16> {
        %w = math.exp2 %s : f32
        %p = arith.truncf %w : f32 to bf16
        tile.yield %p : bf16
      }
      %V = tile.load %v[u = %j] : !tile.array<[u, e = 64], bf16> -> !tile.tile<[e = 64, u = 64], bf16>
      %n1 = tile.dot %P, %V over(u) into %n : !tile.tile<[t = 96, u = 64], bf16>, !tile.tile<[e = 64, u = 64], bf16> -> !tile.tile<[e = 64, t = 96], f32>
      scf.yield %n1 : !tile.tile<[e = 64, t = 96], f32>
    }
    tile.store %N, %o[t = %t0] : !tile.tile<[e = 64, t = 96], f32>, !tile.array<[t, e = 64], bf16>
  }
}

// Columns of 16 n + 8: of the second product alone.
// CHECK-LABEL: tile.program @columns
// CHECK: simt.dot wgmma {{.*}} over(d)
// CHECK: simt.dot mma16 {{.*}} over(u)
tile.program @columns {
  %q = tile.tensor "input:q" : !tile.array<[t, d = 64], bf16>
  %k = tile.tensor "input:k" : !tile.array<[u, d = 64], bf16>
  %v = tile.tensor "input:v" : !tile.array<[u, e = 72], bf16>
  %o = tile.tensor "output:o" : !tile.array<[t, e = 72], bf16>
  tile.kernel @k grid(%i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %rows = arith.constant 64 : index
    %keys = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %rows : index
    %Q = tile.load %q[t = %t0] : !tile.array<[t, d = 64], bf16> -> !tile.tile<[d = 64, t = 64], bf16>
    %N0 = tile.splat %zero : f32 -> !tile.tile<[e = 72, t = 64], f32>
    %U = tile.size "u"
    %N = scf.for %j = %c0 to %U step %keys iter_args(%n = %N0) -> (!tile.tile<[e = 72, t = 64], f32>) {
      %K = tile.load %k[u = %j] : !tile.array<[u, d = 64], bf16> -> !tile.tile<[d = 64, u = 64], bf16>
      %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 64, t = 64], bf16>, !tile.tile<[d = 64, u = 64], bf16> -> !tile.tile<[t = 64, u = 64], f32>
      %P = tile.map (%s = %S) : (!tile.tile<[t = 64, u = 64], f32>) -> !tile.tile<[t = 64, u = 64], bf16> {
        %w = math.exp2 %s : f32
        %p = arith.truncf %w : f32 to bf16
        tile.yield %p : bf16
      }
      %V = tile.load %v[u = %j] : !tile.array<[u, e = 72], bf16> -> !tile.tile<[e = 72, u = 64], bf16>
      %n1 = tile.dot %P, %V over(u) into %n : !tile.tile<[t = 64, u = 64], bf16>, !tile.tile<[e = 72, u = 64], bf16> -> !tile.tile<[e = 72, t = 64], f32>
      scf.yield %n1 : !tile.tile<[e = 72, t = 64], f32>
    }
    tile.store %N, %o[t = %t0] : !tile.tile<[e = 72, t = 64], f32>, !tile.array<[t, e = 72], bf16>
  }
}

// More columns than an instruction has.
// CHECK-LABEL: tile.program @wide
// CHECK: simt.dot wgmma {{.*}} over(d)
// CHECK: simt.dot mma16 {{.*}} over(u)
tile.program @wide {
  %q = tile.tensor "input:q" : !tile.array<[t, d = 64], bf16>
  %k = tile.tensor "input:k" : !tile.array<[u, d = 64], bf16>
  %v = tile.tensor "input:v" : !tile.array<[u, e = 272], bf16>
  %o = tile.tensor "output:o" : !tile.array<[t, e = 272], bf16>
  tile.kernel @k grid(%i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %rows = arith.constant 64 : index
    %keys = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %rows : index
    %Q = tile.load %q[t = %t0] : !tile.array<[t, d = 64], bf16> -> !tile.tile<[d = 64, t = 64], bf16>
    %N0 = tile.splat %zero : f32 -> !tile.tile<[e = 272, t = 64], f32>
    %U = tile.size "u"
    %N = scf.for %j = %c0 to %U step %keys iter_args(%n = %N0) -> (!tile.tile<[e = 272, t = 64], f32>) {
      %K = tile.load %k[u = %j] : !tile.array<[u, d = 64], bf16> -> !tile.tile<[d = 64, u = 64], bf16>
      %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 64, t = 64], bf16>, !tile.tile<[d = 64, u = 64], bf16> -> !tile.tile<[t = 64, u = 64], f32>
      %P = tile.map (%s = %S) : (!tile.tile<[t = 64, u = 64], f32>) -> !tile.tile<[t = 64, u = 64], bf16> {
        %w = math.exp2 %s : f32
        %p = arith.truncf %w : f32 to bf16
        tile.yield %p : bf16
      }
      %V = tile.load %v[u = %j] : !tile.array<[u, e = 272], bf16> -> !tile.tile<[e = 272, u = 64], bf16>
      %n1 = tile.dot %P, %V over(u) into %n : !tile.tile<[t = 64, u = 64], bf16>, !tile.tile<[e = 272, u = 64], bf16> -> !tile.tile<[e = 272, t = 64], f32>
      scf.yield %n1 : !tile.tile<[e = 272, t = 64], f32>
    }
    tile.store %N, %o[t = %t0] : !tile.tile<[e = 272, t = 64], f32>, !tile.array<[t, e = 272], bf16>
  }
}

// A summed axis of 16 n + 8.
// CHECK-LABEL: tile.program @depth
// CHECK: simt.dot mma16 {{.*}} over(d)
// CHECK: simt.dot wgmma {{.*}} over(u)
tile.program @depth {
  %q = tile.tensor "input:q" : !tile.array<[t, d = 72], bf16>
  %k = tile.tensor "input:k" : !tile.array<[u, d = 72], bf16>
  %v = tile.tensor "input:v" : !tile.array<[u, e = 64], bf16>
  %o = tile.tensor "output:o" : !tile.array<[t, e = 64], bf16>
  tile.kernel @k grid(%i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %rows = arith.constant 64 : index
    %keys = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %rows : index
    %Q = tile.load %q[t = %t0] : !tile.array<[t, d = 72], bf16> -> !tile.tile<[d = 72, t = 64], bf16>
    %N0 = tile.splat %zero : f32 -> !tile.tile<[e = 64, t = 64], f32>
    %U = tile.size "u"
    %N = scf.for %j = %c0 to %U step %keys iter_args(%n = %N0) -> (!tile.tile<[e = 64, t = 64], f32>) {
      %K = tile.load %k[u = %j] : !tile.array<[u, d = 72], bf16> -> !tile.tile<[d = 72, u = 64], bf16>
      %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 72, t = 64], bf16>, !tile.tile<[d = 72, u = 64], bf16> -> !tile.tile<[t = 64, u = 64], f32>
      %P = tile.map (%s = %S) : (!tile.tile<[t = 64, u = 64], f32>) -> !tile.tile<[t = 64, u = 64], bf16> {
        %w = math.exp2 %s : f32
        %p = arith.truncf %w : f32 to bf16
        tile.yield %p : bf16
      }
      %V = tile.load %v[u = %j] : !tile.array<[u, e = 64], bf16> -> !tile.tile<[e = 64, u = 64], bf16>
      %n1 = tile.dot %P, %V over(u) into %n : !tile.tile<[t = 64, u = 64], bf16>, !tile.tile<[e = 64, u = 64], bf16> -> !tile.tile<[e = 64, t = 64], f32>
      scf.yield %n1 : !tile.tile<[e = 64, t = 64], f32>
    }
    tile.store %N, %o[t = %t0] : !tile.tile<[e = 64, t = 64], f32>, !tile.array<[t, e = 64], bf16>
  }
}

// The columns of one product are the summed axis of the other.
// CHECK-LABEL: tile.program @keys
// CHECK: simt.dot mma16 {{.*}} over(d)
// CHECK: simt.dot mma16 {{.*}} over(u)
tile.program @keys {
  %q = tile.tensor "input:q" : !tile.array<[t, d = 64], bf16>
  %k = tile.tensor "input:k" : !tile.array<[u, d = 64], bf16>
  %v = tile.tensor "input:v" : !tile.array<[u, e = 64], bf16>
  %o = tile.tensor "output:o" : !tile.array<[t, e = 64], bf16>
  tile.kernel @k grid(%i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %rows = arith.constant 64 : index
    %keys = arith.constant 40 : index
    %zero = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %rows : index
    %Q = tile.load %q[t = %t0] : !tile.array<[t, d = 64], bf16> -> !tile.tile<[d = 64, t = 64], bf16>
    %N0 = tile.splat %zero : f32 -> !tile.tile<[e = 64, t = 64], f32>
    %U = tile.size "u"
    %N = scf.for %j = %c0 to %U step %keys iter_args(%n = %N0) -> (!tile.tile<[e = 64, t = 64], f32>) {
      %K = tile.load %k[u = %j] : !tile.array<[u, d = 64], bf16> -> !tile.tile<[d = 64, u = 40], bf16>
      %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 64, t = 64], bf16>, !tile.tile<[d = 64, u = 40], bf16> -> !tile.tile<[t = 64, u = 40], f32>
      %P = tile.map (%s = %S) : (!tile.tile<[t = 64, u = 40], f32>) -> !tile.tile<[t = 64, u = 40], bf16> {
        %w = math.exp2 %s : f32
        %p = arith.truncf %w : f32 to bf16
        tile.yield %p : bf16
      }
      %V = tile.load %v[u = %j] : !tile.array<[u, e = 64], bf16> -> !tile.tile<[e = 64, u = 40], bf16>
      %n1 = tile.dot %P, %V over(u) into %n : !tile.tile<[t = 64, u = 40], bf16>, !tile.tile<[e = 64, u = 40], bf16> -> !tile.tile<[e = 64, t = 64], f32>
      scf.yield %n1 : !tile.tile<[e = 64, t = 64], f32>
    }
    tile.store %N, %o[t = %t0] : !tile.tile<[e = 64, t = 64], f32>, !tile.array<[t, e = 64], bf16>
  }
}

// Products of 32 bits.
// CHECK-LABEL: tile.program @f32
// CHECK: simt.dot fma {{.*}} over(d)
// CHECK: simt.dot fma {{.*}} over(u)
tile.program @f32 {
  %q = tile.tensor "input:q" : !tile.array<[t, d = 64], f32>
  %k = tile.tensor "input:k" : !tile.array<[u, d = 64], f32>
  %v = tile.tensor "input:v" : !tile.array<[u, e = 64], f32>
  %o = tile.tensor "output:o" : !tile.array<[t, e = 64], f32>
  tile.kernel @k grid(%i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %rows = arith.constant 64 : index
    %keys = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %rows : index
    %Q = tile.load %q[t = %t0] : !tile.array<[t, d = 64], f32> -> !tile.tile<[d = 64, t = 64], f32>
    %N0 = tile.splat %zero : f32 -> !tile.tile<[e = 64, t = 64], f32>
    %U = tile.size "u"
    %N = scf.for %j = %c0 to %U step %keys iter_args(%n = %N0) -> (!tile.tile<[e = 64, t = 64], f32>) {
      %K = tile.load %k[u = %j] : !tile.array<[u, d = 64], f32> -> !tile.tile<[d = 64, u = 64], f32>
      %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 64, t = 64], f32>, !tile.tile<[d = 64, u = 64], f32> -> !tile.tile<[t = 64, u = 64], f32>
      %P = tile.map (%s = %S) : (!tile.tile<[t = 64, u = 64], f32>) -> !tile.tile<[t = 64, u = 64], f32> {
        %w = math.exp2 %s : f32
        tile.yield %w : f32
      }
      %V = tile.load %v[u = %j] : !tile.array<[u, e = 64], f32> -> !tile.tile<[e = 64, u = 64], f32>
      %n1 = tile.dot %P, %V over(u) into %n : !tile.tile<[t = 64, u = 64], f32>, !tile.tile<[e = 64, u = 64], f32> -> !tile.tile<[e = 64, t = 64], f32>
      scf.yield %n1 : !tile.tile<[e = 64, t = 64], f32>
    }
    tile.store %N, %o[t = %t0] : !tile.tile<[e = 64, t = 64], f32>, !tile.array<[t, e = 64], f32>
  }
}
