// Products of bf16 tiles in every arrangement: an operand contiguous along the sum, across it, computed, masked, with a number of
// elements that is odd, no whole vector, or along two axes. Where the host multiplies pairs (native), they are compared too.
// RUN: taylor-tile-check %s --shape=b=2,t=37,u=70
// RUN: taylor-tile-check %s --shape=b=1,t=64,u=64 --target=x86-64-v3
// RUN: taylor-tile-check %s --shape=b=1,t=3,u=1
// RUN: taylor-tile-check %s --shape=b=2,t=37,u=70 --target=x86-64-v3+emulated-tiles

!q = !tile.array<[b, t, d = 48], bf16>
!k = !tile.array<[b, u, d = 48], bf16>
!v = !tile.array<[b, u, e = 34], bf16>
!odd = !tile.array<[b, u, f = 7], bf16>
!td = !tile.tile<[t = 32, d = 48], bf16>
!ud = !tile.tile<[u = 32, d = 48], bf16>
!ue = !tile.tile<[u = 32, e = 34], bf16>
!uf = !tile.tile<[u = 32, f = 7], bf16>
!tu = !tile.tile<[t = 32, u = 32], f32>
!tu16 = !tile.tile<[t = 32, u = 32], bf16>
!te = !tile.tile<[t = 32, e = 34], f32>
tile.program @products {
  %q = tile.tensor "input:q" : !q
  %k = tile.tensor "input:k" : !k
  %v = tile.tensor "input:v" : !v
  %f = tile.tensor "input:f" : !odd
  %g = tile.tensor "input:g" : !tile.array<[b, t, f = 7], bf16>
  %x = tile.tensor "input:x" : !tile.array<[b, t, u], bf16>
  %o = tile.tensor "output:o" : !tile.array<[b, t, e = 34], f32>
  %y = tile.tensor "output:y" : !tile.array<[b, d = 48, e = 34], f32>
  %z = tile.tensor "output:z" : !tile.array<[b, t, d = 48], f32>
  %p = tile.tensor "output:p" : !tile.array<[b, t], f32>
  tile.kernel @rows grid(%b in b, %i in ceildiv(t, 32)) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %t0 = arith.muli %i, %c32 : index
    %U = tile.size "u"
    %Q = tile.load %q[b = %b, t = %t0] : !q -> !td
    %G = tile.load %g[b = %b, t = %t0] : !tile.array<[b, t, f = 7], bf16> -> !tile.tile<[t = 32, f = 7], bf16>
    %none = tile.splat %zero : f32 -> !te
    %nothing = tile.splat %zero : f32 -> !tile.tile<[t = 32, d = 48], f32>
    %sum:2 = scf.for %u0 = %c0 to %U step %c32 iter_args(%N = %none, %M = %nothing) -> (!te, !tile.tile<[t = 32, d = 48], f32>) {
      %K = tile.load %k[b = %b, u = %u0] : !k -> !ud
      %F = tile.load %f[b = %b, u = %u0] : !odd -> !uf
      %X = tile.load %x[b = %b, t = %t0, u = %u0] : !tile.array<[b, t, u], bf16> -> !tu
      %at = tile.position from %t0 : !tile.tile<[t = 32], index>
      %au = tile.position from %u0 : !tile.tile<[u = 32], index>
      %W = tile.map (%a = %X, %r = %at, %c = %au) : (!tu, !tile.tile<[t = 32], index>, !tile.tile<[u = 32], index>) -> !tu16 {
        %w = arith.mulf %a, %half : f32
        %seen = arith.cmpi sle, %c, %r : index
        %masked = arith.select %seen, %w, %zero : f32
        %narrow = arith.truncf %masked : f32 to bf16
        tile.yield %narrow : bf16
      }
      %V = tile.load %v[b = %b, u = %u0] : !v -> !ue
      %next = tile.dot %W, %V over(u) into %N : !tu16, !ue -> !te
      %back = tile.dot %W, %K over(u) into %M : !tu16, !ud -> !tile.tile<[t = 32, d = 48], f32>
      scf.yield %next, %back : !te, !tile.tile<[t = 32, d = 48], f32>
    }
    tile.store %sum#0, %o[b = %b, t = %t0] : !te, !tile.array<[b, t, e = 34], f32>
    tile.store %sum#1, %z[b = %b, t = %t0] : !tile.tile<[t = 32, d = 48], f32>, !tile.array<[b, t, d = 48], f32>
    %K0 = tile.load %k[b = %b, u = %c0] : !k -> !ud
    %F0 = tile.load %f[b = %b, u = %c0] : !odd -> !uf
    %S0 = tile.dot %Q, %K0 over(d) : !td, !ud -> !tu
    %S1 = tile.dot %G, %F0 over(f) into %S0 : !tile.tile<[t = 32, f = 7], bf16>, !uf -> !tu
    %P = tile.reduce sum %S1 over(u) : !tu -> !tile.tile<[t = 32], f32>
    tile.store %P, %p[b = %b, t = %t0] : !tile.tile<[t = 32], f32>, !tile.array<[b, t], f32>
  }
  tile.kernel @columns grid(%b in b) {
    %c0 = arith.constant 0 : index
    %K = tile.load %k[b = %b, u = %c0] : !k -> !ud
    %V = tile.load %v[b = %b, u = %c0] : !v -> !ue
    %Y = tile.dot %K, %V over(u) : !ud, !ue -> !tile.tile<[d = 48, e = 34], f32>
    tile.store %Y, %y[b = %b] : !tile.tile<[d = 48, e = 34], f32>, !tile.array<[b, d = 48, e = 34], f32>
  }
}
