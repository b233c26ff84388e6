// RUN: taylor-opt %s --taylor-simt-assign-layouts="warps=4" | FileCheck %s

// Weights stay in the registers of the threads that computed them: t, which the second product keeps, lies in rows. Keys
// and values go through buffers, the maximum and the sum have the projection of the scores' layout.
// CHECK-DAG: #[[E:.*]] = #simt.layout<lane = [e:2, e:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [e:1*2, t:8*2, e:8*4]>
// CHECK-DAG: #[[S:.*]] = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
// CHECK-DAG: #[[T:.*]] = #simt.layout<lane = [_, _, t:1, t:2, t:4], warp = [t:16, t:32], register = [t:8*2]>
// CHECK-DAG: #[[SHARED:.*]] = #simt.layout<lane = [e:2, e:4, t:1, t:2, t:4], warp = [t:16, e:8], register = [e:1*2, t:8*2, e:16*6]>
// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: launch #simt.launch<warps = 4>
// CHECK-DAG: %[[V:.*]] = simt.alloc "v" : !simt.buffer<1 x [u = 64, e = 32], bf16, swizzle = 64>
// CHECK-DAG: %[[K:.*]] = simt.alloc "k" : !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
// CHECK-DAG: %[[Q:.*]] = simt.alloc "q" : !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
// CHECK: simt.copy {{.*}}, %[[Q]]
// CHECK: scf.for
// CHECK: simt.copy {{.*}}, %[[K]]
// CHECK: %[[DOT:.*]] = simt.dot mma16 %[[Q]], %[[K]] over(d) {{.*}} -> !tile.tile<[t = 64, u = 64], f32, #[[S]]>
// CHECK: %[[W:.*]]:2 = tile.map (%{{.*}} = %[[DOT]])
// CHECK: tile.reduce sum %[[W]]#0 over(u) : {{.*}} -> !tile.tile<[t = 64], f32, #[[T]]>
// CHECK: simt.copy {{.*}}, %[[V]]
// CHECK: simt.dot mma16 %[[W]]#1, %[[V]] over(u) into {{.*}} : !tile.tile<[t = 64, u = 64], bf16, #[[S]]>, {{.*}} -> !tile.tile<[e = 32, t = 64], f32, #[[E]]>
// CHECK-NOT: simt.write
// CHECK-LABEL: tile.kernel @columns
tile.program @rows_and_columns {
  %q = tile.tensor "input:q" : !tile.array<[b, h, t, d = 64], bf16>
  %k = tile.tensor "input:k" : !tile.array<[b, h, u, d = 64], bf16>
  %v = tile.tensor "input:v" : !tile.array<[b, h, u, e = 32], bf16>
  %o = tile.tensor "output:o" : !tile.array<[b, h, t, e = 32], bf16>
  %z = tile.tensor "saved:z" : !tile.array<[b, h, t], f32>
  %dv = tile.tensor "gradient:v" : !tile.array<[b, h, u, e = 32], bf16>
  tile.kernel @rows grid(%b in b, %h in h, %i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %c64 : index
    %Q = tile.load %q[b = %b, h = %h, t = %t0] : !tile.array<[b, h, t, d = 64], bf16> -> !tile.tile<[d = 64, t = 64], bf16>
    %N0 = tile.splat %zero : f32 -> !tile.tile<[e = 32, t = 64], f32>
    %Z0 = tile.splat %zero : f32 -> !tile.tile<[t = 64], f32>
    %U = tile.size "u"
    %N, %Z = scf.for %j = %c0 to %U step %c64 iter_args(%n = %N0, %zz = %Z0) -> (!tile.tile<[e = 32, t = 64], f32>, !tile.tile<[t = 64], f32>) {
      %K = tile.load %k[b = %b, h = %h, u = %j] : !tile.array<[b, h, u, d = 64], bf16> -> !tile.tile<[d = 64, u = 64], bf16>
      %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 64, t = 64], bf16>, !tile.tile<[d = 64, u = 64], bf16> -> !tile.tile<[t = 64, u = 64], f32>
      %W, %P = tile.map (%s = %S) : (!tile.tile<[t = 64, u = 64], f32>) -> (!tile.tile<[t = 64, u = 64], f32>, !tile.tile<[t = 64, u = 64], bf16>) {
        %w = math.exp2 %s : f32
        %p = arith.truncf %w : f32 to bf16
        tile.yield %w, %p : f32, bf16
      }
      %r = tile.reduce sum %W over(u) : !tile.tile<[t = 64, u = 64], f32> -> !tile.tile<[t = 64], f32>
      %z1 = tile.map (%x = %zz, %y = %r) : (!tile.tile<[t = 64], f32>, !tile.tile<[t = 64], f32>) -> !tile.tile<[t = 64], f32> {
        %1 = arith.addf %x, %y : f32
        tile.yield %1 : f32
      }
      %V = tile.load %v[b = %b, h = %h, u = %j] : !tile.array<[b, h, u, e = 32], bf16> -> !tile.tile<[e = 32, u = 64], bf16>
      %n1 = tile.dot %P, %V over(u) into %n : !tile.tile<[t = 64, u = 64], bf16>, !tile.tile<[e = 32, u = 64], bf16> -> !tile.tile<[e = 32, t = 64], f32>
      scf.yield %n1, %z1 : !tile.tile<[e = 32, t = 64], f32>, !tile.tile<[t = 64], f32>
    }
    tile.store %N, %o[b = %b, h = %h, t = %t0] : !tile.tile<[e = 32, t = 64], f32>, !tile.array<[b, h, t, e = 32], bf16>
    tile.store %Z, %z[b = %b, h = %h, t = %t0] : !tile.tile<[t = 64], f32>, !tile.array<[b, h, t], f32>
  }

  // The same product with u kept: keys are the left operand now, weights the left operand of dv with u in rows. Row scalars that the loop
  // reads come through a buffer.
  // CHECK-DAG: %[[Z:.*]] = simt.alloc "z" : !simt.buffer<1 x [t = 64], f32>
  // CHECK-DAG: %[[K:.*]] = simt.alloc "k"
  // CHECK-DAG: %[[Q:.*]] = simt.alloc "q"
  // CHECK: simt.dot mma16 %[[K]], %[[Q]] over(d) : {{.*}} -> !tile.tile<[t = 64, u = 64], f32, #fragment_u_t>
  // CHECK: simt.read %[[Z]] : !simt.buffer<1 x [t = 64], f32> -> !tile.tile<[t = 64], f32, #[[ROW:.*]]>
  // CHECK: tile.map ({{.*}}) : (!tile.tile<[t = 64, u = 64], f32, #fragment_u_t>, !tile.tile<[t = 64], f32, #[[ROW]]>) -> !tile.tile<[t = 64, u = 64], bf16, #fragment_u_t>
  // CHECK: simt.dot mma16 %{{.*}}, %{{.*}} over(t) into %{{.*}} : !tile.tile<[t = 64, u = 64], bf16, #fragment_u_t>, {{.*}} -> !tile.tile<[e = 32, u = 64], f32, #fragment_u_e>
  // CHECK-NOT: simt.write
  tile.kernel @columns grid(%b in b, %h in h, %j in ceildiv(u, 64)) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %u0 = arith.muli %j, %c64 : index
    %K = tile.load %k[b = %b, h = %h, u = %u0] : !tile.array<[b, h, u, d = 64], bf16> -> !tile.tile<[d = 64, u = 64], bf16>
    %V0 = tile.splat %zero : f32 -> !tile.tile<[e = 32, u = 64], f32>
    %T = tile.size "t"
    %V = scf.for %i = %c0 to %T step %c64 iter_args(%x = %V0) -> (!tile.tile<[e = 32, u = 64], f32>) {
      %Q = tile.load %q[b = %b, h = %h, t = %i] : !tile.array<[b, h, t, d = 64], bf16> -> !tile.tile<[d = 64, t = 64], bf16>
      %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 64, t = 64], bf16>, !tile.tile<[d = 64, u = 64], bf16> -> !tile.tile<[t = 64, u = 64], f32>
      %Z = tile.load %z[b = %b, h = %h, t = %i] : !tile.array<[b, h, t], f32> -> !tile.tile<[t = 64], f32>
      %P = tile.map (%s = %S, %m = %Z) : (!tile.tile<[t = 64, u = 64], f32>, !tile.tile<[t = 64], f32>) -> !tile.tile<[t = 64, u = 64], bf16> {
        %1 = arith.subf %s, %m : f32
        %w = math.exp2 %1 : f32
        %p = arith.truncf %w : f32 to bf16
        tile.yield %p : bf16
      }
      %dO = tile.load %o[b = %b, h = %h, t = %i] : !tile.array<[b, h, t, e = 32], bf16> -> !tile.tile<[e = 32, t = 64], bf16>
      %n = tile.dot %P, %dO over(t) into %x : !tile.tile<[t = 64, u = 64], bf16>, !tile.tile<[e = 32, t = 64], bf16> -> !tile.tile<[e = 32, u = 64], f32>
      scf.yield %n : !tile.tile<[e = 32, u = 64], f32>
    }
    tile.store %V, %dv[b = %b, h = %h, u = %u0] : !tile.tile<[e = 32, u = 64], f32>, !tile.array<[b, h, u, e = 32], bf16>
  }
}

