// RUN: taylor-opt %s | FileCheck %s
// RUN: taylor-opt %s | taylor-opt | FileCheck %s
// RUN: taylor-opt %s --mlir-print-op-generic | taylor-opt | FileCheck %s

!q = !tile.array<[b, h, t, d = 64], bf16>
!k = !tile.array<[b, g, u, d = 64], f32>
!row = !tile.array<[b, h, t], f32>
!blocks = !tile.array<[b, h, i = ceildiv(t, 64), d = 64, t = 64], f32>
!td = !tile.tile<[t = 64, d = 64], f32>
!ud = !tile.tile<[u = 128, d = 64], f32>
!tu = !tile.tile<[t = 64, u = 128], f32>
!t = !tile.tile<[t = 64], f32>

// CHECK-LABEL: tile.program @forward
tile.program @forward {
  // CHECK: tile.tensor "input:q" : !tile.array<[b, h, t, d = 64], bf16>
  %q = tile.tensor "input:q" : !q
  %k = tile.tensor "input:k" : !k
  %l = tile.tensor "input:l" : !tile.array<[b, h, x = u], f32>
  // CHECK: tile.tensor "saved:m" optional : !tile.array<[b, h, t], f32>
  %m = tile.tensor "saved:m" optional : !row
  // CHECK: tile.workspace "qt" : !tile.array<[b, h, i = ceildiv(t, 64), d = 64, t = 64], f32>
  %qt = tile.workspace "qt" : !blocks
  // CHECK: tile.workspace "parts" : !tile.array<[part = ceildiv(4, b * g), b, g, t], f32>
  %parts = tile.workspace "parts" : !tile.array<[part = ceildiv(4, b * g), b, g, t], f32>
  // CHECK: tile.workspace "apart" : !tile.array<[b, h, line = ceildiv(16, t), t], f32>
  %apart = tile.workspace "apart" : !tile.array<[b, h, line = ceildiv(16, t), t], f32>
  // CHECK: tile.workspace "lags" : !tile.array<[h, lag], f32>
  %lags = tile.workspace "lags" : !tile.array<[h, lag], f32>
  // CHECK: tile.workspace "kept" : !tile.array<[b, u], f32> because "other tokens read it"
  %kept = tile.workspace "kept" : !tile.array<[b, u], f32> because "other tokens read it"
  %places = tile.workspace "places" : !tile.array<[b, x = u], f32>
  %walks = tile.workspace "walks" : !tile.array<[part = 128, h, lag], f32>
  // CHECK: tile.kernel @cut grid(%{{.*}} in b, %{{.*}} in g, %{{.*}} in ceildiv(4, b * g)) longest(first) attributes {note} {
  tile.kernel @cut grid(%b in b, %g in g, %p in ceildiv(4, b * g)) longest(first) attributes {note} {
    %c0 = arith.constant 0.0 : f32
    %zero = tile.splat %c0 : f32 -> !t
    tile.store %zero, %parts[part = %p, b = %b, g = %g] : !t, !tile.array<[part = ceildiv(4, b * g), b, g, t], f32>
  }
  // CHECK: tile.kernel @prepare grid(%{{.*}} in b, %{{.*}} in h, %{{.*}} in ceildiv(t, 64), %{{.*}} in 2) longest(last, u * 256) {
  tile.kernel @prepare grid(%b in b, %h in h, %i in ceildiv(t, 64), %s in 2) longest(last, u * 256) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %t0 = arith.muli %i, %c64 : index
    // CHECK: tile.size "offset"
    %offset = tile.size "offset"
    %U = tile.size "u"
    // CHECK: tile.load %{{.*}}[b = %{{.*}}, h = %{{.*}}, t = %{{.*}}] : !tile.array<[b, h, t, d = 64], bf16> -> !tile.tile<[d = 64, t = 64], f32>
    %Q = tile.load %q[b = %b, h = %h, t = %t0] : !q -> !td
    tile.store %Q, %qt[b = %b, h = %h, i = %i] : !td, !blocks
    // CHECK: tile.load %{{.*}}[b = %{{.*}}, h = %{{.*}}, x as t = %{{.*}}] : !tile.array<[b, h, x = u], f32> -> !tile.tile<[t = 64], f32>
    %L = tile.load %l[b = %b, h = %h, x as t = %offset] : !tile.array<[b, h, x = u], f32> -> !t
    // CHECK: tile.lookup %{{.*}}[%{{.*}}, %{{.*}}] : !tile.array<[b, x = u], f32>
    %first = tile.lookup %places[%b, %t0] : !tile.array<[b, x = u], f32>
    // CHECK: tile.load %{{.*}}[h = %{{.*}}, lag as t - u = %{{.*}}] : !tile.array<[h, lag], f32> -> !tile.tile<[t = 64, u = 128], f32>
    %W = tile.load %lags[h = %h, lag as t - u = %U] : !tile.array<[h, lag], f32> -> !tile.tile<[t = 64, u = 128], f32>
    // CHECK: tile.accumulate %{{.*}}, %{{.*}} [h = %{{.*}}, lag as t - u = %{{.*}}] : !tile.tile<[t = 64, u = 128], f32>, !tile.array<[h, lag], f32>
    tile.accumulate %W, %lags[h = %h, lag as t - u = %U] : !tile.tile<[t = 64, u = 128], f32>, !tile.array<[h, lag], f32>
    // CHECK: tile.load %{{.*}}[h = %{{.*}}, lag as t - u = %{{.*}}] inside : !tile.array<[h, lag], f32> -> !tile.tile<[t = 64, u = 128], f32>
    %I = tile.load %lags[h = %h, lag as t - u = %U] inside : !tile.array<[h, lag], f32> -> !tile.tile<[t = 64, u = 128], f32>
    // A walk along diagonals keeps the keys apart.
    // CHECK: tile.store %{{.*}}, %{{.*}} [part as u = %{{.*}}, h = %{{.*}}, lag as t - u = %{{.*}}] : !tile.tile<[t = 64, u = 128], f32>, !tile.array<[part = 128, h, lag], f32>
    tile.store %W, %walks[part as u = %i, h = %h, lag as t - u = %U] : !tile.tile<[t = 64, u = 128], f32>, !tile.array<[part = 128, h, lag], f32>
    %zero = arith.constant 0.0 : f32
    // CHECK: tile.splat %{{.*}} : f32 -> !tile.tile<[t = 64], f32>
    %start = tile.splat %zero : f32 -> !t
    %pt = tile.position from %t0 : !tile.tile<[t = 64], index>
    // CHECK: scf.for {{.*}} iter_args({{.*}}) -> (!tile.tile<[t = 64], f32>)
    %max = scf.for %j = %c0 to %U step %c128 iter_args(%m0 = %start) -> (!t) {
      // CHECK: tile.load %{{.*}}[b = %{{.*}}, g = %{{.*}}, u = %{{.*}}] until(u = %{{.*}}) : !tile.array<
      %E = tile.load %k[b = %b, g = %h, u = %j] until(u = %U) : !k -> !ud
      %K = tile.load %k[b = %b, g = %h, u = %j] : !k -> !ud
      %pu = tile.position from %j : !tile.tile<[u = 128], index>
      // CHECK: tile.dot %{{.*}}, %{{.*}} over(d) : !tile.tile<[d = 64, t = 64], f32>, !tile.tile<[d = 64, u = 128], f32> -> !tile.tile<[t = 64, u = 128], f32>
      %S = tile.dot %Q, %K over(d) : !td, !ud -> !tu
      // CHECK: tile.map (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) :
      %X = tile.map (%s0 = %S, %ti = %pt, %ui = %pu)
          : (!tu, !tile.tile<[t = 64], index>, !tile.tile<[u = 128], index>) -> !tu {
        %p = arith.addi %ti, %offset : index
        %visible = arith.cmpi sle, %ui, %p : index
        %x = arith.select %visible, %s0, %zero : f32
        tile.yield %x : f32
      }
      // CHECK: tile.reduce max %{{.*}} over(u)
      %m1 = tile.reduce max %X over(u) : !tu -> !t
      // CHECK: tile.dot %{{.*}}, %{{.*}} over(u) into %{{.*}} :
      %N = tile.dot %X, %K over(u) into %Q : !tu, !ud -> !td
      %V = tile.map (%ti = %pt, %ui = %pu) : (!tile.tile<[t = 64], index>, !tile.tile<[u = 128], index>)
           -> !tile.tile<[t = 64, u = 128], i1> {
        %visible = arith.cmpi sle, %ui, %ti : index
        tile.yield %visible : i1
      }
      // CHECK: tile.dot %{{.*}}, %{{.*}} over(u) where %{{.*}} : !tile.tile<[t = 64, u = 128], i1> into %{{.*}} :
      %M = tile.dot %X, %K over(u) where %V : !tile.tile<[t = 64, u = 128], i1> into %Q : !tu, !ud -> !td
      %m2 = tile.map (%x = %m0, %y = %m1) : (!t, !t) -> !t {
        %r = arith.maximumf %x, %y : f32
        tile.yield %r : f32
      }
      scf.yield %m2 : !t
    }
    // CHECK: tile.scan sum %{{.*}} over(t) exclusive reverse :
    %scan = tile.scan sum %max over(t) exclusive reverse : !t
    // CHECK: tile.scan sum %{{.*}} over(t) within(%{{.*}}) reverse :
    %some = tile.scan sum %max over(t) within(%scan) reverse : !t
    // CHECK: tile.scan max %{{.*}} over(t) :
    %most = tile.scan max %scan over(t) : !t
    // CHECK: tile.scan min %{{.*}} over(t) exclusive :
    %least = tile.scan min %most over(t) exclusive : !t
    // CHECK: tile.slice %{{.*}}[d = 1, 32 step 2] :
    %odd = tile.slice %Q[d = 1, 32 step 2] : !td -> !tile.tile<[t = 64, d = 32], f32>
    // CHECK: tile.slice %{{.*}}[d = 0, 32] :
    %low = tile.slice %Q[d = 0, 32] : !td -> !tile.tile<[t = 64, d = 32], f32>
    // CHECK: tile.concat %{{.*}}, %{{.*}} along d interleaved :
    %both = tile.concat %odd, %low along d interleaved : !tile.tile<[t = 64, d = 32], f32>, !tile.tile<[t = 64, d = 32], f32> -> !td
    // CHECK: tile.requested
    %asked = tile.requested %m : !row
    scf.if %asked {
      // CHECK: tile.accumulate %{{.*}}, %{{.*}}[b = %{{.*}}, h = %{{.*}}, t = %{{.*}}] :
      tile.accumulate %scan, %m[b = %b, h = %h, t = %t0] : !t, !row
      // CHECK: tile.accumulate %{{.*}}, %{{.*}}[b = %{{.*}}, h = %{{.*}}, t = %{{.*}}] atomic :
      tile.accumulate %scan, %m[b = %b, h = %h, t = %t0] atomic : !t, !row
    }
  }
}

