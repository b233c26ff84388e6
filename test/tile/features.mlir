// Every op of the dialect in small programs, compiled and compared with the evaluator, for sizes that fit vectors and sizes that do not.
// RUN: taylor-tile-check %s --shape=b=2,h=4,g=2,t=37,u=21 --tolerance=3e-6
// RUN: taylor-tile-check %s --shape=b=1,h=1,g=1,t=1,u=40 --tolerance=3e-6
// RUN: taylor-tile-check %s --shape=b=1,h=2,g=1,t=64,u=64 --tolerance=3e-6 --target=x86-64-v3
// RUN: %if avx512bw %{ taylor-tile-check %s --shape=b=1,h=2,g=1,t=64,u=64 --tolerance=3e-6 --target=x86-64-v4 --workers=3 %}

!x = !tile.array<[b, t, d = 20], f32>
!half = !tile.tile<[t = 8, d = 10], f32>
!td = !tile.tile<[t = 8, d = 20], f32>

// Halves and alternating channels, apart and together again.
tile.program @slices {
  %x = tile.tensor "input:x" : !x
  %y = tile.tensor "output:halves" : !x
  %z = tile.tensor "output:alternating" : !x
  tile.kernel @k grid(%b in b, %i in ceildiv(t, 8)) {
    %c8 = arith.constant 8 : index
    %t0 = arith.muli %i, %c8 : index
    %v = tile.load %x[b = %b, t = %t0] : !x -> !td
    %low = tile.slice %v[d = 0, 10] : !td -> !half
    %high = tile.slice %v[d = 10, 10] : !td -> !half
    %swapped = tile.concat %high, %low along d : !half, !half -> !td
    tile.store %swapped, %y[b = %b, t = %t0] : !td, !x
    %even = tile.slice %v[d = 0, 10 step 2] : !td -> !half
    %odd = tile.slice %v[d = 1, 10 step 2] : !td -> !half
    %turned = tile.map (%a = %odd) : (!half) -> !half {
      %n = arith.negf %a : f32
      tile.yield %n : f32
    }
    %both = tile.concat %turned, %even along d interleaved : !half, !half -> !td
    tile.store %both, %z[b = %b, t = %t0] : !td, !x
  }
}

// Running sums in four directions, along lanes and across them, carried from tile to tile.
!col = !tile.array<[b, h, u], f32>
!ue = !tile.tile<[u = 16, e = 5], f32>
tile.program @scans {
  %f = tile.tensor "input:f" : !col
  %v = tile.tensor "input:v" : !tile.array<[b, h, u, e = 5], f32>
  %s = tile.tensor "output:sum" : !col
  %r = tile.tensor "output:reverse" : !tile.array<[b, h, u, e = 5], f32>
  tile.kernel @k grid(%b in b, %h in h) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %U = tile.size "u"
    %start = tile.splat %zero : f32 -> !tile.tile<[], f32>
    %end = scf.for %j = %c0 to %U step %c16 iter_args(%carry = %start) -> (!tile.tile<[], f32>) {
      %x = tile.load %f[b = %b, h = %h, u = %j] : !col -> !tile.tile<[u = 16], f32>
      %in = tile.scan sum %x over(u) exclusive : !tile.tile<[u = 16], f32>
      %y = tile.map (%a = %in, %c = %carry) : (!tile.tile<[u = 16], f32>, !tile.tile<[], f32>) -> !tile.tile<[u = 16], f32> {
        %q = arith.addf %a, %c : f32
        tile.yield %q : f32
      }
      tile.store %y, %s[b = %b, h = %h, u = %j] : !tile.tile<[u = 16], f32>, !col
      %sum = tile.reduce sum %x over(u) : !tile.tile<[u = 16], f32> -> !tile.tile<[], f32>
      %next = tile.map (%a = %sum, %c = %carry) : (!tile.tile<[], f32>, !tile.tile<[], f32>) -> !tile.tile<[], f32> {
        %q = arith.addf %a, %c : f32
        tile.yield %q : f32
      }
      scf.yield %next : !tile.tile<[], f32>
    }
    scf.for %j = %c0 to %U step %c16 {
      %x = tile.load %v[b = %b, h = %h, u = %j] : !tile.array<[b, h, u, e = 5], f32> -> !ue
      %y = tile.scan sum %x over(u) reverse : !ue
      %z = tile.scan sum %y over(e) : !ue
      tile.store %z, %r[b = %b, h = %h, u = %j] : !ue, !tile.array<[b, h, u, e = 5], f32>
    }
  }
}

