// RUN: taylor-opt %s --taylor-lower-tile-to-vector=target=x86-64-v4 --cse | FileCheck %s
// What lies along other lanes than a sweep's is transposed as a whole, 16 x 16 numbers at a time, and never gathered
// number by number; halves of a window are read where it lies.

!dt = !tile.tile<[d = 32, t = 32], f32>
!du = !tile.tile<[d = 32, u = 32], f32>
!ut = !tile.tile<[t = 32, u = 32], f32>
!half = !tile.tile<[d = 16, t = 32], f32>

tile.program @forward {
  %a = tile.tensor "input:a" : !tile.array<[t = 32, d = 32], f32>
  %b = tile.tensor "input:b" : !tile.array<[d = 32, t = 32], f32>
  %k = tile.tensor "input:k" : !tile.array<[u = 32, d = 32], f32>
  %v = tile.tensor "input:v" : !tile.array<[u = 32, t = 32], f32>
  %n = tile.tensor "output:n" : !tile.array<[t = 32, d = 32], f32>
  %m = tile.tensor "output:m" : !tile.array<[d = 32, t = 32], f32>
  %h = tile.tensor "output:h" : !tile.array<[t = 32, d = 16], f32>
  // CHECK-LABEL: func.func private @taylor.forward.map(
  // CHECK-NOT:     vector.insert
  // CHECK:         vector.shuffle
  // CHECK-NOT:     vector.insert
  // CHECK:         arith.addf {{.*}} : vector<16xf32>
  tile.kernel @map grid() {
    %A = tile.load %a[] : !tile.array<[t = 32, d = 32], f32> -> !dt
    %B = tile.load %b[] : !tile.array<[d = 32, t = 32], f32> -> !dt
    %N = tile.map (%x = %A, %y = %B) : (!dt, !dt) -> !dt {
      %z = arith.addf %x, %y : f32
      tile.yield %z : f32
    }
    tile.store %N, %n[] : !dt, !tile.array<[t = 32, d = 32], f32>
  }
  // CHECK-LABEL: func.func private @taylor.forward.carried(
  // CHECK-NOT:     vector.insert
  // CHECK:         vector.shuffle
  // CHECK-NOT:     vector.insert
  // CHECK:         math.fma
  tile.kernel @carried grid() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %A = tile.load %a[] : !tile.array<[t = 32, d = 32], f32> -> !dt
    %K = tile.load %k[] : !tile.array<[u = 32, d = 32], f32> -> !du
    %V = tile.load %v[] : !tile.array<[u = 32, t = 32], f32> -> !ut
    %M = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %A) -> (!dt) {
      %P = tile.dot %K, %V over(u) into %sum : !du, !ut -> !dt
      scf.yield %P : !dt
    }
    tile.store %M, %m[] : !dt, !tile.array<[d = 32, t = 32], f32>
  }
  // CHECK-LABEL: func.func private @taylor.forward.halves(
  // CHECK-NOT:     llvm.store
  // CHECK:         arith.addf {{.*}} : vector<16xf32>
  tile.kernel @halves grid() {
    %A = tile.load %a[] : !tile.array<[t = 32, d = 32], f32> -> !dt
    %L = tile.slice %A[d = 0, 16] : !dt -> !half
    %R = tile.slice %A[d = 16, 16] : !dt -> !half
    %H = tile.map (%x = %L, %y = %R) : (!half, !half) -> !half {
      %z = arith.addf %x, %y : f32
      tile.yield %z : f32
    }
    tile.store %H, %h[] : !half, !tile.array<[t = 32, d = 16], f32>
  }
}
