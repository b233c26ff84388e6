// Gradients of parameters: sums over blocks of tokens, then heads, then batches.
// RUN: taylor-opt %s --taylor-tile-pipeline=tiles=row-sums=separate | FileCheck %s --check-prefix=MANY
// RUN: taylor-opt %s --taylor-tile-pipeline=tiles=row-sums=parts | FileCheck %s --check-prefix=FEW

!o = !taylor.array<[b, h, t, e = 64], f32>
!wide = !taylor.array<[b, h, t, e = 64, r = 160], f32>
!weight = !taylor.array<[e = 64], f32>

// Where a target wants many blocks each step has blocks of its own, which add 32 numbers at a time.
// MANY-LABEL: tile.program @norm.backward
// MANY:         tile.kernel @rows grid(%{{.*}} in b, %{{.*}} in h, %{{.*}} in ceildiv(t, 64))
// MANY:           tile.store %{{.*}}, %[[BLOCKS:.*]] [b = %{{.*}}, h = %{{.*}}, block = %{{.*}}]
// MANY:         tile.kernel @combine grid(%[[B:.*]] in b, %[[H:.*]] in h)
// MANY:           %[[COUNT:.*]] = arith.ceildivsi %{{.*}}, %c64
// MANY:           scf.for %[[I:.*]] = %c0 to %[[COUNT]] step %c32
// MANY:             %[[X:.*]] = tile.load %[[BLOCKS]] [b = %[[B]], h = %[[H]], block = %[[I]]] : {{.*}} -> !tile.tile<[block = 32, e = 64], f32>
// MANY:             tile.reduce sum %[[X]] over(block)
// MANY:         tile.kernel @combine_2 grid(%[[B:.*]] in b)
// MANY:           scf.for %[[I:.*]] = %c0 to %{{.*}} step %c32
// MANY:             tile.load %{{.*}} [b = %[[B]], h as block = %[[I]]] : {{.*}} -> !tile.tile<[block = 32, e = 64], f32>
// MANY:         tile.kernel @combine_3 grid()
// MANY:           tile.load %{{.*}} [b as block = %{{.*}}] : {{.*}} -> !tile.tile<[block = 32, e = 64], f32>

// Else one block adds all of them, one after the other.
// FEW-LABEL: tile.program @norm.backward
// FEW:         tile.kernel @combine grid()
// FEW:           tile.load %{{.*}} [b = %{{.*}}, h = %{{.*}}, block = %{{.*}}] : {{.*}} -> !tile.tile<[e = 64], f32>
// FEW-NOT:     tile.kernel @combine
taylor.function @norm.backward of @norm("input:x" %x: !o, "cotangent:o" %do: !o) {
  %dw = taylor.reduce sum over(b, h, t) %do * %x : !o, !o -> !weight
  taylor.yield "gradient:w" %dw : !weight
}

// What fills a block by itself is added one after the other.
// MANY-LABEL: tile.program @wide.backward
// MANY:         tile.kernel @combine grid(%{{.*}} in b, %{{.*}} in h)
// MANY:           scf.for {{.*}} step %c1
// MANY:             tile.load %{{.*}} [b = %{{.*}}, h = %{{.*}}, block = %{{.*}}] : {{.*}} -> !tile.tile<[e = 64, r = 160], f32>
// FEW-LABEL: tile.program @wide.backward
taylor.function @wide.backward of @wide("cotangent:o" %do: !wide) {
  %dw = taylor.reduce sum over(b, h, t) %do : !wide -> !taylor.array<[e = 64, r = 160], f32>
  taylor.yield "gradient:w" %dw : !taylor.array<[e = 64, r = 160], f32>
}

// A sum over channels, too, is that of its formula.
// MANY-LABEL: tile.program @channels
// MANY:         tile.load %{{.*}} [b = %{{.*}}, h = %{{.*}}, t = %{{.*}}] : {{.*}} -> !tile.tile<[e = 64, t = 64], f32>
// MANY:         tile.reduce sum %{{.*}} over(e)
taylor.function @channels of @channels("input:x" %x: !o) {
  %m = taylor.reduce mean over(h, e) %x : !o -> !taylor.array<[b, t], f32>
  taylor.yield "output:m" %m : !taylor.array<[b, t], f32>
}
