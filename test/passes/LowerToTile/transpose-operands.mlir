// RUN: taylor-opt %s --taylor-transpose-operands --cse | FileCheck %s

!q = !tile.array<[b, t, d = 32], bf16>
!k = !tile.array<[b, u, d = 32], bf16>
!v = !tile.array<[b, u, e = 48], bf16>
!td = !tile.tile<[t = 64, d = 32], bf16>
!ud = !tile.tile<[u = 64, d = 32], bf16>
!ue = !tile.tile<[u = 64, e = 48], bf16>
!tu = !tile.tile<[t = 64, u = 64], f32>
!tu16 = !tile.tile<[t = 64, u = 64], bf16>
!te = !tile.tile<[t = 64, e = 48], f32>

// Values are summed along the keys that the loop goes through, and scores keep the queries outside of it.
// CHECK-LABEL: tile.program @forward
// CHECK:      %[[V:.*]] = tile.tensor "input:v"
// CHECK:      %[[T:.*]] = tile.workspace "transposed.1.v" : !tile.array<[b, e = 48, u], bf16> because "a matrix unit reads it with what is summed contiguous"
// CHECK:      tile.kernel @transpose_1 grid(%[[B:.*]] in b, %[[I:.*]] in ceildiv(u, 64)) {
// CHECK:        %[[U:.*]] = arith.muli %[[I]], %c64
// CHECK:        %[[X:.*]] = tile.load %[[V]] [b = %[[B]], u = %[[U]]] : {{.*}} -> !tile.tile<[e = 48, u = 64], bf16>
// CHECK:        tile.store %[[X]], %[[T]] [b = %[[B]], u = %[[U]]]
// CHECK:      tile.kernel @attend
// CHECK:        scf.for %[[J:.*]] = %c0
// CHECK:          tile.load %{{.*}} : !tile.array<[b, u, d = 32], bf16> -> !tile.tile<[d = 32, u = 64], bf16>
// CHECK:          %[[VT:.*]] = tile.load %[[T]] [b = %{{.*}}, u = %[[J]]] : !tile.array<[b, e = 48, u], bf16> -> !tile.tile<[e = 48, u = 64], bf16>
// CHECK:          tile.dot %{{.*}}, %[[VT]] over(u) into
tile.program @forward {
  %q = tile.tensor "input:q" : !q
  %k = tile.tensor "input:k" : !k
  %v = tile.tensor "input:v" : !v
  %o = tile.tensor "output:o" : !tile.array<[b, t, e = 48], f32>
  tile.kernel @attend grid(%b in b, %i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %c64 : index
    %U = tile.size "u"
    %Q = tile.load %q[b = %b, t = %t0] : !q -> !td
    %none = tile.splat %zero : f32 -> !te
    %sum = scf.for %u0 = %c0 to %U step %c64 iter_args(%N = %none) -> (!te) {
      %K = tile.load %k[b = %b, u = %u0] : !k -> !ud
      %S = tile.dot %Q, %K over(d) : !td, !ud -> !tu
      %W = tile.map (%a = %S) : (!tu) -> !tu16 {
        %w = arith.truncf %a : f32 to bf16
        tile.yield %w : bf16
      }
      %V = tile.load %v[b = %b, u = %u0] : !v -> !ue
      %next = tile.dot %W, %V over(u) into %N : !tu16, !ue -> !te
      scf.yield %next : !te
    }
    tile.store %sum, %o[b = %b, t = %t0] : !te, !tile.array<[b, t, e = 48], f32>
  }
}

// Here keys stay: what is summed along them lies as it should, and so does an array that the kernel itself writes.
// CHECK-LABEL: tile.program @backward
// CHECK-NOT:   transpose_
tile.program @backward {
  %q = tile.tensor "input:q" : !q
  %k = tile.tensor "input:k" : !k
  %dq = tile.tensor "gradient:q" : !tile.array<[b, t, d = 32], f32>
  %dk = tile.tensor "gradient:k" : !tile.array<[b, u, d = 32], f32>
  %w = tile.workspace "w" : !q
  tile.kernel @pairs grid(%b in b, %j in ceildiv(u, 64)) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %u0 = arith.muli %j, %c64 : index
    %T = tile.size "t"
    %K = tile.load %k[b = %b, u = %u0] : !k -> !ud
    %none = tile.splat %zero : f32 -> !tile.tile<[u = 64, d = 32], f32>
    %sum = scf.for %t0 = %c0 to %T step %c64 iter_args(%N = %none) -> (!tile.tile<[u = 64, d = 32], f32>) {
      %Q = tile.load %q[b = %b, t = %t0] : !q -> !td
      tile.store %Q, %w[b = %b, t = %t0] : !td, !q
      %W = tile.load %w[b = %b, t = %t0] : !q -> !td
      %S = tile.dot %Q, %K over(d) : !td, !ud -> !tu
      %D = tile.map (%a = %S) : (!tu) -> !tu16 {
        %d = arith.truncf %a : f32 to bf16
        tile.yield %d : bf16
      }
      %rows = tile.dot %D, %K over(u) : !tu16, !ud -> !tile.tile<[t = 64, d = 32], f32>
      tile.store %rows, %dq[b = %b, t = %t0] : !tile.tile<[t = 64, d = 32], f32>, !tile.array<[b, t, d = 32], f32>
      %next = tile.dot %D, %W over(t) into %N : !tu16, !td -> !tile.tile<[u = 64, d = 32], f32>
      scf.yield %next : !tile.tile<[u = 64, d = 32], f32>
    }
    tile.store %sum, %dk[b = %b, u = %u0] : !tile.tile<[u = 64, d = 32], f32>, !tile.array<[b, u, d = 32], f32>
  }
}
