// Monomials of one vector lie in lanes, in runs of neighbours; panels that begin and end inside of runs and orders, and past the last feature.
// Then a state's panel is added to, stored and summed over its rows.
// RUN: taylor-tile-check %s --shape=b=3
// RUN: taylor-tile-check %s --shape=b=2 --target=x86-64-v3
// RUN: %if avx512bw %{ taylor-tile-check %s --shape=b=2 --target=x86-64-v4 %}
// RUN: sed s/f32/f64/g %s > %t.mlir && taylor-tile-check %t.mlir --shape=b=2

!x = !tile.array<[b, d = 21], f32>
!p = !tile.array<[b, f = 2024], f32>
!h = !tile.array<[b, f = 2024, e = 40], f32>
tile.program @features {
  %x = tile.tensor "input:x" : !x
  %v = tile.tensor "input:v" : !tile.array<[b, e = 40], f32>
  %h = tile.tensor "input:h" : !h
  %p = tile.tensor "output:p" : !p
  %w = tile.tensor "output:w" : !p
  %s = tile.tensor "output:s" : !h
  %o = tile.tensor "output:o" : !tile.array<[b, panel = 85, e = 40], f32>
  tile.kernel @panels grid(%b in b, %i in 85) {
    %c24 = arith.constant 24 : index
    %f0 = arith.muli %i, %c24 : index
    %X = tile.load %x[b = %b] : !x -> !tile.tile<[d = 21], f32>
    %V = tile.load %v[b = %b] : !tile.array<[b, e = 40], f32> -> !tile.tile<[e = 40], f32>
    %P = tile.expand %X over(d) <21, orders 0 to 3> from %f0 to(f) : !tile.tile<[d = 21], f32> -> !tile.tile<[f = 24], f32>
    tile.store %P, %p[b = %b, f = %f0] : !tile.tile<[f = 24], f32>, !p
    %W = tile.expand %X over(d) <21, orders 0 to 3> from %f0 to(f) weights [1.0, 0.5, 0.25, -0.125] : !tile.tile<[d = 21], f32> -> !tile.tile<[f = 24], f32>
    tile.store %W, %w[b = %b, f = %f0] : !tile.tile<[f = 24], f32>, !p
    %H = tile.load %h[b = %b, f = %f0] : !h -> !tile.tile<[e = 40, f = 24], f32>
    %S = tile.map (%k = %P, %y = %V, %before = %H) : (!tile.tile<[f = 24], f32>, !tile.tile<[e = 40], f32>, !tile.tile<[e = 40, f = 24], f32>) -> !tile.tile<[e = 40, f = 24], f32> {
      %0 = math.fma %k, %y, %before : f32
      tile.yield %0 : f32
    }
    tile.store %S, %s[b = %b, f = %f0] : !tile.tile<[e = 40, f = 24], f32>, !h
    %R = tile.map (%q = %W, %state = %S) : (!tile.tile<[f = 24], f32>, !tile.tile<[e = 40, f = 24], f32>) -> !tile.tile<[e = 40, f = 24], f32> {
      %0 = arith.mulf %q, %state : f32
      tile.yield %0 : f32
    }
    %O = tile.reduce sum %R over(f) : !tile.tile<[e = 40, f = 24], f32> -> !tile.tile<[e = 40], f32>
    tile.store %O, %o[b = %b, panel = %i] : !tile.tile<[e = 40], f32>, !tile.array<[b, panel = 85, e = 40], f32>
  }
}