// Running maxima and minima, along lanes and across them; before the first element an infinity, which a map takes out.
tile.program @extrema {
  %f = tile.tensor "input:f" : !col
  %v = tile.tensor "input:v" : !tile.array<[b, h, u, e = 5], f32>
  %m = tile.tensor "output:max" : !col
  %l = tile.tensor "output:min" : !col
  %w = tile.tensor "output:rows" : !tile.array<[b, h, u, e = 5], f32>
  %c = tile.tensor "output:channels" : !tile.array<[b, h, u, e = 5], f32>
  tile.kernel @k grid(%b in b, %h in h) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %seven = arith.constant 7.0 : f32
    %U = tile.size "u"
    scf.for %j = %c0 to %U step %c16 {
      %x = tile.load %f[b = %b, h = %h, u = %j] : !col -> !tile.tile<[u = 16], f32>
      %most = tile.scan max %x over(u) reverse : !tile.tile<[u = 16], f32>
      tile.store %most, %m[b = %b, h = %h, u = %j] : !tile.tile<[u = 16], f32>, !col
      %least = tile.scan min %x over(u) exclusive : !tile.tile<[u = 16], f32>
      %bounded = tile.map (%a = %least) : (!tile.tile<[u = 16], f32>) -> !tile.tile<[u = 16], f32> {
        %r = arith.minimumf %a, %seven : f32
        tile.yield %r : f32
      }
      tile.store %bounded, %l[b = %b, h = %h, u = %j] : !tile.tile<[u = 16], f32>, !col
      %y = tile.load %v[b = %b, h = %h, u = %j] : !tile.array<[b, h, u, e = 5], f32> -> !ue
      %rows = tile.scan min %y over(u) : !ue
      tile.store %rows, %w[b = %b, h = %h, u = %j] : !ue, !tile.array<[b, h, u, e = 5], f32>
      %channels = tile.scan max %y over(e) exclusive reverse : !ue
      %finite = tile.map (%a = %channels) : (!ue) -> !ue {
        %n = arith.constant -7.0 : f32
        %r = arith.maximumf %a, %n : f32
        tile.yield %r : f32
      }
      tile.store %finite, %c[b = %b, h = %h, u = %j] : !ue, !tile.array<[b, h, u, e = 5], f32>
    }
  }
}

// A transposed copy in workspace, renamed axes, integers, positions, a group's heads summed in memory.
!bt = !tile.array<[i = ceildiv(t, 16), b, d = 20, t = 16], f32>
tile.program @memory {
  %x = tile.tensor "input:x" : !x
  %n = tile.tensor "input:n" : !tile.array<[b, u], i32>
  %f = tile.tensor "input:f" : !col
  %y = tile.tensor "output:y" : !x
  %g = tile.tensor "output:g" : !tile.array<[b, g, u], f32>
  %a = tile.tensor "output:a" : !tile.array<[b, h, t], f32>
  %m = tile.tensor "output:m" : !tile.array<[b, t], i32>
  %w = tile.workspace "w" : !bt
  tile.kernel @put grid(%i in ceildiv(t, 16), %b in b) {
    %c16 = arith.constant 16 : index
    %t0 = arith.muli %i, %c16 : index
    %v = tile.load %x[b = %b, t = %t0] : !x -> !tile.tile<[t = 16, d = 20], f32>
    tile.store %v, %w[i = %i, b = %b] : !tile.tile<[t = 16, d = 20], f32>, !bt
  }
  tile.kernel @get grid(%i in ceildiv(t, 16), %b in b) {
    %c16 = arith.constant 16 : index
    %t0 = arith.muli %i, %c16 : index
    %v = tile.load %w[i = %i, b = %b] : !bt -> !tile.tile<[t = 16, d = 20], f32>
    %p = tile.position from %t0 : !tile.tile<[t = 16], index>
    %r = tile.map (%a0 = %v, %q = %p) : (!tile.tile<[t = 16, d = 20], f32>, !tile.tile<[t = 16], index>) -> !tile.tile<[t = 16, d = 20], f32> {
      %k = arith.index_cast %q : index to i32
      %l = arith.sitofp %k : i32 to f32
      %s = arith.mulf %a0, %l : f32
      tile.yield %s : f32
    }
    tile.store %r, %y[b = %b, t = %t0] : !tile.tile<[t = 16, d = 20], f32>, !x
  }
  tile.kernel @group grid(%b in b, %g0 in g) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %H = tile.size "h"
    %G = tile.size "g"
    %U = tile.size "u"
    %heads = arith.divsi %H, %G : index
    %h0 = arith.muli %g0, %heads : index
    scf.for %j = %c0 to %U step %c16 {
      %none = tile.splat %zero : f32 -> !tile.tile<[u = 16], f32>
      tile.store %none, %g[b = %b, g = %g0, u = %j] : !tile.tile<[u = 16], f32>, !tile.array<[b, g, u], f32>
      scf.for %k = %c0 to %heads step %c1 {
        %h = arith.addi %h0, %k : index
        %v = tile.load %f[b = %b, h = %h, u = %j] : !col -> !tile.tile<[u = 16], f32>
        tile.accumulate %v, %g[b = %b, g = %g0, u = %j] : !tile.tile<[u = 16], f32>, !tile.array<[b, g, u], f32>
      }
    }
  }
  // a[t] = f[offset + t]: keys at the queries' positions, 0 beyond them.
  tile.kernel @align grid(%b in b, %h in h, %i in ceildiv(t, 16)) {
    %c16 = arith.constant 16 : index
    %t0 = arith.muli %i, %c16 : index
    %offset = tile.size "offset"
    %p = arith.addi %t0, %offset : index
    %v = tile.load %f[b = %b, h = %h, u as t = %p] : !col -> !tile.tile<[t = 16], f32>
    tile.store %v, %a[b = %b, h = %h, t = %t0] : !tile.tile<[t = 16], f32>, !tile.array<[b, h, t], f32>
  }
  tile.kernel @integers grid(%b in b, %i in ceildiv(t, 16)) {
    %c16 = arith.constant 16 : index
    %t0 = arith.muli %i, %c16 : index
    %v = tile.load %n[b = %b, u as t = %t0] : !tile.array<[b, u], i32> -> !tile.tile<[t = 16], i32>
    %r = tile.map (%k = %v) : (!tile.tile<[t = 16], i32>) -> !tile.tile<[t = 16], i32> {
      %three = arith.constant 3 : i32
      %q = arith.muli %k, %three : i32
      tile.yield %q : i32
    }
    tile.store %r, %m[b = %b, t = %t0] : !tile.tile<[t = 16], i32>, !tile.array<[b, t], i32>
  }
}

