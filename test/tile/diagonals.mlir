// Windows along diagonals: loads that repeat a number along each, sums that meet in one, stores that keep keys apart; lanes along
// either axis, tiles that reach beyond the array on both sides, 16-bit numbers.
// RUN: taylor-tile-check %s --shape=b=2,t=37,u=50
// RUN: taylor-tile-check %s --shape=b=1,t=64,u=48
// RUN: taylor-tile-check %s --shape=b=1,t=1,u=1
// RUN: taylor-tile-check %s --shape=b=1,t=70,u=33 --target=x86-64-v3
// RUN: sed s/bf16/f16/g %s > %t.mlir && taylor-tile-check %t.mlir --shape=b=2,t=37,u=50

!x = !tile.array<[b, lag], f32>
!n = !tile.array<[b, lag], bf16>
!tu = !tile.array<[b, t, u], f32>
!ut = !tile.array<[b, u, t], f32>
!walks = !tile.array<[b, part = 24, lag], f32>
!pair = !tile.tile<[t = 32, u = 24], f32>
!lags = !tile.tile<[lag = 40], f32>

tile.program @spread {
  %x = tile.tensor "input:x" : !x
  %n = tile.tensor "input:n" : !n
  %keys = tile.tensor "output:keys" : !tu
  %queries = tile.tensor "output:queries" : !ut
  %below = tile.tensor "output:below" : !tu
  %above = tile.tensor "output:above" : !ut
  %copy = tile.workspace "copy" : !x
  tile.kernel @copies grid(%b in b, %i in ceildiv(lag, 40)) {
    %c40 = arith.constant 40 : index
    %at = arith.muli %i, %c40 : index
    %v = tile.load %x[b = %b, lag = %at] : !x -> !lags
    tile.store %v, %copy[b = %b, lag = %at] : !lags, !x
  }
  tile.kernel @loads grid(%b in b, %i in ceildiv(t, 32), %j in ceildiv(u, 24)) {
    %c32 = arith.constant 32 : index
    %c24 = arith.constant 24 : index
    %t0 = arith.muli %i, %c32 : index
    %u0 = arith.muli %j, %c24 : index
    %U = tile.size "u"
    %d = arith.subi %t0, %u0 : index
    %lag = arith.addi %d, %U : index
    %a = tile.load %copy[b = %b, lag as t - u = %lag] : !x -> !pair
    tile.store %a, %keys[b = %b, t = %t0, u = %u0] : !pair, !tu
    %c = tile.load %copy[b = %b, lag as t - u = %lag] : !x -> !pair
    %e = tile.load %x[b = %b, lag as t - u = %lag] : !x -> !pair
    %s = tile.map (%p = %c, %q = %e) : (!pair, !pair) -> !pair {
      %r = arith.addf %p, %q : f32
      tile.yield %r : f32
    }
    tile.store %s, %queries[b = %b, u = %u0, t = %t0] : !pair, !ut
    %low = tile.load %n[b = %b, lag as t - u = %d] : !n -> !pair
    tile.store %low, %below[b = %b, t = %t0, u = %u0] : !pair, !tu
    %far = arith.addi %lag, %U : index
    %high = tile.load %n[b = %b, lag as t - u = %far] : !n -> !pair
    tile.store %high, %above[b = %b, u = %u0, t = %t0] : !pair, !ut
  }
}

tile.program @sums {
  %w = tile.tensor "input:w" : !tu
  %v = tile.tensor "input:v" : !ut
  %ofKeys = tile.tensor "output:ofKeys" : !x
  %ofQueries = tile.tensor "output:ofQueries" : !x
  %walks = tile.tensor "output:walks" : !walks
  tile.kernel @zeros grid(%b in b, %i in ceildiv(lag, 40)) {
    %c40 = arith.constant 40 : index
    %at = arith.muli %i, %c40 : index
    %zero = arith.constant 0.0 : f32
    %zeros = tile.splat %zero : f32 -> !lags
    tile.store %zeros, %ofKeys[b = %b, lag = %at] : !lags, !x
    tile.store %zeros, %ofQueries[b = %b, lag = %at] : !lags, !x
    %many = tile.splat %zero : f32 -> !tile.tile<[part = 24, lag = 40], f32>
    tile.store %many, %walks[b = %b, lag = %at] : !tile.tile<[part = 24, lag = 40], f32>, !walks
  }
  tile.kernel @accumulates grid(%b in b) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c24 = arith.constant 24 : index
    %T = tile.size "t"
    %U = tile.size "u"
    scf.for %t0 = %c0 to %T step %c32 {
      scf.for %u0 = %c0 to %U step %c24 {
        %d = arith.subi %t0, %u0 : index
        %lag = arith.addi %d, %U : index
        %a = tile.load %w[b = %b, t = %t0, u = %u0] : !tu -> !pair
        tile.accumulate %a, %ofKeys[b = %b, lag as t - u = %lag] : !pair, !x
        %c = tile.load %v[b = %b, u = %u0, t = %t0] : !ut -> !pair
        tile.accumulate %c, %ofQueries[b = %b, lag as t - u = %lag] : !pair, !x
      }
    }
  }
  tile.kernel @stores grid(%b in b) {
    %c0 = arith.constant 0 : index
    %U = tile.size "u"
    %a = tile.load %v[b = %b, u = %c0, t = %c0] : !ut -> !pair
    tile.store %a, %walks[b = %b, part as u = %c0, lag as t - u = %U] : !pair, !walks
  }
}
