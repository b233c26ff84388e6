// 16-bit storage, f32 arithmetic: rows that are no whole vectors, on targets with and without instructions for bf16.
// RUN: taylor-tile-check %s --shape=b=2,t=37
// RUN: taylor-tile-check %s --shape=b=1,t=5 --target=x86-64-v3
// RUN: %if avx512bw %{ taylor-tile-check %s --shape=b=1,t=37 --target=x86-64-v4 %}
// RUN: sed s/bf16/f16/g %s > %t.mlir && taylor-tile-check %t.mlir --shape=b=2,t=37
// RUN: taylor-tile-check %t.mlir --shape=b=1,t=37 --target=x86-64-v3

!x = !tile.array<[b, t, d = 18], bf16>
!td = !tile.tile<[t = 8, d = 18], f32>
tile.program @double {
  %x = tile.tensor "input:x" : !x
  %g = tile.tensor "input:g" : !tile.array<[b, t], bf16>
  %y = tile.tensor "output:y" : !x
  %z = tile.tensor "output:z" : !tile.array<[b, t], bf16>
  %wide = tile.tensor "output:wide" : !tile.array<[b, t, d = 18], f64>
  %s = tile.tensor "output:s" : !x
  tile.kernel @k grid(%b in b, %i in ceildiv(t, 8)) {
    %c8 = arith.constant 8 : index
    %t0 = arith.muli %i, %c8 : index
    %v = tile.load %x[b = %b, t = %t0] : !x -> !td
    %r = tile.load %g[b = %b, t = %t0] : !tile.array<[b, t], bf16> -> !tile.tile<[t = 8], f32>
    %w = tile.map (%a = %v, %c = %r) : (!td, !tile.tile<[t = 8], f32>) -> !td {
      %p = arith.mulf %a, %c : f32
      tile.yield %p : f32
    }
    tile.store %w, %y[b = %b, t = %t0] : !td, !x
    tile.store %w, %wide[b = %b, t = %t0] : !td, !tile.array<[b, t, d = 18], f64>
    %sum = tile.reduce sum %w over(d) : !td -> !tile.tile<[t = 8], f32>
    tile.store %sum, %z[b = %b, t = %t0] : !tile.tile<[t = 8], f32>, !tile.array<[b, t], bf16>
    tile.store %v, %s[b = %b, t = %t0] : !td, !x
    tile.accumulate %v, %s[b = %b, t = %t0] : !td, !x
  }
}
