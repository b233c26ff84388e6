// exp of a scaled and shifted tile as exp2 of one fused multiply-add.
// RUN: taylor-opt %s --taylor-fold-exponents --canonicalize | FileCheck %s

!t = !tile.tile<[t = 8], f32>
!tu = !tile.tile<[t = 8, u = 16], f32>
!row = !tile.array<[t], f32>
!score = !tile.array<[t, u], f32>

// The row's share of the exponent is computed on rows. What rescales is exp2(0) where the maximum stays, whatever is fused.
// CHECK-LABEL: tile.program @running
// CHECK-DAG:     %[[C:.*]] = arith.constant 0.360673755 : f32
// CHECK-DAG:     %[[L:.*]] = arith.constant 1.44269502 : f32
// CHECK-DAG:     %[[N:.*]] = arith.constant -1.44269502 : f32
// CHECK:         %[[M:.*]]:2 = tile.map (%[[OLD:.*]] = %{{.*}}, %[[NEW:.*]] = %{{.*}})
// CHECK:           %[[AFTER:.*]] = arith.maximumf %[[OLD]], %[[NEW]] : f32
// CHECK-NEXT:      %[[A:.*]] = arith.subf %[[OLD]], %[[AFTER]] : f32
// CHECK-NEXT:      %[[D:.*]] = arith.mulf %[[A]], %[[L]] : f32
// CHECK-NEXT:      %[[F:.*]] = math.exp2 %[[D]] : f32
// CHECK-NEXT:      tile.yield %[[AFTER]], %[[F]]
// CHECK:         %[[SHIFT:.*]] = tile.map (%[[X:.*]] = %[[M]]#0)
// CHECK-NEXT:      %[[Y:.*]] = arith.mulf %[[X]], %[[N]] : f32
// CHECK-NEXT:      tile.yield %[[Y]]
// CHECK:         tile.map ({{.*}}%[[R:[a-z0-9]+]] = %[[SHIFT]])
// CHECK-NEXT:      %[[E:.*]] = math.fma %{{.*}}, %[[C]], %[[R]] : f32
// CHECK-NEXT:      %[[W:.*]] = math.exp2 %[[E]] : f32
// CHECK-NEXT:      tile.yield %[[W]]
tile.program @running {
  %q = tile.tensor "input:q" : !score
  %z = tile.tensor "output:z" : !row
  %o = tile.tensor "output:o" : !score
  tile.kernel @k grid(%i in ceildiv(t, 8)) {
    %c0 = arith.constant 0 : index
    %scale = arith.constant 0.25 : f32
    %s = tile.load %q[t = %c0, u = %c0] : !score -> !tu
    %before = tile.load %z[t = %c0] : !row -> !t
    %largest = tile.reduce max %s over(u) : !tu -> !t
    %m:2 = tile.map (%a = %before, %b = %largest) : (!t, !t) -> (!t, !t) {
      %0 = arith.maximumf %a, %b : f32
      %1 = arith.subf %a, %0 : f32
      %2 = math.exp %1 : f32
      tile.yield %0, %2 : f32, f32
    }
    %w = tile.map (%a = %s, %b = %m#0) : (!tu, !t) -> !tu {
      %0 = arith.mulf %a, %scale : f32
      %1 = arith.subf %0, %b : f32
      %2 = math.exp %1 : f32
      tile.yield %2 : f32
    }
    tile.store %m#1, %z[t = %c0] : !t, !row
    tile.store %w, %o[t = %c0, u = %c0] : !tu, !score
  }
}

// A number alone is one factor. Without one nothing is saved; a sum with two rows' tiles, exp of rows and f64 stay too. What is relaxed stays relaxed.
// CHECK-LABEL: tile.program @others
// CHECK-DAG:     %[[C:.*]] = arith.constant 0.360673755 : f32
// CHECK:           %[[Y:.*]] = arith.mulf %{{.*}}, %[[C]] : f32
// CHECK-NEXT:      math.exp2 %[[Y]] fastmath<afn> : f32
// CHECK:           math.exp %{{.*}} : f32
// CHECK:           math.exp %{{.*}} : f32
// CHECK-NOT:       math.exp2
// CHECK:           math.exp %{{.*}} : f32
tile.program @others {
  %q = tile.tensor "input:q" : !score
  %z = tile.tensor "output:z" : !row
  %o = tile.tensor "output:o" : !score
  tile.kernel @k grid(%i in ceildiv(t, 8)) {
    %c0 = arith.constant 0 : index
    %scale = arith.constant 0.25 : f32
    %s = tile.load %q[t = %c0, u = %c0] : !score -> !tu
    %r = tile.load %z[t = %c0] : !row -> !t
    %w:3 = tile.map (%a = %s, %b = %r, %c = %r) : (!tu, !t, !t) -> (!tu, !tu, !tu) {
      %0 = arith.mulf %scale, %a : f32
      %1 = math.exp %0 fastmath<afn> : f32
      %2 = math.exp %a : f32
      %3 = arith.subf %a, %b : f32
      %4 = arith.addf %3, %c : f32
      %5 = math.exp %4 : f32
      tile.yield %1, %2, %5 : f32, f32, f32
    }
    %e = tile.map (%a = %r, %b = %r) : (!t, !t) -> !t {
      %0 = arith.subf %a, %b : f32
      %1 = math.exp %0 : f32
      tile.yield %1 : f32
    }
    tile.store %e, %z[t = %c0] : !t, !row
    tile.store %w#0, %o[t = %c0, u = %c0] : !tu, !score
    tile.store %w#1, %o[t = %c0, u = %c0] : !tu, !score
    tile.store %w#2, %o[t = %c0, u = %c0] : !tu, !score
  }
}
