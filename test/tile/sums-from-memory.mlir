// Sums that begin in memory: a window of 24 lanes is no whole number of registers of the matrix unit, so it is copied.
// RUN: taylor-tile-check %s --shape=b=1,t=32,u=24 --target=x86-64-v3+emulated-tiles
// RUN: %if amx_bf16 %{ taylor-tile-check %s --shape=b=2,t=70,u=50 --target=sapphirerapids %}
!a = !tile.array<[b, t, d = 32], bf16>
!k = !tile.array<[b, d = 32, u], bf16>
!c = !tile.array<[b, t, u], f32>
!tu = !tile.tile<[t = 32, u = 24], f32>
tile.program @forward {
  %q = tile.tensor "input:q" : !a
  %k = tile.tensor "input:k" : !k
  %c = tile.tensor "input:c" : !c
  %o = tile.tensor "output:o" : !c
  tile.kernel @rows grid(%b in b, %i in ceildiv(t, 32), %j in ceildiv(u, 24)) {
    %c32 = arith.constant 32 : index
    %c24 = arith.constant 24 : index
    %t0 = arith.muli %i, %c32 : index
    %u0 = arith.muli %j, %c24 : index
    %Q = tile.load %q[b = %b, t = %t0] : !a -> !tile.tile<[t = 32, d = 32], bf16>
    %K = tile.load %k[b = %b, u = %u0] : !k -> !tile.tile<[d = 32, u = 24], bf16>
    %C = tile.load %c[b = %b, t = %t0, u = %u0] : !c -> !tu
    %S = tile.dot %Q, %K over(d) into %C : !tile.tile<[t = 32, d = 32], bf16>, !tile.tile<[d = 32, u = 24], bf16> -> !tu
    tile.store %S, %o[b = %b, t = %t0, u = %u0] : !tu, !c
  }
}
