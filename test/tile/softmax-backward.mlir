// The backward of softmax-forward.mlir, after which it stands: its types, and what its forward saved. One pass over the keys
// computes five products; gradients nobody asks for cost nothing.
// RUN: cat %S/softmax-forward.mlir %s > %t.mlir
// RUN: taylor-opt %t.mlir | taylor-opt -o /dev/null
// RUN: taylor-tile-check %t.mlir --shape=b=2,h=2,g=1,t=70,u=150
// RUN: taylor-tile-check %t.mlir --shape=b=1,h=1,g=1,t=200,u=200 --workers=1
// RUN: taylor-tile-check %t.mlir --shape=b=1,h=2,g=2,t=129,u=63 --omit=gradient:q
// RUN: taylor-tile-check %t.mlir --shape=b=1,h=2,g=2,t=64,u=100 --omit=gradient:k --omit=gradient:v --target=x86-64-v3

!ui = !tile.tile<[u = 128], index>

tile.program @backward {
  %q = tile.tensor "input:q" : !q
  %k = tile.tensor "input:k" : !k
  %v = tile.tensor "input:v" : !v
  %o = tile.tensor "output:o" : !o
  %ms = tile.tensor "saved:m" : !row
  %zs = tile.tensor "saved:z" : !row
  %do = tile.tensor "cotangent:o" : !o
  %dq = tile.tensor "gradient:q" optional : !q
  %dk = tile.tensor "gradient:k" optional : !k
  %dv = tile.tensor "gradient:v" optional : !v
  %dns = tile.workspace "dn" : !o
  %dzs = tile.workspace "dz" : !row

  // dN = dO / Z and dZ = -<dO, O> / Z, 0 in rows that see no key; dQ starts at 0.
  tile.kernel @rows grid(%b in b, %h in h, %i in ceildiv(t, 64)) {
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %t0 = arith.muli %i, %c64 : index
    %dO = tile.load %do[b = %b, h = %h, t = %t0] : !o -> !te
    %O = tile.load %o[b = %b, h = %h, t = %t0] : !o -> !te
    %Z = tile.load %zs[b = %b, h = %h, t = %t0] : !row -> !t
    %rz = tile.map (%z = %Z) : (!t) -> !t {
      %live = arith.cmpf ogt, %z, %zero : f32
      %r = arith.divf %one, %z : f32
      %s = arith.select %live, %r, %zero : f32
      tile.yield %s : f32
    }
    %dN = tile.map (%x = %dO, %r = %rz) : (!te, !t) -> !te {
      %y = arith.mulf %x, %r : f32
      tile.yield %y : f32
    }
    %p = tile.map (%x = %dN, %y = %O) : (!te, !te) -> !te {
      %r = arith.mulf %x, %y : f32
      tile.yield %r : f32
    }
    %dot = tile.reduce sum %p over(e) : !te -> !t
    %dZ = tile.map (%x = %dot) : (!t) -> !t {
      %r = arith.negf %x : f32
      tile.yield %r : f32
    }
    tile.store %dN, %dns[b = %b, h = %h, t = %t0] : !te, !o
    tile.store %dZ, %dzs[b = %b, h = %h, t = %t0] : !t, !row
    %want = tile.requested %dq : !q
    scf.if %want {
      %none = tile.splat %zero : f32 -> !td
      tile.store %none, %dq[b = %b, h = %h, t = %t0] : !td, !q
    }
  }

  tile.kernel @pairs grid(%b in b, %g in g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %scale = arith.constant 0.125 : f32
    %H = tile.size "h"
    %G = tile.size "g"
    %T = tile.size "t"
    %U = tile.size "u"
    %offset = tile.size "offset"
    %group = arith.divsi %H, %G : index
    %h0 = arith.muli %g, %group : index
    %want_q = tile.requested %dq : !q
    %want_k = tile.requested %dk : !k
    %want_v = tile.requested %dv : !v
    %no_d = tile.splat %zero : f32 -> !ud
    %no_e = tile.splat %zero : f32 -> !ue
    scf.for %j = %c0 to %U step %c128 {
      %K = tile.load %k[b = %b, g = %g, u = %j] : !k -> !ud
      %V = tile.load %v[b = %b, g = %g, u = %j] : !v -> !ue
      %pu = tile.position from %j : !ui
      // The first block of queries that sees key j.
      %first = arith.subi %j, %offset : index
      %first0 = arith.maxsi %first, %c0 : index
      %block = arith.divsi %first0, %c64 : index
      %begin = arith.muli %block, %c64 : index
      %dK, %dV = scf.for %n = %c0 to %group step %c1 iter_args(%a0 = %no_d, %b0 = %no_e) -> (!ud, !ue) {
        %h = arith.addi %h0, %n : index
        %x, %y = scf.for %t0 = %begin to %T step %c64 iter_args(%a1 = %a0, %b1 = %b0) -> (!ud, !ue) {
          %Q = tile.load %q[b = %b, h = %h, t = %t0] : !q -> !td
          %dN = tile.load %dns[b = %b, h = %h, t = %t0] : !o -> !te
          %dZ = tile.load %dzs[b = %b, h = %h, t = %t0] : !row -> !t
          %M = tile.load %ms[b = %b, h = %h, t = %t0] : !row -> !t
          %p0 = arith.addi %offset, %t0 : index
          %pt = tile.position from %p0 : !ti
          %last = arith.addi %offset, %T : index
          %S = tile.dot %Q, %K over(d) : !td, !ud -> !tu
          %w = tile.map (%s = %S, %m = %M, %tp = %pt, %up = %pu) : (!tu, !t, !ti, !ui) -> !tu {
            %c = arith.mulf %s, %scale : f32
            %d = arith.subf %c, %m : f32
            %e = math.exp %d : f32
            %causal = arith.cmpi sle, %up, %tp : index
            %key = arith.cmpi slt, %up, %U : index
            %query = arith.cmpi slt, %tp, %last : index
            %inside = arith.andi %key, %query : i1
            %visible = arith.andi %causal, %inside : i1
            %r = arith.select %visible, %e, %zero : f32
            tile.yield %r : f32
          }
          %dP = tile.dot %dN, %V over(e) : !te, !ue -> !tu
          %ds = tile.map (%p = %dP, %z = %dZ, %a = %w) : (!tu, !t, !tu) -> !tu {
            %sum = arith.addf %p, %z : f32
            %r = arith.mulf %sum, %a : f32
            %c = arith.mulf %r, %scale : f32
            tile.yield %c : f32
          }
          %dV1 = tile.dot %w, %dN over(t) into %b1 : !tu, !te -> !ue
          %dK1 = tile.dot %ds, %Q over(t) into %a1 : !tu, !td -> !ud
          scf.if %want_q {
            %dQ = tile.dot %ds, %K over(u) : !tu, !ud -> !td
            tile.accumulate %dQ, %dq[b = %b, h = %h, t = %t0] : !td, !q
          }
          scf.yield %dK1, %dV1 : !ud, !ue
        }
        scf.yield %x, %y : !ud, !ue
      }
      scf.if %want_k {
        tile.store %dK, %dk[b = %b, g = %g, u = %j] : !ud, !k
      }
      scf.if %want_v {
        tile.store %dV, %dv[b = %b, g = %g, u = %j] : !ue, !v
      }
    }
  }
}
