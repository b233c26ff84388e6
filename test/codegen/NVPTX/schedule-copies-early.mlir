// With `early`, the first copies of a loop start before loads that precede it, and copies between move along; without it they stay.
// RUN: taylor-opt %s --taylor-simt-schedule-copies=early=true | FileCheck %s --implicit-check-not=simt.copy
// RUN: taylor-opt %s --taylor-simt-schedule-copies | FileCheck %s --check-prefix=LATE
// So they do where no product is started.
// RUN: sed s/wgmma/mma16/ %s | taylor-opt --taylor-simt-schedule-copies=early=true | FileCheck %s --check-prefix=LATE
#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
#r = #simt.layout<lane = [_, _, t:1, t:2, t:4], warp = [t:16, t:32], register = [t:8*2]>
#c = #simt.layout<lane = [u:2, u:4, _, _, _], warp = [_, _], register = [u:1*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!st = !tile.tile<[t = 64, u = 64], f32, #s>
#q = #simt.layout<lane = [d:2, d:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [d:1*2, t:8*2, d:8*8]>
!qt = !tile.tile<[d = 64, t = 64], bf16, #q>
!rt = !tile.tile<[t = 64], f32, #r>
tile.program @early {
  %queries = tile.tensor "input:q" : !tile.array<[t, d = 64], bf16>
  %keys = tile.tensor "input:k" : !tile.array<[u, d = 64], bf16>
  %z = tile.tensor "saved:z" : !tile.array<[t], f32>
  %out = tile.tensor "output:o" : !tile.array<[t], f32>
  // The branch accesses nothing.
  // CHECK-LABEL: tile.kernel @loads
  // CHECK:      %[[Q:.*]] = simt.alloc "q"
  // CHECK:      simt.copy %{{.*}} [t = %{{.*}}], %[[Q]]
  // CHECK:      simt.copy %{{.*}} [u = %c0], %{{.*}} if
  // CHECK-NEXT: simt.commit
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: arith.cmpi
  // CHECK-NEXT: scf.if
  // CHECK:      scf.for
  // CHECK:        simt.copy
  // LATE-LABEL: tile.kernel @loads
  // LATE:       tile.load
  // LATE:       simt.copy %{{.*}} [t = %{{.*}}]
  // LATE:       simt.copy %{{.*}} [u = %c0]
  tile.kernel @loads grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %row = tile.load %z[t = %i] : !tile.array<[t], f32> -> !rt
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %some = arith.cmpi slt, %c0, %i : index
    %first = scf.if %some -> (index) {
      scf.yield %c64 : index
    } else {
      scf.yield %c0 : index
    }
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%x = %row) -> (!rt) {
      simt.copy %keys[u = %j], %k : !tile.array<[u, d = 64], bf16>, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %most = tile.reduce max %s over(u) : !st -> !rt
      scf.yield %most : !rt
    }
    tile.store %r, %out[t = %first] : !rt, !tile.array<[t], f32>
  }

  // Not before a store, which the loads of the copies may see.
  // CHECK-LABEL: tile.kernel @store
  // CHECK:      tile.load
  // CHECK:      tile.store
  // CHECK:      simt.copy %{{.*}} [t = %{{.*}}]
  // CHECK:      simt.copy %{{.*}} [u = %c0]
  // CHECK:      scf.for
  // CHECK:        simt.copy
  tile.kernel @store grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %row = tile.load %z[t = %i] : !tile.array<[t], f32> -> !rt
    tile.store %row, %out[t = %i] : !rt, !tile.array<[t], f32>
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %some = arith.cmpi slt, %c0, %i : index
    %first = scf.if %some -> (index) {
      scf.yield %c64 : index
    } else {
      scf.yield %c0 : index
    }
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%x = %row) -> (!rt) {
      simt.copy %keys[u = %j], %k : !tile.array<[u, d = 64], bf16>, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %most = tile.reduce max %s over(u) : !st -> !rt
      scf.yield %most : !rt
    }
    tile.store %r, %out[t = %first] : !rt, !tile.array<[t], f32>
  }

  // Not before a branch that loads.
  // CHECK-LABEL: tile.kernel @branch
  // CHECK:      tile.load
  // CHECK:      simt.copy %{{.*}} [t = %{{.*}}]
  // CHECK:      scf.if
  // CHECK:      simt.copy %{{.*}} [u = %c0]
  // CHECK:      scf.for
  // CHECK:        simt.copy
  tile.kernel @branch grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %row = tile.load %z[t = %i] : !tile.array<[t], f32> -> !rt
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %some = arith.cmpi slt, %c0, %i : index
    %first = scf.if %some -> (index) {
      %other = tile.load %z[t = %c0] : !tile.array<[t], f32> -> !rt
      tile.store %other, %out[t = %c0] : !rt, !tile.array<[t], f32>
      scf.yield %c64 : index
    } else {
      scf.yield %c0 : index
    }
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%x = %row) -> (!rt) {
      simt.copy %keys[u = %j], %k : !tile.array<[u, d = 64], bf16>, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %most = tile.reduce max %s over(u) : !st -> !rt
      scf.yield %most : !rt
    }
    tile.store %r, %out[t = %first] : !rt, !tile.array<[t], f32>
  }

  // A buffer that is read in between is filled again after that.
  // CHECK-LABEL: tile.kernel @same_buffer
  // CHECK:      tile.load
  // CHECK:      simt.copy %{{.*}} [t = %{{.*}}], %[[Q:.*]] :
  // CHECK:      simt.read %[[Q]]
  // CHECK:      simt.copy %{{.*}} [t = %c0], %[[Q]] :
  // CHECK:      simt.copy %{{.*}} [u = %c0]
  // CHECK:      scf.for
  // CHECK:        simt.copy
  tile.kernel @same_buffer grid(%i in t) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %n = tile.size "u"
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %row = tile.load %z[t = %i] : !tile.array<[t], f32> -> !rt
    simt.copy %queries[t = %i], %q : !tile.array<[t, d = 64], bf16>, !q
    %back = simt.read %q : !q -> !qt
    simt.copy %queries[t = %c0], %q : !tile.array<[t, d = 64], bf16>, !q
    %some = arith.cmpi slt, %c0, %i : index
    %first = scf.if %some -> (index) {
      scf.yield %c64 : index
    } else {
      scf.yield %c0 : index
    }
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%x = %row) -> (!rt) {
      simt.copy %keys[u = %j], %k : !tile.array<[u, d = 64], bf16>, !k
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %most = tile.reduce max %s over(u) : !st -> !rt
      scf.yield %most : !rt
    }
    tile.store %r, %out[t = %first] : !rt, !tile.array<[t], f32>
  }
}
