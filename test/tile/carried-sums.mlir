// The same where a product on the matrix unit adds to the first: its sums begin in place only if nothing reads the old ones later.
// RUN: taylor-tile-check %s --shape=b=2,t=32 --tolerance=3e-4 --target=x86-64-v3+emulated-tiles
// RUN: %if amx_bf16 %{ taylor-tile-check %s --shape=b=2,t=32 --tolerance=3e-4 --target=sapphirerapids %}
!z = !tile.array<[b, t, d = 32], f32>
!h = !tile.array<[b, t, d = 32], bf16>
!td = !tile.tile<[t = 32, d = 32], f32>
tile.program @forward {
  %z = tile.tensor "input:z" : !z
  %h = tile.tensor "input:h" : !h
  %g = tile.tensor "input:g" : !tile.array<[b, d = 32, e = 32], bf16>
  %o = tile.tensor "output:o" : !z
  %p = tile.tensor "output:p" : !z
  tile.kernel @rows grid(%b in b) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %two = arith.constant 2.0 : f32
    %T = tile.size "t"
    %none = tile.splat %zero : f32 -> !tile.tile<[t = 32, e = 32], f32>
    %r:2 = scf.for %t0 = %c0 to %T step %c32 iter_args(%X = %none, %Y = %none) -> (!tile.tile<[t = 32, e = 32], f32>, !tile.tile<[t = 32, e = 32], f32>) {
      %Z = tile.load %z[b = %b, t = %t0, d as e = %c0] : !z -> !tile.tile<[t = 32, e = 32], f32>
      %H = tile.load %h[b = %b, t = %t0] : !h -> !tile.tile<[t = 32, d = 32], bf16>
      %G = tile.load %g[b = %b] : !tile.array<[b, d = 32, e = 32], bf16> -> !tile.tile<[d = 32, e = 32], bf16>
      %X1 = tile.map (%a = %Z) : (!tile.tile<[t = 32, e = 32], f32>) -> !tile.tile<[t = 32, e = 32], f32> {
        %s = arith.mulf %a, %two : f32
        tile.yield %s : f32
      }
      %Y2 = tile.map (%a = %X, %c = %Y) : (!tile.tile<[t = 32, e = 32], f32>, !tile.tile<[t = 32, e = 32], f32>) -> !tile.tile<[t = 32, e = 32], f32> {
        %s = arith.addf %a, %c : f32
        tile.yield %s : f32
      }
      %X2 = tile.dot %H, %G over(d) into %X1 : !tile.tile<[t = 32, d = 32], bf16>, !tile.tile<[d = 32, e = 32], bf16> -> !tile.tile<[t = 32, e = 32], f32>
      scf.yield %X2, %Y2 : !tile.tile<[t = 32, e = 32], f32>, !tile.tile<[t = 32, e = 32], f32>
    }
    tile.store %r#0, %o[b = %b, t = %c0, d as e = %c0] : !tile.tile<[t = 32, e = 32], f32>, !z
    tile.store %r#1, %p[b = %b, t = %c0, d as e = %c0] : !tile.tile<[t = 32, e = 32], f32>, !z
  }
}
