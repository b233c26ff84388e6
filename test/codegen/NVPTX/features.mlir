// Monomials and their adjoint from tiles to threads.
// RUN: taylor-opt %s --taylor-simt-assign-layouts="warps=2" | taylor-opt | FileCheck %s --check-prefix=LAYOUT
// RUN: taylor-opt %s --taylor-simt-assign-layouts="warps=2" --taylor-simt-schedule-copies | FileCheck %s --check-prefix=SCHEDULE --implicit-check-not=simt.barrier
// RUN: taylor-opt %s --taylor-simt-pipeline --taylor-simt-lower-to-nvvm | FileCheck %s --check-prefix=THREAD

// The expansion is made in the registers of the product that reads it, from a buffer; what is loaded for it alone is copied there and nowhere else.
// LAYOUT-LABEL: tile.kernel @features
// LAYOUT-DAG:   %[[SUMS:.*]] = simt.alloc "sums" : !simt.buffer<1 x [t = 32, d = 16], f32, swizzle = 64>
// LAYOUT-DAG:   %[[X:.*]] = simt.alloc "x" : !simt.buffer<1 x [t = 32, d = 16], f32, swizzle = 64>
// LAYOUT:       simt.copy {{.*}}, %[[X]]
// LAYOUT:       %[[P:.*]] = simt.expand %[[X]] over(d) <16, orders 1 to 2, block 8> from %{{.*}} to(f) weights [1.000000e+00, 5.000000e-01] : {{.*}} -> !tile.tile<[f = 32, t = 32], f32, #fragment_t_f>
// LAYOUT:       tile.map (%{{.*}} = %[[P]])
// LAYOUT:       simt.write %{{.*}}, %[[SUMS]]
// LAYOUT-NEXT:  simt.contract %{{.*}} over(f) <16, orders 1 to 2, block 8> from %{{.*}} at %[[X]] over(d) into %[[SUMS]]
// LAYOUT-NEXT:  simt.read %[[SUMS]]

// What any thread may have written is there before it is read, and read before it is written again.
// SCHEDULE-LABEL: tile.kernel @features
// SCHEDULE:       simt.barrier
// SCHEDULE:       simt.expand
// SCHEDULE:       simt.write {{.*}}t = 32, d = 16]
// SCHEDULE:       simt.barrier
// SCHEDULE-NEXT:  simt.contract
// SCHEDULE-NEXT:  simt.barrier
// SCHEDULE-NEXT:  simt.read

// Groups of 64 features, by the places of their two blocks of components in a row; blocks of order 1 behind them, and what fills up the last panel. Weights
// have the multiplicity of what a group stands for: 2 where its blocks differ.
// THREAD-DAG:   llvm.mlir.global internal constant @taylor_features_16_1_2_groups_0(dense<[0, 0, 0, 32, 32, 32]> : tensor<6xi32>) {addr_space = 1 : i32
// THREAD-DAG:   llvm.mlir.global internal constant @taylor_features_16_1_2_groups_weights_0(dense<[5.000000e-01, 1.000000e+00, 5.000000e-01]> : tensor<3xf32>)
// THREAD-DAG:   llvm.mlir.global internal constant @taylor_features_16_1_2_blocks_0(dense<[0, 32, -1, -1]> : tensor<4xi32>)
// THREAD-DAG:   llvm.mlir.global internal constant @taylor_features_16_1_2_blocks_weights_0(dense<[1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00]> : tensor<4xf32>)
// THREAD-LABEL: llvm.func @forward_features
tile.program @forward {
  %x = tile.tensor "input:x" : !tile.array<[b, t, d = 16], f32>
  %h = tile.tensor "input:h" : !tile.array<[b, f = 208, e = 16], bf16>
  %y = tile.tensor "output:y" : !tile.array<[b, t, e = 16], f32>
  %dx = tile.tensor "gradient:x" : !tile.array<[b, t, d = 16], f32>
  tile.kernel @features grid(%b in b, %i in ceildiv(t, 32)) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %c32 : index
    %X = tile.load %x[b = %b, t = %t0] : !tile.array<[b, t, d = 16], f32> -> !tile.tile<[d = 16, t = 32], f32>
    %H = tile.load %h[b = %b, f = %c32] : !tile.array<[b, f = 208, e = 16], bf16> -> !tile.tile<[e = 16, f = 32], bf16>
    %P = tile.expand %X over(d) <16, orders 1 to 2, block 8> from %c32 to(f) weights [1.0, 0.5] : !tile.tile<[d = 16, t = 32], f32> -> !tile.tile<[f = 32, t = 32], f32>
    %N = tile.map (%s = %P) : (!tile.tile<[f = 32, t = 32], f32>) -> !tile.tile<[f = 32, t = 32], bf16> {
      %0 = arith.truncf %s : f32 to bf16
      tile.yield %0 : bf16
    }
    %Y = tile.dot %N, %H over(f) : !tile.tile<[f = 32, t = 32], bf16>, !tile.tile<[e = 16, f = 32], bf16> -> !tile.tile<[e = 16, t = 32], f32>
    tile.store %Y, %y[b = %b, t = %t0] : !tile.tile<[e = 16, t = 32], f32>, !tile.array<[b, t, e = 16], f32>
    %D0 = tile.splat %zero : f32 -> !tile.tile<[d = 16, t = 32], f32>
    %D = tile.contract %P over(f) <16, orders 1 to 2, block 8> from %c32 at %X over(d) into %D0 : !tile.tile<[f = 32, t = 32], f32>, !tile.tile<[d = 16, t = 32], f32>, !tile.tile<[d = 16, t = 32], f32> -> !tile.tile<[d = 16, t = 32], f32>
    tile.store %D, %dx[b = %b, t = %t0] : !tile.tile<[d = 16, t = 32], f32>, !tile.array<[b, t, d = 16], f32>
  }
}

