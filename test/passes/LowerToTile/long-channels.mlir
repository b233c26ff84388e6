// A formula of arrays without tokens and with many channels, as gradients of states are, is computed in blocks of channels: one block with all of them
// was most of a program's code (a state of order 4 and 24 channels has 20475 features).
// RUN: taylor-opt %s --taylor-plan-tiles="tiles=state-features=24" --taylor-plan-kernels --taylor-lower-to-tile | FileCheck %s
// RUN: taylor-run %S/../Inputs/decayed-series.mlir --device=cpu --check --grad --poison --states=3,20 --shape b=2,h=4,g=2,t=40,u=40,d=24,e=8
// RUN: %when_full taylor-run %S/../Inputs/decayed-series.mlir --device=ptx --check --grad --poison --states=3,20 --shape b=1,h=2,g=1,t=40,u=40,d=24,e=16

!state = !taylor.array<[b, g, f = 300, e = 4], f32>
!mass = !taylor.array<[b, g, f = 300], f32>
!sums = !taylor.array<[b, g, e = 4], f32>
!short = !taylor.array<[b, g, f = 200, e = 4], f32>

// What has the same axes and as many channels shares a kernel.
// CHECK-LABEL: tile.program @forward
// CHECK:      tile.kernel @combine grid(%{{.*}} in b, %{{.*}} in g, %[[BLOCK:.*]] in 13)
// CHECK:        %[[START:.*]] = arith.muli %[[BLOCK]], %c24
// CHECK:        tile.load %{{.*}} [b = %{{.*}}, g = %{{.*}}, f = %[[START]]] : !tile.array<[b, g, f = 300, e = 4], f32> -> !tile.tile<[e = 4, f = 24], f32>
// CHECK:        tile.store %{{.*}} [b = %{{.*}}, g = %{{.*}}, f = %[[START]]] : !tile.tile<[e = 4, f = 24], f32>
// A formula may read the number of a channel.
// CHECK:        tile.position from %[[START]] : !tile.tile<[f = 24], index>
// CHECK:        tile.store %{{.*}} [b = %{{.*}}, g = %{{.*}}, f = %[[START]]] : !tile.tile<[f = 24], f32>
// Few channels are one block.
// CHECK:      tile.kernel @combine_2 grid(%{{.*}} in b, %{{.*}} in g) {
// CHECK:        tile.store %{{.*}} [b = %{{.*}}, g = %{{.*}}] : !tile.tile<[e = 4, f = 200], f32>
// What is summed over them is in one block too.
// CHECK:        tile.reduce sum
taylor.function @sums.forward of @sums("input:a" %a: !state, "input:b" %b: !state, "input:m" %m: !mass, "input:c" %c: !short) {
  %y = taylor.map %a + 2.0 * %b : !state, !state -> !state
  %z = taylor.map %m * f : !mass -> !mass
  %s = taylor.map 3.0 * %c : !short -> !short
  %r = taylor.reduce sum over(f) %a * %a : !state -> !sums
  taylor.yield "output:y" %y, "output:z" %z, "output:s" %s, "output:r" %r : !state, !mass, !short, !sums
}
