// What the grid of sums into columns is, and what becomes of sums into rows of the same pairs.
// RUN: taylor-opt %s --taylor-tile-pipeline=tiles=row-sums=separate,outer-queries=16,outer-keys=32,derived-queries=24,derived-keys=48,edge-keys=40 | FileCheck %s --check-prefix=SEPARATE
// RUN: taylor-opt %s --taylor-tile-pipeline=tiles=row-sums=atomic,outer-queries=16,outer-keys=32 | FileCheck %s --check-prefix=ATOMIC
// RUN: not taylor-opt %s --taylor-tile-pipeline=tiles=outer-keys=-1 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not taylor-opt %s --taylor-plan-tiles=tiles=rows=8 --taylor-plan-kernels --taylor-lower-to-tile 2>&1 | FileCheck %s --check-prefix=NAME
// NUMBER: expected tile sizes tokens=N,queries=N,keys=N,derived-queries=N,derived-keys=N,edge-keys=N,outer-queries=N,outer-keys=N,scalar-keys=N,blocks=N,row-sums=parts|separate|atomic,loops=split|single,query-begins=exact|aligned,masks=zeros|exact,row-factors=operands|weights,exponents=natural|binary,maps=again|once,block-bytes=N,product-bytes=N,form=parallel|chunked,chunk=N,balance=N,far-balance=N,near-bytes=N,feature-block=N,read-features=N,state-features=N,pass-features=N,heads=N,step-tokens=N,line-bytes=N,loop-operands=stored|rotated|computed,states=loop|grid,row-products=computed|stored,contiguous=channels|summed,kernels=apart|joined,products=f32|bf16|f16,operands=rounded|split with positive N, but got 'outer-keys=-1'
// NAME: error: expected tile sizes tokens=N,{{.*}} with positive N, but got 'rows=8'

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
!o = !taylor.array<[b, h, t, e = 8], f32>
!row = !taylor.array<[b, h, t], f32>
!head = !taylor.array<[h], f32>

// Two kernels, each with its own score tiles. Each block finishes what it sums: nothing is accumulated. The total is stored once per head and block of
// keys, and summed in a fixed order behind.
// SEPARATE-LABEL: tile.program @backward
// SEPARATE:         %[[DQ:.*]] = tile.tensor "gradient:q"
// SEPARATE:         %[[DK:.*]] = tile.tensor "gradient:k"
// SEPARATE:         %[[TOTAL:.*]] = tile.workspace "pairs.0" : !tile.array<[part = ceildiv(u, 32), b, h], f32>
// SEPARATE-NOT:     tile.accumulate
// SEPARATE:         tile.kernel @pairs grid(%{{.*}} in b, %{{.*}} in g, %{{.*}} in ceildiv(u, 32))
// SEPARATE-NOT:       over(u) into
// SEPARATE:             tile.dot {{.*}} over(d) : !tile.tile<[d = 16, t = 16], f32>, !tile.tile<[d = 16, u = 32], f32>
// SEPARATE:             tile.dot {{.*}} over(t) into
// SEPARATE:             tile.reduce sum {{.*}} over(t, u)
// SEPARATE:             tile.store %{{.*}}, %[[TOTAL]] [part = %{{.*}}, b = %{{.*}}, h = %{{.*}}] : !tile.tile<[], f32>
// SEPARATE:           tile.store %{{.*}}, %[[DK]]
// SEPARATE:         tile.kernel @attend grid(%{{.*}} in b, %{{.*}} in h, %{{.*}} in ceildiv(t, 24))
// SEPARATE:           scf.for
// SEPARATE:             tile.dot {{.*}} over(d) : !tile.tile<[d = 16, t = 24], f32>, !tile.tile<[d = 16, u = 48], f32>
// SEPARATE:             tile.dot {{.*}} over(u) into
// SEPARATE:           scf.for
// SEPARATE:             tile.dot {{.*}} over(d) : !tile.tile<[d = 16, t = 24], f32>, !tile.tile<[d = 16, u = 40], f32>
// SEPARATE:             tile.dot {{.*}} over(u) into
// SEPARATE:           tile.concat
// SEPARATE:           tile.store %{{.*}}, %[[DQ]]
// SEPARATE:         tile.kernel @combine
// SEPARATE:           tile.load %[[TOTAL]]

// One kernel; sums into rows have no parts, and are zero before.
// ATOMIC-LABEL: tile.program @backward
// ATOMIC:         %[[SUM:.*]] = tile.workspace "pairs.0" : !tile.array<[b, h, t, d = 16], f32>
// ATOMIC:         tile.kernel @pairs_zero grid(%{{.*}} in b, %{{.*}} in h, %{{.*}} in ceildiv(t, 16))
// ATOMIC:           tile.requested
// ATOMIC:           scf.if
// ATOMIC:             tile.store %{{.*}}, %[[SUM]]
// ATOMIC:         tile.kernel @pairs grid(%{{.*}} in b, %{{.*}} in g, %{{.*}} in ceildiv(u, 32))
// ATOMIC:             tile.dot {{.*}} over(d) : !tile.tile<[d = 16, t = 16], f32>, !tile.tile<[d = 16, u = 32], f32>
// ATOMIC:             tile.accumulate %{{.*}}, %[[SUM]] [b = %{{.*}}, h = %{{.*}}, t = %{{.*}}] atomic
// ATOMIC:         tile.kernel @finish_rows
// ATOMIC:           tile.load %[[SUM]]
taylor.function @f.backward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "saved:z" %z: !row, "input:a" %a: !head, "cotangent:o" %do: !o) {
  %dqr, %dk, %dv, %da = taylor.pairwise { s = dot(%q, %k), p = dot(%do, %v), w = exp(s * %a), ds = (p + %z) * w } visible(u <= t)
                       -> rows(ds, %k), columns(ds, %q), columns(w, %do), total(ds) : !q, !k, !o, !v, !head, !row -> !q, !k, !v, !head
  %dq = taylor.rope %dqr inverse : !q
  taylor.yield "gradient:q" %dq, "gradient:k" %dk, "gradient:v" %dv, "gradient:a" %da : !q, !k, !v, !head
}