// Local to tokens: 16 bytes of neighbours per thread, lanes along the channel, so that the halves of a rotation are
// whole in a thread. A sum over tokens passes through a buffer, since four warps share them.
// CHECK-LABEL: tile.program @local
// CHECK: %[[PARTS:.*]] = simt.alloc {{.*}} : !simt.buffer<1 x [warp = 4, c = 64], f32
// CHECK: tile.load {{.*}} -> !tile.tile<[c = 64, t = 32], f32, #[[X:.*]]>
// CHECK: tile.slice {{.*}}[c = 32, 32] : !tile.tile<[c = 64, t = 32], f32, #[[X]]> -> !tile.tile<[c = 32, t = 32], f32, #[[H:.*]]>
// CHECK: %[[J:.*]] = tile.concat {{.*}} along c
// CHECK: %[[P:.*]] = simt.reduce_warp sum %{{.*}} over(t) : {{.*}} -> !tile.tile<[c = 64, warp = 4], f32, #{{.*}}>
// CHECK: simt.write %[[P]], %[[PARTS]]
// CHECK: %[[R:.*]] = simt.read %[[PARTS]]
// CHECK: tile.reduce sum %[[R]] over(warp)
tile.program @local {
  %x = tile.tensor "input:x" : !tile.array<[b, h, t, c = 64], bf16>
  %y = tile.tensor "output:y" : !tile.array<[b, h, t, c = 64], bf16>
  %g = tile.workspace "g" : !tile.array<[b, h, i = ceildiv(t, 32), c = 64], f32>
  tile.kernel @swap grid(%b in b, %h in h, %i in ceildiv(t, 32)) {
    %c32 = arith.constant 32 : index
    %t0 = arith.muli %i, %c32 : index
    %X = tile.load %x[b = %b, h = %h, t = %t0] : !tile.array<[b, h, t, c = 64], bf16> -> !tile.tile<[c = 64, t = 32], f32>
    %low = tile.slice %X[c = 0, 32] : !tile.tile<[c = 64, t = 32], f32> -> !tile.tile<[c = 32, t = 32], f32>
    %high = tile.slice %X[c = 32, 32] : !tile.tile<[c = 64, t = 32], f32> -> !tile.tile<[c = 32, t = 32], f32>
    %Y = tile.concat %high, %low along c : !tile.tile<[c = 32, t = 32], f32>, !tile.tile<[c = 32, t = 32], f32> -> !tile.tile<[c = 64, t = 32], f32>
    tile.store %Y, %y[b = %b, h = %h, t = %t0] : !tile.tile<[c = 64, t = 32], f32>, !tile.array<[b, h, t, c = 64], bf16>
    %s = tile.reduce sum %Y over(t) : !tile.tile<[c = 64, t = 32], f32> -> !tile.tile<[c = 64], f32>
    tile.store %s, %g[b = %b, h = %h, i = %i] : !tile.tile<[c = 64], f32>, !tile.array<[b, h, i = ceildiv(t, 32), c = 64], f32>
  }
}