// Reductions of all kinds over lanes, over rows and over both; products in both orders; a branch with a tile as its result.
!sum = !tile.array<[b, h], f32>
tile.program @reductions {
  %v = tile.tensor "input:v" : !tile.array<[b, h, u, e = 5], f32>
  %all = tile.tensor "output:all" : !sum
  %most = tile.tensor "output:most" : !tile.array<[b, h, e = 5], f32>
  %least = tile.tensor "output:least" : !tile.array<[b, h, x = 16], f32>
  %square = tile.tensor "output:square" : !tile.array<[b, h, e = 5, c = 5], f32>
  %pick = tile.tensor "output:pick" : !tile.array<[b, h, e = 5], f32>
  tile.kernel @k grid(%b in b, %h in h) {
    %c0 = arith.constant 0 : index
    %x = tile.load %v[b = %b, h = %h, u = %c0] : !tile.array<[b, h, u, e = 5], f32> -> !ue
    %x2 = tile.load %v[b = %b, h = %h, u = %c0, e as c = %c0] : !tile.array<[b, h, u, e = 5], f32> -> !tile.tile<[u = 16, c = 5], f32>
    %s = tile.reduce sum %x over(u, e) : !ue -> !tile.tile<[], f32>
    tile.store %s, %all[b = %b, h = %h] : !tile.tile<[], f32>, !sum
    %m = tile.reduce max %x over(u) : !ue -> !tile.tile<[e = 5], f32>
    tile.store %m, %most[b = %b, h = %h] : !tile.tile<[e = 5], f32>, !tile.array<[b, h, e = 5], f32>
    %l = tile.reduce min %x over(e) : !ue -> !tile.tile<[u = 16], f32>
    tile.store %l, %least[b = %b, h = %h, x as u = %c0] : !tile.tile<[u = 16], f32>, !tile.array<[b, h, x = 16], f32>
    %q = tile.dot %x, %x2 over(u) : !ue, !tile.tile<[u = 16, c = 5], f32> -> !tile.tile<[e = 5, c = 5], f32>
    tile.store %q, %square[b = %b, h = %h] : !tile.tile<[e = 5, c = 5], f32>, !tile.array<[b, h, e = 5, c = 5], f32>
    %first = arith.cmpi eq, %h, %c0 : index
    %p = scf.if %first -> (!tile.tile<[e = 5], f32>) {
      scf.yield %m : !tile.tile<[e = 5], f32>
    } else {
      %d = tile.dot %x, %l over(u) : !ue, !tile.tile<[u = 16], f32> -> !tile.tile<[e = 5], f32>
      scf.yield %d : !tile.tile<[e = 5], f32>
    }
    tile.store %p, %pick[b = %b, h = %h] : !tile.tile<[e = 5], f32>, !tile.array<[b, h, e = 5], f32>
  }
}

