// Two small kernels, over queries and over keys, as one.
// RUN: taylor-opt %s --taylor-join-kernels | FileCheck %s

!t = !tile.array<[t, c = 4], f32>
!u = !tile.array<[u, c = 4], f32>
!tt = !tile.tile<[t = 64, c = 4], f32>
!uu = !tile.tile<[u = 64, c = 4], f32>

// CHECK-LABEL: tile.program @tables
tile.program @tables {
  %x = tile.tensor "input:x" : !t
  %y = tile.tensor "input:y" : !u
  %a = tile.workspace "a" : !t
  %b = tile.workspace "b" : !u
  // CHECK:      tile.kernel @angles_t_and_u grid(%[[N:.*]] in ceildiv(lag, 64)) {
  // CHECK-NEXT:   %[[T:.*]] = tile.size "t"
  // CHECK-NEXT:   %[[BY:.*]] = arith.constant 64 : index
  // CHECK-NEXT:   %[[FIRST:.*]] = arith.ceildivsi %[[T]], %[[BY]]
  // CHECK-NEXT:   %[[IS_FIRST:.*]] = arith.cmpi slt, %[[N]], %[[FIRST]]
  // CHECK-NEXT:   scf.if %[[IS_FIRST]] {
  // CHECK:          %[[T0:.*]] = arith.muli %[[N]], %{{.*}}
  // CHECK-NEXT:     %[[X:.*]] = tile.load %0 [t = %[[T0]]]
  // CHECK-NEXT:     tile.store %[[X]], %2 [t = %[[T0]]]
  // CHECK-NEXT:   } else {
  // CHECK-NEXT:     %[[I:.*]] = arith.subi %[[N]], %[[FIRST]]
  // CHECK-NEXT:     %[[U:.*]] = tile.size "u"
  // CHECK:          %[[SECOND:.*]] = arith.ceildivsi %[[U]], %{{.*}}
  // CHECK-NEXT:     %[[IS_SECOND:.*]] = arith.cmpi slt, %[[I]], %[[SECOND]]
  // CHECK-NEXT:     scf.if %[[IS_SECOND]] {
  // CHECK:            %[[U0:.*]] = arith.muli %[[I]], %{{.*}}
  // CHECK-NEXT:       %[[Y:.*]] = tile.load %1 [u = %[[U0]]]
  // CHECK-NEXT:       tile.store %[[Y]], %3 [u = %[[U0]]]
  tile.kernel @angles_t grid(%i in ceildiv(t, 64)) {
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %v = tile.load %x[t = %t0] : !t -> !tt
    tile.store %v, %a[t = %t0] : !tt, !t
  }
  tile.kernel @angles_u grid(%i in ceildiv(u, 64)) {
    %c64 = arith.constant 64 : index
    %u0 = arith.muli %i, %c64 : index
    %v = tile.load %y[u = %u0] : !u -> !uu
    tile.store %v, %b[u = %u0] : !uu, !u
  }
}

// Its name is taken.
// CHECK-LABEL: tile.program @names
// CHECK:         tile.kernel @a_t_and_u_2 grid
// CHECK:         tile.kernel @a_t_and_u grid
tile.program @names {
  tile.kernel @a_t grid(%i in ceildiv(t, 64)) {
  }
  tile.kernel @a_u grid(%i in ceildiv(u, 64)) {
  }
  tile.kernel @a_t_and_u grid(%i in b) {
  }
}

// The second reads what the first writes; blocks of other sizes; both over queries; a loop; a grid of heads too; blocks of which T + U + 256 tokens may have too few.
// CHECK-LABEL: tile.program @apart
// CHECK:         tile.kernel @write_t
// CHECK:         tile.kernel @read_t
// CHECK:         tile.kernel @smaller
// CHECK:         tile.kernel @queries
// CHECK:         tile.kernel @loop
// CHECK:         tile.kernel @more
// CHECK:         tile.kernel @heads
// CHECK:         tile.kernel @large_t
// CHECK:         tile.kernel @large_u
tile.program @apart {
  %a = tile.workspace "a" : !t
  tile.kernel @write_t grid(%i in ceildiv(t, 64)) {
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %v = tile.load %a[t = %t0] : !t -> !tt
    tile.store %v, %a[t = %t0] : !tt, !t
  }
  tile.kernel @read_t grid(%i in ceildiv(u, 64)) {
    %c64 = arith.constant 64 : index
    %u0 = arith.muli %i, %c64 : index
    %v = tile.load %a[t = %u0] : !t -> !tt
  }
  tile.kernel @smaller grid(%i in ceildiv(t, 32)) {
  }
  tile.kernel @queries grid(%i in ceildiv(t, 32)) {
  }
  tile.kernel @loop grid(%i in ceildiv(u, 32)) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %j = %c0 to %i step %c1 {
    }
  }
  tile.kernel @more grid(%i in ceildiv(t, 32)) {
  }
  tile.kernel @heads grid(%h in h, %i in ceildiv(u, 32)) {
  }
  tile.kernel @large_t grid(%i in ceildiv(t, 129)) {
  }
  tile.kernel @large_u grid(%i in ceildiv(u, 129)) {
  }
}
