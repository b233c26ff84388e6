// RUN: taylor-opt %s --taylor-lower-tile-to-vector=target=x86-64-v4 | FileCheck %s
// RUN: taylor-opt %s --taylor-lower-tile-to-vector=target=x86-64-v3 | FileCheck %s --check-prefix=AVX2
// RUN: not taylor-opt %s --taylor-lower-tile-to-vector=target=pdp11 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: unsupported target 'pdp11'; expected native, x86-64-v3, x86-64-v4, znver4, znver5 or sapphirerapids

!td = !tile.tile<[t = 64, d = 64], f32>
!ud = !tile.tile<[u = 64, d = 64], f32>
!tu = !tile.tile<[t = 64, u = 64], f32>

// CHECK: module attributes {taylor.functions = [{kernels = 1 : i64, name = "forward", scratch = {{[0-9]+}} : i64}]}
tile.program @forward {
  %q = tile.tensor "input:q" : !tile.array<[b, t, d = 64], f32>
  %k = tile.tensor "input:k" : !tile.array<[b, u, d = 64], f32>
  %s = tile.tensor "output:s" optional : !tile.array<[b, t, u], f32>
  tile.kernel @scores grid(%b in b, %i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %Q = tile.load %q[b = %b, t = %t0] : !tile.array<[b, t, d = 64], f32> -> !td
    %K = tile.load %k[b = %b, u = %c0] : !tile.array<[b, u, d = 64], f32> -> !ud
    %S = tile.dot %Q, %K over(d) : !td, !ud -> !tu
    %W = tile.map (%x = %S) : (!tu) -> !tu {
      %y = math.exp %x : f32
      tile.yield %y : f32
    }
    %asked = tile.requested %s : !tile.array<[b, t, u], f32>
    scf.if %asked {
      tile.store %W, %s[b = %b, t = %t0] : !tu, !tile.array<[b, t, u], f32>
    }
  }
}
// The kernel: a loop over the caller's blocks; whole windows are read in place; one operand is transposed (shuffles);
// the product keeps 4 x 4 (with AVX2 6 x 2) sums over the loop on d, and the exponential runs on them before anything is stored.
// CHECK-LABEL: func.func private @taylor.forward.scores(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %{{.*}}: !llvm.ptr)
// CHECK:         scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK:           scf.if %{{.*}} -> (!llvm.ptr, i64) {
// CHECK:           vector.shuffle
// CHECK:           scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-16:    math.fma
// CHECK-NOT:         math.fma
// CHECK-COUNT-16:  math.exp
// CHECK-NOT:       math.exp
// CHECK:           scf.if
// AVX2-COUNT-12: math.fma {{.*}} : vector<8xf32>
// CHECK-LABEL: func.func @taylor_forward_workspace(
// CHECK-LABEL: func.func @taylor_forward_blocks(
// CHECK-LABEL: func.func @taylor_forward_run(
// CHECK:         call @taylor.forward.scores
