// A mask whose edge is a constant: sums of pairs and of blocks begin at whole steps there too, where the masked operand holds zeros.
// RUN: %if avx512_bf16 %{ taylor-tile-check %s --shape=b=1,t=32,u=128 --tolerance=3e-4 --target=znver4 %}
// RUN: taylor-tile-check %s --shape=b=1,t=32,u=128 --tolerance=3e-4 --target=x86-64-v3+emulated-tiles
// RUN: %if amx_bf16 %{ taylor-tile-check %s --shape=b=1,t=32,u=128 --tolerance=3e-4 --target=sapphirerapids %}
!q = !tile.array<[b, t, d = 32], bf16>
!k = !tile.array<[b, u, d = 32], bf16>
!v = !tile.array<[b, u, e = 32], bf16>
!tu = !tile.tile<[t = 32, u = 128], f32>
!tu16 = !tile.tile<[t = 32, u = 128], bf16>
!te = !tile.tile<[t = 32, e = 32], f32>
tile.program @forward {
  %q = tile.tensor "input:q" : !q
  %k = tile.tensor "input:k" : !k
  %v = tile.tensor "input:v" : !v
  %o = tile.tensor "output:o" : !tile.array<[b, t, e = 32], f32>
  tile.kernel @rows grid(%b in b) {
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %zero = arith.constant 0.0 : f32
    %Q = tile.load %q[b = %b, t = %c0] : !q -> !tile.tile<[t = 32, d = 32], bf16>
    %K = tile.load %k[b = %b, u = %c0] : !k -> !tile.tile<[u = 128, d = 32], bf16>
    %V = tile.load %v[b = %b, u = %c0] : !v -> !tile.tile<[u = 128, e = 32], bf16>
    %S = tile.dot %Q, %K over(d) : !tile.tile<[t = 32, d = 32], bf16>, !tile.tile<[u = 128, d = 32], bf16> -> !tu
    %au = tile.position from %c0 : !tile.tile<[u = 128], index>
    %W = tile.map (%a = %S, %c = %au) : (!tu, !tile.tile<[u = 128], index>) -> !tu16 {
      %seen = arith.cmpi sge, %c, %c5 : index
      %masked = arith.select %seen, %a, %zero : f32
      %narrow = arith.truncf %masked : f32 to bf16
      tile.yield %narrow : bf16
    }
    %O = tile.dot %W, %V over(u) : !tu16, !tile.tile<[u = 128, e = 32], bf16> -> !te
    tile.store %O, %o[b = %b, t = %c0] : !te, !tile.array<[b, t, e = 32], f32>
  }
}