// Sums that a loop carries for contractions alone stay in their buffer while it runs.
// LAYOUT-LABEL: tile.kernel @panels
// LAYOUT:       simt.write %{{.*}}, %[[SUMS:.*]] : {{.*}}d = 16
// LAYOUT:       scf.for
// LAYOUT-NOT:   simt.write
// LAYOUT-NOT:   simt.read
// LAYOUT:       simt.contract %{{.*}} into %[[SUMS]]
// LAYOUT:       }
// LAYOUT:       simt.read %[[SUMS]]
// Each iteration adds to what other iterations added, behind the barrier that its state waits for.
// SCHEDULE-LABEL: tile.kernel @panels
// SCHEDULE:       scf.for
// SCHEDULE:         simt.barrier
// SCHEDULE:         simt.contract
// SCHEDULE:       }
// SCHEDULE:       simt.barrier
// SCHEDULE-NEXT:  simt.read
// SCHEDULE:       tile.store
// THREAD-LABEL: llvm.func @backward_panels
tile.program @backward {
  %x = tile.tensor "input:x" : !tile.array<[b, t, d = 16], f32>
  %h = tile.tensor "input:h" : !tile.array<[b, f = 208, e = 16], bf16>
  %dy = tile.tensor "cotangent:y" : !tile.array<[b, t, e = 16], bf16>
  %dx = tile.tensor "gradient:x" : !tile.array<[b, t, d = 16], f32>
  tile.kernel @panels grid(%b in b, %i in ceildiv(t, 32)) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c208 = arith.constant 208 : index
    %zero = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %c32 : index
    %X = tile.load %x[b = %b, t = %t0] : !tile.array<[b, t, d = 16], f32> -> !tile.tile<[d = 16, t = 32], f32>
    %G = tile.load %dy[b = %b, t = %t0] : !tile.array<[b, t, e = 16], bf16> -> !tile.tile<[e = 16, t = 32], bf16>
    %D0 = tile.splat %zero : f32 -> !tile.tile<[d = 16, t = 32], f32>
    %D = scf.for %f = %c0 to %c208 step %c32 iter_args(%sum = %D0) -> (!tile.tile<[d = 16, t = 32], f32>) {
      %H = tile.load %h[b = %b, f = %f] : !tile.array<[b, f = 208, e = 16], bf16> -> !tile.tile<[e = 16, f = 32], bf16>
      %P = tile.dot %H, %G over(e) : !tile.tile<[e = 16, f = 32], bf16>, !tile.tile<[e = 16, t = 32], bf16> -> !tile.tile<[f = 32, t = 32], f32>
      %next = tile.contract %P over(f) <16, orders 1 to 2, block 8> from %f at %X over(d) into %sum : !tile.tile<[f = 32, t = 32], f32>, !tile.tile<[d = 16, t = 32], f32>, !tile.tile<[d = 16, t = 32], f32> -> !tile.tile<[d = 16, t = 32], f32>
      scf.yield %next : !tile.tile<[d = 16, t = 32], f32>
    }
    tile.store %D, %dx[b = %b, t = %t0] : !tile.tile<[d = 16, t = 32], f32>, !tile.array<[b, t, d = 16], f32>
  }
}

// What is needed behind a contraction only is computed there.
// LAYOUT-LABEL: tile.kernel @scaled
// LAYOUT:       simt.contract
// LAYOUT:       tile.load %{{.*}} : !tile.array<[b, t], f32>
// LAYOUT:       tile.store
// SCHEDULE-LABEL: tile.kernel @scaled
// SCHEDULE:       simt.barrier
// SCHEDULE-NEXT:  simt.contract
// SCHEDULE-NEXT:  simt.barrier
// THREAD-LABEL: llvm.func @scaled_scaled
tile.program @scaled {
  %x = tile.tensor "input:x" : !tile.array<[b, t, d = 16], f32>
  %s = tile.tensor "input:s" : !tile.array<[b, t], f32>
  %p = tile.tensor "input:p" : !tile.array<[b, t, f = 16], f32>
  %dx = tile.tensor "gradient:x" : !tile.array<[b, t, d = 16], f32>
  tile.kernel @scaled grid(%b in b, %i in ceildiv(t, 32)) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %c32 : index
    %X = tile.load %x[b = %b, t = %t0] : !tile.array<[b, t, d = 16], f32> -> !tile.tile<[d = 16, t = 32], f32>
    %S = tile.load %s[b = %b, t = %t0] : !tile.array<[b, t], f32> -> !tile.tile<[t = 32], f32>
    %P = tile.load %p[b = %b, t = %t0] : !tile.array<[b, t, f = 16], f32> -> !tile.tile<[f = 16, t = 32], f32>
    %D0 = tile.splat %zero : f32 -> !tile.tile<[d = 16, t = 32], f32>
    %D = tile.contract %P over(f) <16, orders 1 to 1, block 8> from %c0 at %X over(d) into %D0 : !tile.tile<[f = 16, t = 32], f32>, !tile.tile<[d = 16, t = 32], f32>, !tile.tile<[d = 16, t = 32], f32> -> !tile.tile<[d = 16, t = 32], f32>
    %R = tile.map (%a = %D, %c = %S) : (!tile.tile<[d = 16, t = 32], f32>, !tile.tile<[t = 32], f32>) -> !tile.tile<[d = 16, t = 32], f32> {
      %0 = arith.mulf %a, %c : f32
      tile.yield %0 : f32
    }
    tile.store %R, %dx[b = %b, t = %t0] : !tile.tile<[d = 16, t = 32], f32>, !tile.array<[b, t, d = 16], f32>
  }
}
