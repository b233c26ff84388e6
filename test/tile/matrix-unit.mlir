// Products on the matrix unit (AMX): rows, lanes and sums that are no whole number of its blocks, sums that go on, strips of scores that
// only maps read, copies with pairs that maps make, operands that must be transposed, masks that end sums early.
// RUN: taylor-tile-check %s --shape=b=2,t=50,u=75 --tolerance=3e-4 --target=x86-64-v3+emulated-tiles
// RUN: %if avx512bw %{ taylor-tile-check %s --shape=b=1,t=128,u=75,offset=0 --tolerance=3e-4 --target=x86-64-v4+emulated-tiles %}
// RUN: %if amx_bf16 %{ taylor-tile-check %s --shape=b=2,t=50,u=75 --tolerance=3e-4 --target=sapphirerapids %}
// RUN: %if amx_bf16 %{ taylor-tile-check %s --shape=b=1,t=128,u=1 --tolerance=3e-4 --target=sapphirerapids --workers=3 %}

!q = !tile.array<[b, t, d = 80], bf16>
!k = !tile.array<[b, u, d = 80], bf16>
!v = !tile.array<[b, u, e = 40], bf16>
!td = !tile.tile<[t = 48, d = 80], bf16>
!ud = !tile.tile<[u = 72, d = 80], bf16>
!ue = !tile.tile<[u = 72, e = 40], bf16>
!tu = !tile.tile<[t = 48, u = 72], f32>
!tu16 = !tile.tile<[t = 48, u = 72], bf16>
!te = !tile.tile<[t = 48, e = 40], f32>
!dsum = !tile.tile<[u = 72, d = 80], f32>
!esum = !tile.tile<[u = 72, e = 40], f32>
!t = !tile.tile<[t = 48], f32>
tile.program @forward {
  %q = tile.tensor "input:q" : !q
  %k = tile.tensor "input:k" : !k
  %v = tile.tensor "input:v" : !v
  %o = tile.tensor "output:o" : !tile.array<[b, t, e = 40], f32>
  %m = tile.tensor "output:m" : !tile.array<[b, t], f32>
  %x = tile.tensor "output:x" : !tile.array<[b, u, d = 80], f32>
  %y = tile.tensor "output:y" : !tile.array<[b, u, e = 40], f32>
  // Rows: scores that a maximum and a map read, weights that a product and a sum read.
  tile.kernel @rows grid(%b in b, %i in ceildiv(t, 48)) {
    %c0 = arith.constant 0 : index
    %c48 = arith.constant 48 : index
    %c72 = arith.constant 72 : index
    %zero = arith.constant 0.0 : f32
    %tenth = arith.constant 0.1 : f32
    %lowest = arith.constant -1.0e38 : f32
    %t0 = arith.muli %i, %c48 : index
    %U = tile.size "u"
    %offset = tile.size "offset"
    %first = arith.addi %t0, %offset : index
    %Q = tile.load %q[b = %b, t = %t0] : !q -> !td
    %none = tile.splat %zero : f32 -> !te
    %low = tile.splat %lowest : f32 -> !t
    %sums:2 = scf.for %u0 = %c0 to %U step %c72 iter_args(%N = %none, %M = %low) -> (!te, !t) {
      %K = tile.load %k[b = %b, u = %u0] : !k -> !ud
      %S = tile.dot %Q, %K over(d) : !td, !ud -> !tu
      %top = tile.reduce max %S over(u) : !tu -> !t
      %M2 = tile.map (%a = %M, %c = %top) : (!t, !t) -> !t {
        %r = arith.maximumf %a, %c : f32
        tile.yield %r : f32
      }
      %at = tile.position from %first : !tile.tile<[t = 48], index>
      %au = tile.position from %u0 : !tile.tile<[u = 72], index>
      %W = tile.map (%a = %S, %r = %at, %c = %au) : (!tu, !tile.tile<[t = 48], index>, !tile.tile<[u = 72], index>) -> !tu16 {
        %s = arith.mulf %a, %tenth : f32
        %seen = arith.cmpi sle, %c, %r : index
        %masked = arith.select %seen, %s, %zero : f32
        %narrow = arith.truncf %masked : f32 to bf16
        tile.yield %narrow : bf16
      }
      %half = tile.map (%a = %N) : (!te) -> !te {
        %h = arith.mulf %a, %tenth : f32
        tile.yield %h : f32
      }
      %V = tile.load %v[b = %b, u = %u0] : !v -> !ue
      %next = tile.dot %W, %V over(u) into %half : !tu16, !ue -> !te
      scf.yield %next, %M2 : !te, !t
    }
    tile.store %sums#0, %o[b = %b, t = %t0] : !te, !tile.array<[b, t, e = 40], f32>
    tile.store %sums#1, %m[b = %b, t = %t0] : !t, !tile.array<[b, t], f32>
  }
  // Columns: two products whose sums one map alone reads, strip by strip.
  tile.kernel @columns grid(%b in b, %j in ceildiv(u, 72)) {
    %c0 = arith.constant 0 : index
    %c48 = arith.constant 48 : index
    %c72 = arith.constant 72 : index
    %zero = arith.constant 0.0 : f32
    %u0 = arith.muli %j, %c72 : index
    %T = tile.size "t"
    %K = tile.load %k[b = %b, u = %u0] : !k -> !ud
    %V = tile.load %v[b = %b, u = %u0] : !v -> !ue
    %dzero = tile.splat %zero : f32 -> !dsum
    %ezero = tile.splat %zero : f32 -> !esum
    %sums:2 = scf.for %t0 = %c0 to %T step %c48 iter_args(%X = %dzero, %Y = %ezero) -> (!dsum, !esum) {
      %Q = tile.load %q[b = %b, t = %t0] : !q -> !td
      %G = tile.load %o[b = %b, t = %t0] : !tile.array<[b, t, e = 40], f32> -> !te
      %G16 = tile.map (%a = %G) : (!te) -> !tile.tile<[t = 48, e = 40], bf16> {
        %narrow = arith.truncf %a : f32 to bf16
        tile.yield %narrow : bf16
      }
      %S = tile.dot %Q, %K over(d) : !td, !ud -> !tu
      %D = tile.dot %G16, %V over(e) : !tile.tile<[t = 48, e = 40], bf16>, !ue -> !tu
      %P:2 = tile.map (%a = %S, %c = %D) : (!tu, !tu) -> (!tu16, !tu16) {
        %p = arith.mulf %a, %c : f32
        %r = arith.truncf %a : f32 to bf16
        %s = arith.truncf %p : f32 to bf16
        tile.yield %r, %s : bf16, bf16
      }
      %X2 = tile.dot %P#1, %Q over(t) into %X : !tu16, !td -> !dsum
      %Y2 = tile.dot %P#0, %G16 over(t) into %Y : !tu16, !tile.tile<[t = 48, e = 40], bf16> -> !esum
      scf.yield %X2, %Y2 : !dsum, !esum
    }
    tile.store %sums#0, %x[b = %b, u = %u0] : !dsum, !tile.array<[b, u, d = 80], f32>
    tile.store %sums#1, %y[b = %b, u = %u0] : !esum, !tile.array<[b, u, e = 40], f32>
  }
}
