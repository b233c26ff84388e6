// Products of one row: keys and values lie in memory as bf16, are read once, and nothing is transposed or copied.
// RUN: taylor-opt %s --taylor-lower-tile-to-vector=target=x86-64-v4 | FileCheck %s
// RUN: taylor-opt %s --taylor-lower-tile-to-vector=target=x86-64-v3 | FileCheck %s --check-prefix=AVX2

!td = !tile.tile<[t = 1, d = 64], f32>
!ud = !tile.tile<[u = 128, d = 64], f32>
!tu = !tile.tile<[t = 1, u = 128], f32>
!te = !tile.tile<[t = 1, d = 64], f32>
!keys = !tile.array<[b, u, d = 64], bf16>

tile.program @step {
  %q = tile.tensor "input:q" : !tile.array<[b, t, d = 64], f32>
  %k = tile.tensor "input:k" : !keys
  %v = tile.tensor "input:v" : !keys
  %o = tile.tensor "output:o" : !tile.array<[b, t, d = 64], f32>
  tile.kernel @attend grid(%b in b, %t in t) {
    %c0 = arith.constant 0 : index
    %Q = tile.load %q[b = %b, t = %t] : !tile.array<[b, t, d = 64], f32> -> !td
    %K = tile.load %k[b = %b, u = %c0] : !keys -> !ud
    %S = tile.dot %Q, %K over(d) : !td, !ud -> !tu
    %V = tile.load %v[b = %b, u = %c0] : !keys -> !ud
    %N = tile.dot %S, %V over(u) : !tu, !ud -> !te
    tile.store %N, %o[b = %b, t = %t] : !te, !tile.array<[b, t, d = 64], f32>
  }
}
// Scores: 16 keys, four at a time, in the order of memory. A word holds two numbers of a key; the query's even and odd ones are
// vectors that stay. Lines of later keys are fetched.
// CHECK-LABEL: func.func private @taylor.step.attend(
// CHECK:         scf.if %{{.*}} -> (!llvm.ptr, i64) {
// CHECK:         vector.shuffle {{.*}}[0, 2, 4, 6,
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK:           "llvm.intr.prefetch"
// CHECK:           arith.shli
// CHECK:           arith.andi
// CHECK:           math.fma
// CHECK:           vector.shuffle {{.*}}[0, 16, 2, 18,
// Values: sums of even and of odd channels, which change places once.
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK:           "llvm.intr.prefetch"
// CHECK-COUNT-4:   math.fma
// CHECK:         vector.shuffle {{.*}}[0, 16, 1, 17,
// AVX2-LABEL: func.func private @taylor.step.attend(
// AVX2:         scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>)
// AVX2:           "llvm.intr.prefetch"