// A scan is made by one thread per sequence, interleaved halves lie in neighbouring registers.
// CHECK-LABEL: tile.program @serial
// CHECK: tile.scan sum {{.*}} over(t) : !tile.tile<[t = 32], f32, #[[SERIAL:.*]]>
// CHECK: tile.slice %{{.*}}[c = 1, 8 step 2]
tile.program @serial {
  %x = tile.tensor "input:x" : !tile.array<[b, t], f32>
  %z = tile.tensor "input:z" : !tile.array<[b, t, c = 16], f32>
  %y = tile.tensor "output:y" : !tile.array<[b, t], f32>
  %o = tile.tensor "output:o" : !tile.array<[b, t, c = 8], f32>
  tile.kernel @scan grid(%b in b) {
    %c0 = arith.constant 0 : index
    %X = tile.load %x[b = %b, t = %c0] : !tile.array<[b, t], f32> -> !tile.tile<[t = 32], f32>
    %s = tile.scan sum %X over(t) : !tile.tile<[t = 32], f32>
    tile.store %s, %y[b = %b, t = %c0] : !tile.tile<[t = 32], f32>, !tile.array<[b, t], f32>
    %Z = tile.load %z[b = %b, t = %c0] : !tile.array<[b, t, c = 16], f32> -> !tile.tile<[c = 16, t = 32], f32>
    %odd = tile.slice %Z[c = 1, 8 step 2] : !tile.tile<[c = 16, t = 32], f32> -> !tile.tile<[c = 8, t = 32], f32>
    tile.store %odd, %o[b = %b, t = %c0] : !tile.tile<[c = 8, t = 32], f32>, !tile.array<[b, t, c = 8], f32>
  }
}

