// A loop hands on two tiles; the second needs what the first was before, and both are computed in one sweep.
// RUN: taylor-tile-check %s --shape=b=2,t=32
// RUN: taylor-tile-check %s --shape=b=2,t=32 --target=x86-64-v3
!z = !tile.array<[b, t, d = 32], f32>
!td = !tile.tile<[t = 32, d = 32], f32>
tile.program @forward {
  %z = tile.tensor "input:z" : !z
  %o = tile.tensor "output:o" : !tile.array<[b, t, d = 32], f32>
  %p = tile.tensor "output:p" : !tile.array<[b, t, d = 32], f32>
  tile.kernel @rows grid(%b in b) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %two = arith.constant 2.0 : f32
    %T = tile.size "t"
    %none = tile.splat %zero : f32 -> !td
    %r:2 = scf.for %t0 = %c0 to %T step %c32 iter_args(%X = %none, %Y = %none) -> (!td, !td) {
      %Z = tile.load %z[b = %b, t = %t0] : !z -> !td
      %X2 = tile.map (%a = %Z) : (!td) -> !td {
        %s = arith.mulf %a, %two : f32
        tile.yield %s : f32
      }
      %Y2 = tile.map (%a = %X, %c = %Y) : (!td, !td) -> !td {
        %s = arith.addf %a, %c : f32
        tile.yield %s : f32
      }
      scf.yield %X2, %Y2 : !td, !td
    }
    tile.store %r#0, %o[b = %b, t = %c0] : !td, !tile.array<[b, t, d = 32], f32>
    tile.store %r#1, %p[b = %b, t = %c0] : !td, !tile.array<[b, t, d = 32], f32>
  }
}
