// Bounds of loops that lie in memory: each block sums from a place that an earlier kernel wrote; beyond an array's bounds that is 0.
// RUN: taylor-tile-check %s --shape=b=2,t=37
// RUN: taylor-tile-check %s --shape=b=1,t=64 --target=x86-64-v3
// RUN: sed s/f32/f64/g %s > %t.mlir && taylor-tile-check %t.mlir --shape=b=2,t=37

!x = !tile.array<[b, t], f32>
!t = !tile.tile<[t = 8], f32>
tile.program @sums {
  %x = tile.tensor "input:x" : !x
  %y = tile.tensor "output:y" : !x
  %z = tile.tensor "output:z" : !x
  %starts = tile.workspace "starts" : !x
  // Half of each position.
  tile.kernel @places grid(%b in b, %i in ceildiv(t, 8)) {
    %c8 = arith.constant 8 : index
    %t0 = arith.muli %i, %c8 : index
    %positions = tile.position from %t0 : !tile.tile<[t = 8], index>
    %halves = tile.map (%p = %positions) : (!tile.tile<[t = 8], index>) -> !t {
      %c2 = arith.constant 2 : index
      %half = arith.divui %p, %c2 : index
      %integer = arith.index_cast %half : index to i32
      %real = arith.sitofp %integer : i32 to f32
      tile.yield %real : f32
    }
    tile.store %halves, %starts[b = %b, t = %t0] : !t, !x
  }
  tile.kernel @sums grid(%b in b, %i in ceildiv(t, 8)) {
    %c8 = arith.constant 8 : index
    %T = tile.size "t"
    %t0 = arith.muli %i, %c8 : index
    %zero = arith.constant 0.0 : f32
    %none = tile.splat %zero : f32 -> !t
    %first = tile.lookup %starts[%b, %t0] : !x
    %sum = scf.for %j = %first to %T step %c8 iter_args(%before = %none) -> (!t) {
      %v = tile.load %x[b = %b, t = %j] : !x -> !t
      %after = tile.map (%s = %before, %a = %v) : (!t, !t) -> !t {
        %0 = arith.addf %s, %a : f32
        tile.yield %0 : f32
      }
      scf.yield %after : !t
    }
    tile.store %sum, %y[b = %b, t = %t0] : !t, !x
    %past = arith.addi %t0, %T : index
    %outside = tile.lookup %starts[%b, %past] : !x
    %w = tile.load %x[b = %b, t = %outside] : !x -> !t
    tile.store %w, %z[b = %b, t = %t0] : !t, !x
  }
}