// f32 products by multiply-adds: both operands are read from buffers. A matrix times a vector is a map and a sum.
// CHECK-LABEL: tile.program @f32
// CHECK: simt.dot fma %{{.*}}, %{{.*}} over(d) : !simt.buffer<1 x [t = 32, d = 16], f32, swizzle = 64>, !simt.buffer<1 x [u = 32, d = 16], f32, swizzle = 64>
// CHECK: arith.mulf
// CHECK: tile.reduce sum %{{.*}} over(d)
tile.program @f32 {
  %q = tile.tensor "input:q" : !tile.array<[b, t, d = 16], f32>
  %k = tile.tensor "input:k" : !tile.array<[b, u, d = 16], f32>
  %w = tile.tensor "input:w" : !tile.array<[d = 16], f32>
  %o = tile.tensor "output:o" : !tile.array<[b, t], f32>
  tile.kernel @scores grid(%b in b) {
    %c0 = arith.constant 0 : index
    %Q = tile.load %q[b = %b, t = %c0] : !tile.array<[b, t, d = 16], f32> -> !tile.tile<[d = 16, t = 32], f32>
    %K = tile.load %k[b = %b, u = %c0] : !tile.array<[b, u, d = 16], f32> -> !tile.tile<[d = 16, u = 32], f32>
    %S = tile.dot %Q, %K over(d) : !tile.tile<[d = 16, t = 32], f32>, !tile.tile<[d = 16, u = 32], f32> -> !tile.tile<[t = 32, u = 32], f32>
    %s = tile.reduce max %S over(u) : !tile.tile<[t = 32, u = 32], f32> -> !tile.tile<[t = 32], f32>
    tile.store %s, %o[b = %b, t = %c0] : !tile.tile<[t = 32], f32>, !tile.array<[b, t], f32>
    %W = tile.load %w[] : !tile.array<[d = 16], f32> -> !tile.tile<[d = 16], f32>
    %p = tile.dot %Q, %W over(d) : !tile.tile<[d = 16, t = 32], f32>, !tile.tile<[d = 16], f32> -> !tile.tile<[t = 32], f32>
    tile.store %p, %o[b = %b, t = %c0] : !tile.tile<[t = 32], f32>, !tile.array<[b, t], f32>
  }
}

