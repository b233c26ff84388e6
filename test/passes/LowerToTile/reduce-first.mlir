// A maximum before what rises with its operand.
// RUN: taylor-opt %s --taylor-reduce-first --canonicalize | FileCheck %s

!t = !tile.tile<[t = 8], f32>
!u = !tile.tile<[u = 16], f32>
!tu = !tile.tile<[t = 8, u = 16], f32>
!out = !tile.array<[t], f32>

// The scale, a clamp and a row's summand come after the maximum; nothing wide is left but the reduction.
// CHECK-LABEL: tile.program @rising
// CHECK:         %[[S:.*]] = tile.dot
// CHECK-NEXT:    %[[M:.*]] = tile.reduce max %[[S]] over(u)
// CHECK-NEXT:    %[[Y:.*]] = tile.map (%[[R:.*]] = %{{.*}}, %[[X:.*]] = %[[M]]) : (!tile.tile<[t = 8], f32>, !tile.tile<[t = 8], f32>)
// CHECK-NEXT:      %[[SCALED:.*]] = arith.mulf %[[X]], %{{.*}} : f32
// CHECK-NEXT:      %[[LESS:.*]] = arith.minimumf %[[SCALED]], %{{.*}} : f32
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf %[[LESS]], %[[R]] : f32
// CHECK-NEXT:      tile.yield %[[SUM]]
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[Y]]
tile.program @rising {
  %q = tile.tensor "input:q" : !tile.array<[t, d = 4], f32>
  %k = tile.tensor "input:k" : !tile.array<[u, d = 4], f32>
  %o = tile.tensor "output:o" : !out
  tile.kernel @k grid(%i in ceildiv(t, 8)) {
    %c0 = arith.constant 0 : index
    %scale = arith.constant 0.25 : f32
    %bound = arith.constant 5.0 : f32
    %a = tile.load %q[t = %c0] : !tile.array<[t, d = 4], f32> -> !tile.tile<[t = 8, d = 4], f32>
    %b = tile.load %k[u = %c0] : !tile.array<[u, d = 4], f32> -> !tile.tile<[u = 16, d = 4], f32>
    %r = tile.load %o[t = %c0] : !out -> !t
    %s = tile.dot %a, %b over(d) : !tile.tile<[t = 8, d = 4], f32>, !tile.tile<[u = 16, d = 4], f32> -> !tu
    %x = tile.map (%row = %r, %v = %s) : (!t, !tu) -> !tu {
      %0 = arith.mulf %v, %scale : f32
      %1 = arith.minimumf %0, %bound : f32
      %2 = arith.addf %1, %row : f32
      tile.yield %2 : f32
    }
    %m = tile.reduce max %x over(u) : !tu -> !t
    tile.store %m, %o[t = %c0] : !t, !out
  }
}

// A falling function, a summand that varies along the reduced axis, a factor of unknown sign, and sums stay behind their map.
// CHECK-LABEL: tile.program @other
// CHECK:         %[[X:.*]]:4 = tile.map
// CHECK:         tile.reduce max %[[X]]#0 over(u)
// CHECK-NEXT:    tile.reduce max %[[X]]#1 over(u)
// CHECK-NEXT:    tile.reduce max %[[X]]#2 over(u)
// CHECK-NEXT:    tile.reduce sum %[[X]]#3 over(u)
tile.program @other {
  %q = tile.tensor "input:q" : !tile.array<[t, u], f32>
  %c = tile.tensor "input:c" : !tile.array<[u], f32>
  %o = tile.tensor "output:o" : !out
  tile.kernel @k grid(%i in ceildiv(t, 8)) {
    %c0 = arith.constant 0 : index
    %scale = arith.constant 0.25 : f32
    %minus = arith.constant -0.25 : f32
    %s = tile.load %q[t = %c0, u = %c0] : !tile.array<[t, u], f32> -> !tu
    %d = tile.load %c[u = %c0] : !tile.array<[u], f32> -> !u
    %r = tile.load %o[t = %c0] : !out -> !t
    %x:4 = tile.map (%v = %s, %col = %d, %row = %r) : (!tu, !u, !t) -> (!tu, !tu, !tu, !tu) {
      %0 = arith.mulf %v, %minus : f32
      %1 = arith.addf %v, %col : f32
      %2 = arith.mulf %v, %row : f32
      %3 = arith.mulf %v, %scale : f32
      tile.yield %0, %1, %2, %3 : f32, f32, f32, f32
    }
    %m0 = tile.reduce max %x#0 over(u) : !tu -> !t
    %m1 = tile.reduce max %x#1 over(u) : !tu -> !t
    %m2 = tile.reduce max %x#2 over(u) : !tu -> !t
    %m3 = tile.reduce sum %x#3 over(u) : !tu -> !t
    tile.store %m0, %o[t = %c0] : !t, !out
    tile.store %m1, %o[t = %c0] : !t, !out
    tile.store %m2, %o[t = %c0] : !t, !out
    tile.store %m3, %o[t = %c0] : !t, !out
  }
}
