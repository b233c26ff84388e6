// Softmax attention, written by hand: causal with an offset, grouped heads, any T and U; saves m and Z (natural units).
// RUN: taylor-opt %s | taylor-opt | FileCheck %s --check-prefix=ROUND
// RUN: taylor-tile-check %s --shape=b=2,h=2,g=1,t=70,u=150
// RUN: taylor-tile-check %s --shape=b=1,h=2,g=1,t=64,u=64 --workers=1
// RUN: taylor-tile-check %s --shape=b=1,h=1,g=1,t=1,u=300
// RUN: taylor-tile-check %s --shape=b=1,h=3,g=3,t=129,u=63 --omit=saved:m --omit=saved:z
// RUN: taylor-tile-check %s --shape=b=2,h=2,g=1,t=70,u=150 --target=x86-64-v3
// ROUND: tile.kernel @attend grid(%{{.*}} in b, %{{.*}} in h, %{{.*}} in ceildiv(t, 64))

!q = !tile.array<[b, h, t, d = 64], f32>
!k = !tile.array<[b, g, u, d = 64], f32>
!v = !tile.array<[b, g, u, e = 64], f32>
!o = !tile.array<[b, h, t, e = 64], f32>
!row = !tile.array<[b, h, t], f32>
!td = !tile.tile<[t = 64, d = 64], f32>
!te = !tile.tile<[t = 64, e = 64], f32>
!t = !tile.tile<[t = 64], f32>
!ti = !tile.tile<[t = 64], index>
// A tile of keys without masks, and one of the diagonal.
!ud = !tile.tile<[u = 128, d = 64], f32>
!ue = !tile.tile<[u = 128, e = 64], f32>
!tu = !tile.tile<[t = 64, u = 128], f32>
!md = !tile.tile<[u = 64, d = 64], f32>
!me = !tile.tile<[u = 64, e = 64], f32>
!tm = !tile.tile<[t = 64, u = 64], f32>
!mi = !tile.tile<[u = 64], index>