// Two warps share the keys' rows and cut the queries: weights are exchanged once, in 16 bits, behind the branch that masks them.
// CHECK-LABEL: tile.program @masked
// CHECK: %[[BUFFER:.*]] = simt.alloc "tu" : !simt.buffer<1 x [u = 32, t = 64], bf16, swizzle = 128>
// CHECK: %[[S:.*]] = simt.dot mma16 {{.*}} -> !tile.tile<[t = 64, u = 32], f32, #[[F:.*]]>
// CHECK-NOT: simt.write
// CHECK: %[[W:.*]] = scf.if %{{.*}} -> (!tile.tile<[t = 64, u = 32], f32, #[[F]]>)
// CHECK-NOT: simt.write
// CHECK: %[[P:.*]] = tile.map (%{{.*}} = %[[W]])
// CHECK: simt.write %[[P]], %[[BUFFER]] : !tile.tile<[t = 64, u = 32], bf16, #[[F]]>
// CHECK: simt.dot mma16 %[[BUFFER]], %{{.*}} over(t) into
tile.program @masked {
  %q = tile.tensor "input:q" : !tile.array<[b, h, t, d = 64], bf16>
  %k = tile.tensor "input:k" : !tile.array<[b, h, u, d = 64], bf16>
  %o = tile.tensor "input:o" : !tile.array<[b, h, t, e = 32], bf16>
  %dv = tile.tensor "gradient:v" : !tile.array<[b, h, u, e = 32], bf16>
  tile.kernel @pairs grid(%b in b, %h in h, %j in ceildiv(u, 32)) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %u0 = arith.muli %j, %c32 : index
    %K = tile.load %k[b = %b, h = %h, u = %u0] : !tile.array<[b, h, u, d = 64], bf16> -> !tile.tile<[d = 64, u = 32], bf16>
    %V0 = tile.splat %zero : f32 -> !tile.tile<[e = 32, u = 32], f32>
    %T = tile.size "t"
    %V = scf.for %i = %c0 to %T step %c64 iter_args(%x = %V0) -> (!tile.tile<[e = 32, u = 32], f32>) {
      %Q = tile.load %q[b = %b, h = %h, t = %i] : !tile.array<[b, h, t, d = 64], bf16> -> !tile.tile<[d = 64, t = 64], bf16>
      %S = tile.dot %K, %Q over(d) : !tile.tile<[d = 64, u = 32], bf16>, !tile.tile<[d = 64, t = 64], bf16> -> !tile.tile<[t = 64, u = 32], f32>
      %cut = arith.cmpi slt, %i, %u0 : index
      %W = scf.if %cut -> (!tile.tile<[t = 64, u = 32], f32>) {
        %y = tile.map (%s = %S) : (!tile.tile<[t = 64, u = 32], f32>) -> !tile.tile<[t = 64, u = 32], f32> {
          %1 = arith.mulf %s, %zero : f32
          tile.yield %1 : f32
        }
        scf.yield %y : !tile.tile<[t = 64, u = 32], f32>
      } else {
        scf.yield %S : !tile.tile<[t = 64, u = 32], f32>
      }
      %P = tile.map (%s = %W) : (!tile.tile<[t = 64, u = 32], f32>) -> !tile.tile<[t = 64, u = 32], bf16> {
        %p = arith.truncf %s : f32 to bf16
        tile.yield %p : bf16
      }
      %dO = tile.load %o[b = %b, h = %h, t = %i] : !tile.array<[b, h, t, e = 32], bf16> -> !tile.tile<[e = 32, t = 64], bf16>
      %n = tile.dot %P, %dO over(t) into %x : !tile.tile<[t = 64, u = 32], bf16>, !tile.tile<[e = 32, t = 64], bf16> -> !tile.tile<[e = 32, u = 32], f32>
      scf.yield %n : !tile.tile<[e = 32, u = 32], f32>
    }
    tile.store %V, %dv[b = %b, h = %h, u = %u0] : !tile.tile<[e = 32, u = 32], f32>, !tile.array<[b, h, u, e = 32], bf16>
  }
}

