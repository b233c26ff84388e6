// RUN: taylor-opt %s --taylor-narrow-products=type=bf16 --canonicalize | FileCheck %s
// RUN: taylor-opt %s --taylor-narrow-products=type=f16 --canonicalize | FileCheck %s --check-prefix=HALF
// RUN: not taylor-opt %s --taylor-narrow-products=type=f64 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: for the --type option: Cannot find option named 'f64'!

!q = !tile.array<[b, t, d = 8], bf16>
!td = !tile.tile<[t = 8, d = 8], f32>
!ud = !tile.tile<[u = 8, d = 8], f32>
!tu = !tile.tile<[t = 8, u = 8], f32>
!t = !tile.tile<[t = 8], f32>

// CHECK-LABEL: tile.program @forward
// HALF-LABEL: tile.program @forward
tile.program @forward {
  %q = tile.tensor "input:q" : !q
  %k = tile.tensor "input:k" : !tile.array<[b, u, d = 8], f32>
  %r = tile.tensor "input:r" : !tile.array<[b, u], f32>
  %o = tile.tensor "output:o" : !q
  // Only products read this memory; a map reads that one.
  // CHECK: %[[KEYS:.*]] = tile.workspace "keys" : !tile.array<[b, u, d = 8], bf16>
  // CHECK: tile.workspace "values" : !tile.array<[b, u, d = 8], f32>
  // HALF:  tile.workspace "keys" : !tile.array<[b, u, d = 8], f16>
  %keys = tile.workspace "keys" : !tile.array<[b, u, d = 8], f32>
  %values = tile.workspace "values" : !tile.array<[b, u, d = 8], f32>
  tile.kernel @columns grid(%b in b) {
    %c0 = arith.constant 0 : index
    %K = tile.load %k[b = %b, u = %c0] : !tile.array<[b, u, d = 8], f32> -> !ud
    // CHECK: tile.store %{{.*}}, %[[KEYS]] {{.*}} : !tile.tile<[d = 8, u = 8], f32>, !tile.array<[b, u, d = 8], bf16>
    tile.store %K, %keys[b = %b, u = %c0] : !ud, !tile.array<[b, u, d = 8], f32>
    tile.store %K, %values[b = %b, u = %c0] : !ud, !tile.array<[b, u, d = 8], f32>
  }
  // CHECK: tile.kernel @attend
  tile.kernel @attend grid(%b in b) {
    %c0 = arith.constant 0 : index
    // CHECK: %[[Q:.*]] = tile.load %{{.*}} -> !tile.tile<[d = 8, t = 8], bf16>
    %Q = tile.load %q[b = %b, t = %c0] : !q -> !td
    // CHECK: %[[K:.*]] = tile.load %[[KEYS]] {{.*}} -> !tile.tile<[d = 8, u = 8], bf16>
    %K = tile.load %keys[b = %b, u = %c0] : !tile.array<[b, u, d = 8], f32> -> !ud
    // CHECK: %[[S:.*]] = tile.dot %[[Q]], %[[K]] over(d) : {{.*}} -> !tile.tile<[t = 8, u = 8], f32>
    %S = tile.dot %Q, %K over(d) : !td, !ud -> !tu
    // The weights are summed in f32 and multiplied in bf16; the map rounds.
    // CHECK: %[[W:.*]]:2 = tile.map (%{{.*}} = %[[S]]) : {{.*}} -> (!tile.tile<[t = 8, u = 8], f32>, !tile.tile<[t = 8, u = 8], bf16>) {
    // CHECK:   %[[E:.*]] = math.exp
    // CHECK:   %[[N:.*]] = arith.truncf %[[E]] : f32 to bf16
    // CHECK:   tile.yield %[[E]], %[[N]] : f32, bf16
    %W = tile.map (%x = %S) : (!tu) -> !tu {
      %y = math.exp %x : f32
      tile.yield %y : f32
    }
    // CHECK: %[[SUM:.*]] = tile.reduce sum %[[W]]#0 over(u)
    %Z = tile.reduce sum %W over(u) : !tu -> !t
    // A tile that is read otherwise too is loaded in both types.
    // CHECK-DAG: %[[V:.*]] = tile.load {{.*}} -> !tile.tile<[d = 8, u = 8], f32>
    // CHECK-DAG: %[[V16:.*]] = tile.load {{.*}} -> !tile.tile<[d = 8, u = 8], bf16>
    %V = tile.load %values[b = %b, u = %c0] : !tile.array<[b, u, d = 8], f32> -> !ud
    // CHECK: tile.dot %[[W]]#1, %[[V16]] over(u)
    %O = tile.dot %W, %V over(u) : !tu, !ud -> !td
    // A vector times a matrix stays as it is.
    // CHECK: tile.dot %{{.*}}, %[[V]] over(u) : !tile.tile<[u = 8], f32>, !tile.tile<[d = 8, u = 8], f32> -> !tile.tile<[d = 8], f32>
    %R = tile.load %r[b = %b, u = %c0] : !tile.array<[b, u], f32> -> !tile.tile<[u = 8], f32>
    %P = tile.dot %R, %V over(u) : !tile.tile<[u = 8], f32>, !ud -> !tile.tile<[d = 8], f32>
    %N = tile.map (%x = %O, %z = %Z, %p = %P) : (!td, !t, !tile.tile<[d = 8], f32>) -> !td {
      %y = arith.divf %x, %z : f32
      %s = arith.addf %y, %p : f32
      tile.yield %s : f32
    }
    tile.store %N, %o[b = %b, t = %c0] : !td, !q
  }
}