#features = #tile.features<64, orders 0 to 2>
!panel = !tile.tile<[f = 144, t = 64], f32>

// CHECK-LABEL: tile.program @features
tile.program @features {
  %q = tile.tensor "input:q" : !row
  // CHECK: tile.kernel @monomials
  tile.kernel @monomials grid(%f in 15) {
    %c144 = arith.constant 144 : index
    %zero = arith.constant 0.0 : f32
    %f0 = arith.muli %f, %c144 : index
    %x = tile.splat %zero : f32 -> !td
    // CHECK: tile.expand %{{.*}} over(d) <64, orders 0 to 2> from %{{.*}} to(f) : !tile.tile<[d = 64, t = 64], f32> -> !tile.tile<[f = 144, t = 64], f32>
    %P = tile.expand %x over(d) #features from %f0 to(f) : !td -> !panel
    // CHECK: tile.expand %{{.*}} over(d) <64, orders 1 to 3, block 8> from %{{.*}} to(f) weights [1.000000e+00, 1.250000e-01, 1.000000e-03] : !tile.tile<[d = 64, t = 64], f32> -> !tile.tile<[f = 144, t = 64], f32>
    %W = tile.expand %x over(d) #tile.features<64, orders 1 to 3, block 8> from %f0 to(f) weights [1.0, 0.125, 0.001] : !td -> !panel
    // CHECK: tile.contract %{{.*}} over(f) <64, orders 0 to 2> from %{{.*}} at %{{.*}} over(d) weights [0.000000e+00, 1.000000e+00, 5.000000e-01] into %{{.*}} : !tile.tile<[f = 144, t = 64], f32>, !tile.tile<[d = 64, t = 64], f32>, !tile.tile<[d = 64, t = 64], f32> -> !tile.tile<[d = 64, t = 64], f32>
    %dx = tile.contract %P over(f) #features from %f0 at %x over(d) weights [0.0, 1.0, 0.5] into %x : !panel, !td, !td -> !td
  }
}
