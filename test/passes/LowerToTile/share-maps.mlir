// What an earlier map computed is read and not computed again.
// RUN: taylor-opt %s --taylor-share-maps | FileCheck %s

!t = !tile.tile<[t = 8], f32>
!u = !tile.tile<[u = 16], index>
!tu = !tile.tile<[t = 8, u = 16], f32>
!row = !tile.array<[t], f32>
!score = !tile.array<[t, u], f32>

// The weights read the tile that the maximum was taken of, and no scores.
// CHECK-LABEL: tile.program @capped
// CHECK:         %[[S:.*]] = tile.load
// CHECK:         %[[X:.*]] = tile.map (%{{.*}} = %[[S]])
// CHECK:           math.tanh
// CHECK:         %[[M:.*]] = tile.reduce max %[[X]]
// CHECK:         %[[W:.*]] = tile.map (%[[B:.*]] = %[[M]], %[[Y:.*]] = %[[X]]) : (!tile.tile<[t = 8], f32>, !tile.tile<[t = 8, u = 16], f32>)
// CHECK-NEXT:      %[[D:.*]] = arith.subf %[[Y]], %[[B]] : f32
// CHECK-NEXT:      %[[E:.*]] = math.exp %[[D]] : f32
// CHECK-NEXT:      tile.yield %[[E]]
// CHECK:         tile.store %[[W]]
tile.program @capped {
  %q = tile.tensor "input:q" : !score
  %o = tile.tensor "output:o" : !score
  tile.kernel @k grid(%i in ceildiv(t, 8)) {
    %c0 = arith.constant 0 : index
    %s = tile.load %q[t = %c0, u = %c0] : !score -> !tu
    %x = tile.map (%a = %s) : (!tu) -> !tu { %0 = math.tanh %a : f32  tile.yield %0 : f32 }
    %m = tile.reduce max %x over(u) : !tu -> !t
    %w = tile.map (%a = %s, %b = %m) : (!tu, !t) -> !tu {
      %0 = math.tanh %a : f32
      %1 = arith.subf %0, %b : f32
      %2 = math.exp %1 : f32
      tile.yield %2 : f32
    }
    tile.store %w, %o[t = %c0, u = %c0] : !tu, !score
  }
}

// Where the mask holds, a masked tile has the value itself.
// CHECK-LABEL: tile.program @masked
// CHECK:         %[[X:.*]] = tile.map
// CHECK:           math.tanh
// CHECK:           arith.select
// CHECK:         tile.map (%[[P:.*]] = %{{.*}}, %[[Y:.*]] = %[[X]])
// CHECK-NEXT:      %[[E:.*]] = math.exp %[[Y]] : f32
// CHECK-NEXT:      %[[C:.*]] = arith.cmpi sle, %[[P]], %{{.*}} : index
// CHECK-NEXT:      arith.select %[[C]], %[[E]], %{{.*}} : f32
tile.program @masked {
  %q = tile.tensor "input:q" : !score
  %o = tile.tensor "output:o" : !score
  %z = tile.tensor "output:z" : !row
  tile.kernel @k grid(%i in ceildiv(t, 8)) {
    %c0 = arith.constant 0 : index
    %end = arith.constant 5 : index
    %zero = arith.constant 0.0 : f32
    %least = arith.constant -2.0e38 : f32
    %s = tile.load %q[t = %c0, u = %c0] : !score -> !tu
    %u = tile.position from %c0 : !u
    %x = tile.map (%a = %s, %p = %u) : (!tu, !u) -> !tu {
      %0 = math.tanh %a : f32
      %1 = arith.cmpi sle, %p, %end : index
      %2 = arith.select %1, %0, %least : f32
      tile.yield %2 : f32
    }
    %m = tile.reduce max %x over(u) : !tu -> !t
    tile.store %m, %z[t = %c0] : !t, !row
    %w = tile.map (%a = %s, %p = %u) : (!tu, !u) -> !tu {
      %0 = math.tanh %a : f32
      %1 = math.exp %0 : f32
      %2 = arith.cmpi sle, %p, %end : index
      %3 = arith.select %2, %1, %zero : f32
      tile.yield %3 : f32
    }
    tile.store %w, %o[t = %c0, u = %c0] : !tu, !score
  }
}

// Not shared: beyond the mask the value would be another; a product costs no more than to read it; scores that
// are read all the same would be one tile more.
// CHECK-LABEL: tile.program @apart
// CHECK-COUNT-6: tile.map (%{{[a-z0-9_]+}} = %[[S:[a-z0-9_]+]]{{[,)]}}
tile.program @apart {
  %q = tile.tensor "input:q" : !score
  %o = tile.tensor "output:o" : !score
  tile.kernel @outside grid(%i in ceildiv(t, 8)) {
    %c0 = arith.constant 0 : index
    %end = arith.constant 5 : index
    %least = arith.constant -2.0e38 : f32
    %s = tile.load %q[t = %c0, u = %c0] : !score -> !tu
    %u = tile.position from %c0 : !u
    %x = tile.map (%a = %s, %p = %u) : (!tu, !u) -> !tu {
      %0 = math.tanh %a : f32
      %1 = arith.cmpi sle, %p, %end : index
      %2 = arith.select %1, %0, %least : f32
      tile.yield %2 : f32
    }
    tile.store %x, %o[t = %c0, u = %c0] : !tu, !score
    %w = tile.map (%a = %s) : (!tu) -> !tu {
      %0 = math.tanh %a : f32
      %1 = math.exp %0 : f32
      tile.yield %1 : f32
    }
    tile.store %w, %o[t = %c0, u = %c0] : !tu, !score
  }
  tile.kernel @cheap grid(%i in ceildiv(t, 8)) {
    %c0 = arith.constant 0 : index
    %scale = arith.constant 0.25 : f32
    %s = tile.load %q[t = %c0, u = %c0] : !score -> !tu
    %x = tile.map (%a = %s) : (!tu) -> !tu { %0 = arith.mulf %a, %scale : f32  tile.yield %0 : f32 }
    tile.store %x, %o[t = %c0, u = %c0] : !tu, !score
    %w = tile.map (%a = %s) : (!tu) -> !tu {
      %0 = arith.mulf %a, %scale : f32
      %1 = math.exp %0 : f32
      tile.yield %1 : f32
    }
    tile.store %w, %o[t = %c0, u = %c0] : !tu, !score
  }
  tile.kernel @more grid(%i in ceildiv(t, 8)) {
    %c0 = arith.constant 0 : index
    %s = tile.load %q[t = %c0, u = %c0] : !score -> !tu
    %x = tile.map (%a = %s) : (!tu) -> !tu { %0 = math.tanh %a : f32  tile.yield %0 : f32 }
    tile.store %x, %o[t = %c0, u = %c0] : !tu, !score
    %w = tile.map (%a = %s) : (!tu) -> !tu {
      %0 = math.tanh %a : f32
      %1 = arith.mulf %0, %a : f32
      tile.yield %1 : f32
    }
    tile.store %w, %o[t = %c0, u = %c0] : !tu, !score
  }
}