tile.program @forward {
  %q = tile.tensor "input:q" : !q
  %k = tile.tensor "input:k" : !k
  %v = tile.tensor "input:v" : !v
  %o = tile.tensor "output:o" : !o
  %ms = tile.tensor "saved:m" optional : !row
  %zs = tile.tensor "saved:z" optional : !row
  tile.kernel @attend grid(%b in b, %h in h, %i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %least = arith.constant -3.0e38 : f32
    %scale = arith.constant 0.18033688011112042 : f32          // log2(e) / sqrt(64): weights are 2^x
    %ln2 = arith.constant 0.6931471805599453 : f32
    %H = tile.size "h"
    %G = tile.size "g"
    %T = tile.size "t"
    %U = tile.size "u"
    %offset = tile.size "offset"
    %group = arith.divsi %H, %G : index
    %g = arith.divsi %h, %group : index
    // The longest rows first.
    %Tp = arith.addi %T, %c64 : index
    %Tq = arith.subi %Tp, %c1 : index
    %blocks = arith.divsi %Tq, %c64 : index
    %last = arith.subi %blocks, %c1 : index
    %ir = arith.subi %last, %i : index
    %t0 = arith.muli %ir, %c64 : index
    // Row r sees keys u <= p0 + r: all rows see those below p0 + 1, none those from p0 + 64 on.
    %p0 = arith.addi %t0, %offset : index
    %p1 = arith.addi %p0, %c1 : index
    %seen = arith.minsi %p1, %U : index
    %seen0 = arith.maxsi %seen, %c0 : index
    %whole = arith.floordivsi %seen0, %c128 : index
    %full = arith.muli %whole, %c128 : index
    %p64 = arith.addi %p0, %c64 : index
    %end = arith.minsi %p64, %U : index

    %Q = tile.load %q[b = %b, h = %h, t = %t0] : !q -> !td
    %Qs = tile.map (%x = %Q) : (!td) -> !td {
      %y = arith.mulf %x, %scale : f32
      tile.yield %y : f32
    }
    %m_init = tile.splat %least : f32 -> !t
    %z_init = tile.splat %zero : f32 -> !t
    %n_init = tile.splat %zero : f32 -> !te
    %m_full, %z_full, %n_full = scf.for %j = %c0 to %full step %c128
        iter_args(%m0 = %m_init, %z0 = %z_init, %n0 = %n_init) -> (!t, !t, !te) {
      %K = tile.load %k[b = %b, g = %g, u = %j] : !k -> !ud
      %V = tile.load %v[b = %b, g = %g, u = %j] : !v -> !ue
      %x = tile.dot %Qs, %K over(d) : !td, !ud -> !tu
      %mx = tile.reduce max %x over(u) : !tu -> !t
      %m1, %al = tile.map (%a = %m0, %c = %mx) : (!t, !t) -> (!t, !t) {
        %m = arith.maxnumf %a, %c : f32
        %d = arith.subf %a, %m : f32
        %e = math.exp2 %d : f32
        tile.yield %m, %e : f32, f32
      }
      %w = tile.map (%s = %x, %m = %m1) : (!tu, !t) -> !tu {
        %d = arith.subf %s, %m : f32
        %e = math.exp2 %d : f32
        tile.yield %e : f32
      }
      %ws = tile.reduce sum %w over(u) : !tu -> !t
      %z1 = tile.map (%z = %z0, %a = %al, %s = %ws) : (!t, !t, !t) -> !t {
        %p = arith.mulf %z, %a : f32
        %r = arith.addf %p, %s : f32
        tile.yield %r : f32
      }
      %ns = tile.map (%n = %n0, %a = %al) : (!te, !t) -> !te {
        %r = arith.mulf %n, %a : f32
        tile.yield %r : f32
      }
      %n1 = tile.dot %w, %V over(u) into %ns : !tu, !ue -> !te
      scf.yield %m1, %z1, %n1 : !t, !t, !te
    }
    %pt = tile.position from %p0 : !ti
    %m_end, %z_end, %n_end = scf.for %j = %full to %end step %c64
        iter_args(%m0 = %m_full, %z0 = %z_full, %n0 = %n_full) -> (!t, !t, !te) {
      %K = tile.load %k[b = %b, g = %g, u = %j] : !k -> !md
      %V = tile.load %v[b = %b, g = %g, u = %j] : !v -> !me
      %pu = tile.position from %j : !mi
      %s = tile.dot %Qs, %K over(d) : !td, !md -> !tm
      %x = tile.map (%a = %s, %tp = %pt, %up = %pu) : (!tm, !ti, !mi) -> !tm {
        %causal = arith.cmpi sle, %up, %tp : index
        %inside = arith.cmpi slt, %up, %U : index
        %visible = arith.andi %causal, %inside : i1
        %r = arith.select %visible, %a, %least : f32
        tile.yield %r : f32
      }
      %mx = tile.reduce max %x over(u) : !tm -> !t
      %m1, %al = tile.map (%a = %m0, %c = %mx) : (!t, !t) -> (!t, !t) {
        %m = arith.maxnumf %a, %c : f32
        %d = arith.subf %a, %m : f32
        %e = math.exp2 %d : f32
        tile.yield %m, %e : f32, f32
      }
      %w = tile.map (%a = %x, %m = %m1, %tp = %pt, %up = %pu) : (!tm, !t, !ti, !mi) -> !tm {
        %d = arith.subf %a, %m : f32
        %e = math.exp2 %d : f32
        %causal = arith.cmpi sle, %up, %tp : index
        %inside = arith.cmpi slt, %up, %U : index
        %visible = arith.andi %causal, %inside : i1
        %r = arith.select %visible, %e, %zero : f32
        tile.yield %r : f32
      }
      %ws = tile.reduce sum %w over(u) : !tm -> !t
      %z1 = tile.map (%z = %z0, %a = %al, %c = %ws) : (!t, !t, !t) -> !t {
        %p = arith.mulf %z, %a : f32
        %r = arith.addf %p, %c : f32
        tile.yield %r : f32
      }
      %ns = tile.map (%n = %n0, %a = %al) : (!te, !t) -> !te {
        %r = arith.mulf %n, %a : f32
        tile.yield %r : f32
      }
      %n1 = tile.dot %w, %V over(u) into %ns : !tm, !me -> !te
      scf.yield %m1, %z1, %n1 : !t, !t, !te
    }
    %y = tile.map (%n = %n_end, %z = %z_end) : (!te, !t) -> !te {
      %live = arith.cmpf ogt, %z, %zero : f32
      %r = arith.divf %n, %z : f32
      %s = arith.select %live, %r, %zero : f32
      tile.yield %s : f32
    }
    tile.store %y, %o[b = %b, h = %h, t = %t0] : !te, !o
    %want_m = tile.requested %ms : !row
    scf.if %want_m {
      %mn = tile.map (%m = %m_end) : (!t) -> !t {
        %r = arith.mulf %m, %ln2 : f32
        tile.yield %r : f32
      }
      tile.store %mn, %ms[b = %b, h = %h, t = %t0] : !t, !row
    }
    %want_z = tile.requested %zs : !row
    scf.if %want_z {
      tile.store %z_end, %zs[b = %b, h = %h, t = %t0] : !t, !row
    }
  }
}