// Monomials of vectors in panels that end across orders and past the last one, plain and weighted, whole and in blocks; and their adjoint.
!vectors = !tile.array<[b, t, d = 6], f32>
!v = !tile.tile<[t = 16, d = 6], f32>
!monomials = !tile.array<[b, f = 84, t], f32>
!panel = !tile.tile<[f = 10, t = 16], f32>
#cubic = #tile.features<6, orders 0 to 3>
#blocks = #tile.features<6, orders 0 to 2, block 4>

tile.program @monomials {
  %x = tile.tensor "input:x" : !vectors
  %dy = tile.tensor "input:dy" : !monomials
  %p = tile.tensor "output:plain" : !monomials
  %w = tile.tensor "output:weighted" : !monomials
  %z = tile.tensor "output:blocks" : !tile.array<[b, f = 64, t], f32>
  %g = tile.tensor "output:adjoint" : !vectors
  tile.kernel @expand grid(%b in b, %i in ceildiv(t, 16)) {
    %c0 = arith.constant 0 : index
    %c10 = arith.constant 10 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c84 = arith.constant 84 : index
    %none = arith.constant 0.0 : f32
    %t0 = arith.muli %i, %c16 : index
    %v = tile.load %x[b = %b, t = %t0] : !vectors -> !v
    %start = tile.splat %none : f32 -> !v
    %sum = scf.for %f = %c0 to %c84 step %c10 iter_args(%s = %start) -> (!v) {
      %plain = tile.expand %v over(d) #cubic from %f to(f) : !v -> !panel
      tile.store %plain, %p[b = %b, f = %f, t = %t0] : !panel, !monomials
      %weighted = tile.expand %v over(d) #cubic from %f to(f) weights [2.0, 1.0, 0.5, -0.25] : !v -> !panel
      tile.store %weighted, %w[b = %b, f = %f, t = %t0] : !panel, !monomials
      %d = tile.load %dy[b = %b, f = %f, t = %t0] : !monomials -> !panel
      %next = tile.contract %d over(f) #cubic from %f at %v over(d) weights [2.0, 1.0, 0.5, -0.25] into %s : !panel, !v, !v -> !v
      scf.yield %next : !v
    }
    tile.store %sum, %g[b = %b, t = %t0] : !v, !vectors
    scf.for %f = %c0 to %c64 step %c10 {
      %some = tile.expand %v over(d) #blocks from %f to(f) weights [1.0, 1.0, 0.5] : !v -> !panel
      tile.store %some, %z[b = %b, f = %f, t = %t0] : !panel, !tile.array<[b, f = 64, t], f32>
    }
  }
}

// Memory of which one axis is there for its size alone: as many times T as makes 64 numbers, of which the first T are used. Beyond them, though in memory, there are no tokens.
!apart = !tile.array<[b, line = ceildiv(64, t), t], f32>
tile.program @apart {
  %x = tile.tensor "input:x" : !tile.array<[b, t], f32>
  %y = tile.tensor "output:y" : !tile.array<[b, t], f32>
  %w = tile.workspace "w" : !apart
  tile.kernel @put grid(%b in b, %i in ceildiv(t, 16)) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %t0 = arith.muli %i, %c16 : index
    %v = tile.load %x[b = %b, t = %t0] : !tile.array<[b, t], f32> -> !tile.tile<[t = 16], f32>
    tile.store %v, %w[b = %b, line = %c0, t = %t0] : !tile.tile<[t = 16], f32>, !apart
  }
  tile.kernel @get grid(%b in b, %i in ceildiv(t, 16)) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %t0 = arith.muli %i, %c16 : index
    %v = tile.load %w[b = %b, line = %c0, t = %t0] : !apart -> !tile.tile<[t = 16], f32>
    %sum = tile.reduce sum %v over(t) : !tile.tile<[t = 16], f32> -> !tile.tile<[], f32>
    %r = tile.map (%a = %v, %s = %sum) : (!tile.tile<[t = 16], f32>, !tile.tile<[], f32>) -> !tile.tile<[t = 16], f32> {
      %d = arith.addf %a, %s : f32
      tile.yield %d : f32
    }
    tile.store %r, %y[b = %b, t = %t0] : !tile.tile<[t = 16], f32>, !tile.array<[b, t], f32>
  }
}
