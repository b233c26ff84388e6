// RUN: taylor-opt %s --taylor-lower-tile-to-vector=target=x86-64-v3 --cse | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: taylor-opt %s --taylor-lower-tile-to-vector=target=x86-64-v4 --cse | FileCheck %s --check-prefixes=CHECK,AVX512
// A step of a recurrence over one panel: S[f, e] += k[f] v[e], o[e] = sum over f of q[f] S[f, e]. And a store whose vectors may end past the array.

!f = !tile.tile<[f = 8], f32>
!e = !tile.tile<[e = 16], f32>
!fe = !tile.tile<[e = 16, f = 8], f32>

tile.program @forward {
  %k = tile.tensor "input:k" : !tile.array<[f = 8], f32>
  %q = tile.tensor "input:q" : !tile.array<[f = 8], f32>
  %v = tile.tensor "input:v" : !tile.array<[e = 16], f32>
  %s = tile.tensor "input:s" : !tile.array<[f = 8, e = 16], f32>
  %n = tile.tensor "output:n" : !tile.array<[f = 8, e = 16], f32>
  %o = tile.tensor "output:o" : !tile.array<[e = 16], f32>
  %x = tile.tensor "input:x" : !tile.array<[t], f32>
  %y = tile.tensor "output:y" : !tile.array<[t], f32>
  tile.kernel @step grid() {
    %K = tile.load %k[] : !tile.array<[f = 8], f32> -> !f
    %Q = tile.load %q[] : !tile.array<[f = 8], f32> -> !f
    %V = tile.load %v[] : !tile.array<[e = 16], f32> -> !e
    %S = tile.load %s[] : !tile.array<[f = 8, e = 16], f32> -> !fe
    %N = tile.map (%a = %K, %b = %V, %c = %S) : (!f, !e, !fe) -> !fe {
      %z = math.fma %a, %b, %c : f32
      tile.yield %z : f32
    }
    tile.store %N, %n[] : !fe, !tile.array<[f = 8, e = 16], f32>
    %P = tile.map (%a = %Q, %b = %N) : (!f, !fe) -> !fe {
      %z = arith.mulf %a, %b : f32
      tile.yield %z : f32
    }
    %O = tile.reduce sum %P over(f) : !fe -> !e
    tile.store %O, %o[] : !e, !tile.array<[e = 16], f32>
  }
  tile.kernel @tail grid(%i in ceildiv(t, 16)) {
    %c16 = arith.constant 16 : index
    %t0 = arith.muli %i, %c16 : index
    %X = tile.load %x[t = %t0] : !tile.array<[t], f32> -> !tile.tile<[t = 16], f32>
    %Y = tile.map (%a = %X) : (!tile.tile<[t = 16], f32>) -> !tile.tile<[t = 16], f32> {
      %z = arith.addf %a, %a : f32
      tile.yield %z : f32
    }
    tile.store %Y, %y[t = %t0] : !tile.tile<[t = 16], f32>, !tile.array<[t], f32>
  }
}

// What has no rows (v) is read once for all eight of them, what has no lanes (k, q) once for the vectors of a row, whatever is stored between.
// CHECK-LABEL: func.func private @taylor.forward.step(
// AVX2:          %[[K0:.*]] = vector.broadcast
// AVX2:          %[[V0:.*]] = llvm.load {{.*}} -> vector<8xf32>
// AVX2:          math.fma %[[K0]], %[[V0]]
// AVX2:          %[[V1:.*]] = llvm.load {{.*}} -> vector<8xf32>
// AVX2:          math.fma %[[K0]], %[[V1]]
// AVX2:          llvm.store {{.*}} : vector<8xf32>
// AVX2:          %[[K1:.*]] = vector.broadcast
// AVX2:          math.fma %[[K1]], %[[V0]]
// AVX2:          math.fma %[[K1]], %[[V1]]
// AVX2:          llvm.store {{.*}} : vector<8xf32>
// AVX512:        %[[K0:.*]] = vector.broadcast
// AVX512:        %[[V:.*]] = llvm.load {{.*}} -> vector<16xf32>
// AVX512:        math.fma %[[K0]], %[[V]]
// AVX512:        llvm.store {{.*}} : vector<16xf32>
// AVX512:        %[[K1:.*]] = vector.broadcast
// AVX512:        math.fma %[[K1]], %[[V]]

// Where masked stores are slow, whole vectors that lie in the array take none.
// CHECK-LABEL: func.func private @taylor.forward.tail(
// AVX2:          %[[WHOLE:.*]] = arith.andi
// AVX2:          scf.if %[[WHOLE]] {
// AVX2-NEXT:       llvm.store {{.*}} : vector<8xf32>
// AVX2:          } else {
// AVX2:            llvm.intr.masked.store
// AVX2:            llvm.intr.masked.store
// AVX512-NOT:    llvm.store {{.*}} : vector<16xf32>
// AVX512:        llvm.intr.masked.store