// Two warps share 96 columns. Side by side each would have 48, and the second begin at no power of two: so theirs alternate, eight by eight.
// CHECK-LABEL: tile.program @shared_columns
// CHECK: simt.dot fma {{.*}} -> !tile.tile<[e = 96, t = 32], f32, #[[SHARED]]>
tile.program @shared_columns {
  %p = tile.tensor "input:p" : !tile.array<[b, t, u = 32], f32>
  %v = tile.tensor "input:v" : !tile.array<[b, u = 32, e = 96], f32>
  %o = tile.tensor "output:o" : !tile.array<[b, t, e = 96], f32>
  tile.kernel @sums grid(%b in b) {
    %c0 = arith.constant 0 : index
    %P = tile.load %p[b = %b, t = %c0] : !tile.array<[b, t, u = 32], f32> -> !tile.tile<[u = 32, t = 32], f32>
    %V = tile.load %v[b = %b] : !tile.array<[b, u = 32, e = 96], f32> -> !tile.tile<[u = 32, e = 96], f32>
    %N = tile.dot %P, %V over(u) : !tile.tile<[u = 32, t = 32], f32>, !tile.tile<[u = 32, e = 96], f32> -> !tile.tile<[t = 32, e = 96], f32>
    tile.store %N, %o[b = %b, t = %c0] : !tile.tile<[e = 96, t = 32], f32>, !tile.array<[b, t, e = 96], f32>
  }
}

// A value that two layouts read through one buffer: a product wrote it there first, and the other reads behind that.
// CHECK-LABEL: tile.program @two_readers
// CHECK: %[[ET:.*]] = simt.alloc "et"
// CHECK: %[[Y:.*]] = tile.map
// CHECK-NOT: simt.read %[[ET]]
// CHECK: simt.write %[[Y]], %[[ET]]
// CHECK: simt.read %[[ET]]
tile.program @two_readers {
  %x = tile.tensor "input:x" : !tile.array<[b, t, d = 16], f32>
  %v = tile.tensor "input:v" : !tile.array<[d = 16, e = 16], f32>
  %up = tile.tensor "input:up" : !tile.array<[e = 16, m = 8], f32>
  %o = tile.tensor "output:o" : !tile.array<[b, t, m = 8], f32>
  %s = tile.tensor "output:s" : !tile.array<[b, e = 16, m = 8], f32>
  tile.kernel @rows grid(%b in b) {
    %c0 = arith.constant 0 : index
    %X = tile.load %x[b = %b, t = %c0] : !tile.array<[b, t, d = 16], f32> -> !tile.tile<[d = 16, t = 64], f32>
    %V = tile.load %v[] : !tile.array<[d = 16, e = 16], f32> -> !tile.tile<[d = 16, e = 16], f32>
    %N = tile.dot %X, %V over(d) : !tile.tile<[d = 16, t = 64], f32>, !tile.tile<[d = 16, e = 16], f32> -> !tile.tile<[e = 16, t = 64], f32>
    %U = tile.load %up[] : !tile.array<[e = 16, m = 8], f32> -> !tile.tile<[e = 16, m = 8], f32>
    %Y = tile.map (%a = %N) : (!tile.tile<[e = 16, t = 64], f32>) -> !tile.tile<[e = 16, t = 64], f32> {
      %1 = math.exp2 %a : f32
      tile.yield %1 : f32
    }
    %M = tile.dot %Y, %U over(e) : !tile.tile<[e = 16, t = 64], f32>, !tile.tile<[e = 16, m = 8], f32> -> !tile.tile<[m = 8, t = 64], f32>
    %E = tile.map (%a = %Y, %c = %M) : (!tile.tile<[e = 16, t = 64], f32>, !tile.tile<[m = 8, t = 64], f32>) -> !tile.tile<[e = 16, m = 8, t = 64], f32> {
      %1 = arith.mulf %a, %c : f32
      tile.yield %1 : f32
    }
    %G = tile.reduce sum %E over(t) : !tile.tile<[e = 16, m = 8, t = 64], f32> -> !tile.tile<[e = 16, m = 8], f32>
    tile.store %M, %o[b = %b, t = %c0] : !tile.tile<[m = 8, t = 64], f32>, !tile.array<[b, t, m = 8], f32>
    tile.store %G, %s[b = %b] : !tile.tile<[e = 16, m = 8], f32>, !tile.array<[b, e = 16, m = 8], f32>
  }
}
