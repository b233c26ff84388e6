// Where the mask acts: on a product where that makes every weight 0, else on the weights; in a loop of its own, or under a condition in one loop.
// RUN: taylor-opt %s --taylor-tile-pipeline | FileCheck %s --check-prefix=SPLIT
// RUN: taylor-opt %s --taylor-tile-pipeline=tiles=loops=single,queries=16,keys=32 | FileCheck %s --check-prefix=SINGLE
// RUN: taylor-opt %s --taylor-tile-pipeline=tiles=masks=exact | FileCheck %s --check-prefix=EXACT

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
!o = !taylor.array<[b, h, t, e = 8], f32>
!row = !taylor.array<[b, h, t], f32>
!col = !taylor.array<[b, g, u], f32>

// exp(-inf - m) = 0: one select, on the score, serves the maximum and the weights. In the single loop all else is written once.
// u <= t and u < U in one comparison per pair: t moves to U - 1 where it is beyond.
// SPLIT-LABEL: tile.program @exponential.forward
// SPLIT:         scf.for
// SPLIT-NOT:       arith.select
// SPLIT:         scf.for
// SPLIT:           %[[S:.*]] = tile.dot %{{.*}}, %{{.*}} over(d)
// SPLIT:           %[[LAST:.*]] = tile.map (%{{.*}} = %{{.*}}) : (!tile.tile<[t = 64], index>)
// SPLIT-NEXT:        arith.minsi
// SPLIT:           %[[MASKED:.*]] = tile.map (%[[U:.*]] = %{{.*}}, %[[T:.*]] = %[[LAST]], %{{.*}} = %[[S]])
// SPLIT-NEXT:        %[[VISIBLE:.*]] = arith.cmpi sle, %[[U]], %[[T]]
// SPLIT-NEXT:        arith.select %[[VISIBLE]], %{{.*}}, %[[LOW:.*]] : f32
// SPLIT-NOT:       arith.select
// SPLIT:           tile.map (%{{.*}} = %[[MASKED]], %{{.*}} = %{{.*}}) : (!tile.tile<[t = 64, u = 64], f32>, !tile.tile<[t = 64], f32>)
// SPLIT-NOT:         arith.select
// SPLIT:             math.exp
// SPLIT-NOT:       arith.select
// SPLIT:         tile.store
// SINGLE-LABEL: tile.program @exponential.forward
// SINGLE:          scf.for
// SINGLE:            %[[CUT:.*]] = arith.cmpi sgt
// SINGLE:            %[[S:.*]] = tile.dot %{{.*}}, %{{.*}} over(d) : !tile.tile<[d = 16, t = 16], f32>, !tile.tile<[d = 16, u = 32], f32>
// SINGLE-NEXT:       %[[MASKED:.*]] = scf.if %[[CUT]] -> (!tile.tile<[t = 16, u = 32], f32>) {
// SINGLE:              arith.select
// SINGLE-NOT:          arith.select
// SINGLE:            } else {
// SINGLE-NEXT:         scf.yield %[[S]]
// SINGLE:            tile.reduce max
// SINGLE:            tile.map (%{{.*}} = %[[MASKED]], %{{.*}} = %{{.*}}) : (!tile.tile<[t = 16, u = 32], f32>, !tile.tile<[t = 16], f32>)
// SINGLE-NOT:        tile.dot {{.*}} over(d)
// SINGLE:            tile.dot %{{.*}} over(u) into
// SINGLE-NOT:      scf.for
taylor.function @exponential.forward of @exponential("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n, %z, %m = taylor.pairwise { s = dot(%q, %k), m = maximum(s * 0.25), w = exp(s * 0.25 - m) } visible(u <= t)
               -> rows(w, %v), rows(w), maximum : !q, !k, !v -> !o, !row, !row
  taylor.yield "output:n" %n, "output:z" %z : !o, !row
}

// A key that no row of a tile sees is not loaded, since it may hold NaN; or else products of a tile that the mask cuts say which pairs count.
// SPLIT-LABEL: tile.program @linear.forward
// SPLIT:         tile.load %{{.*}} until(u = %[[END:.*]]) : !tile.array<[b, g, u, d = 16], f32>
// EXACT-LABEL: tile.program @exponential.forward
// EXACT-NOT:     until
// EXACT:         scf.for
// EXACT:           tile.dot %{{.*}}, %{{.*}} over(u) into
// EXACT:         scf.for
// EXACT:           %[[W:.*]] = tile.map {{.*}} {
// EXACT:             math.exp
// EXACT:           %[[VISIBLE:.*]] = tile.map {{.*}} -> !tile.tile<[t = 64, u = 64], i1> {
// EXACT-NEXT:        arith.cmpi sle
// EXACT:           tile.dot %{{.*}}, %{{.*}} over(u) where %[[VISIBLE]] : !tile.tile<[t = 64, u = 64], i1> into

// The weight is linear in the score, but a factor of the key may be NaN too: so the mask is not on the score.
// SINGLE-LABEL: tile.program @linear.forward
// SINGLE:            scf.if
// SINGLE:              arith.select %{{.*}}, %{{.*}}, %[[ZERO:.*]] : f32
// SINGLE:            } else {
// SINGLE-NOT:        arith.select
// SINGLE:            tile.dot %{{.*}} over(u) into
taylor.function @linear.forward of @linear("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:c" %c: !col) {
  %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * %c, %v) : !q, !k, !col, !v -> !o
  taylor.yield "output:n" %n : !o
}

// No value of the score makes 1 + s vanish for every key: the mask is on the weight, which is computed once.
// SINGLE-LABEL: tile.program @series.forward
// SINGLE:            %[[S:.*]] = tile.dot %{{.*}}, %{{.*}} over(d)
// SINGLE-NEXT:       %[[W:.*]] = tile.map (%{{.*}} = %[[S]])
// SINGLE:            %[[MASKED:.*]] = scf.if
// SINGLE:              arith.select
// SINGLE:              scf.yield %[[W]]
// SINGLE:            tile.dot %[[MASKED]], %{{.*}} over(u) into
// SINGLE:            tile.reduce sum %[[MASKED]] over(u)
taylor.function @series.forward of @series("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n, %z = taylor.pairwise { s = dot(%q, %k), w = 1.0 + s + s * s } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  taylor.yield "output:n" %n, "output:z" %z : !o, !row
}

// Sums over keys whose tile is computed in place: beyond the last key 1 / c may be infinite, and 0 times that is no number. So the mask stays on the weights.
// Queries beyond the last one move before all keys, keys beyond the last one behind all queries: one comparison again.
// SPLIT-LABEL: tile.program @computed.backward
// SPLIT:         tile.kernel @pairs
// SPLIT:             arith.select %{{.*}}, %{{.*}}, %c-1{{.*}} : index
// SPLIT:             arith.select %{{.*}}, %{{.*}}, %c2147483647{{.*}} : index
// SPLIT:             arith.cmpi sle
// SPLIT:             arith.select %{{.*}}, %{{.*}}, %[[ZERO:.*]] : f32
// SPLIT-NEXT:        arith.select %{{.*}}, %{{.*}}, %[[ZERO]] : f32
// SPLIT-NEXT:        tile.yield
taylor.function @computed.backward of @computed("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:c" %c: !col, "cotangent:n" %dn: !o) {
  %h = taylor.map 1.0 / %c : !col
  %dq, %dk, %dv = taylor.pairwise { s = dot(%q, %k), p = dot(%dn, %v), w = exp(s) * %h, ds = p * w } visible(u <= t)
             -> rows(ds, %k), columns(ds, %q), columns(w, %dn) : !q, !k, !o, !v, !col -> !q, !k, !v
  taylor.yield "gradient:q" %dq, "gradient:k" %dk, "gradient:v" %dv : !q, !k, !v
}

// Either of two conditions: one interval around both. A block of queries p0 .. p1 sees keys up to max(p1, 39), all of them up to max(p0, 39).
// SINGLE-LABEL: tile.program @prefix.forward
// SINGLE:          %[[C40:.*]] = arith.constant 40 : index
// SINGLE:          %[[KEYS:.*]] = tile.size "u"
// SINGLE:          %[[FULL:.*]] = arith.minsi %[[KEYS]], %{{.*}} : index
// SINGLE:          %[[END:.*]] = arith.minsi %[[KEYS]], %{{.*}} : index
// SINGLE:          %[[PREFIX:.*]] = arith.minsi %[[KEYS]], %[[C40]] : index
// SINGLE-DAG:      %[[FULL2:.*]] = arith.maxsi %[[FULL]], %[[PREFIX]] : index
// SINGLE-DAG:      %[[A:.*]] = arith.select %{{.*}}, %[[END]], %{{.*}} : index
// SINGLE-DAG:      %[[B:.*]] = arith.select %{{.*}}, %[[PREFIX]], %{{.*}} : index
// SINGLE-DAG:      %[[BOTH:.*]] = arith.maxsi %[[A]], %[[B]] : index
// SINGLE-DAG:      %[[LAST:.*]] = arith.maxsi %[[BOTH]], %{{.*}} : index
// SINGLE:          scf.for %[[J:.*]] = %{{.*}} to %[[LAST]] step %[[STEP:[a-z0-9]*]]
// SINGLE-NEXT:       %[[PAST:.*]] = arith.addi %[[J]], %[[STEP]] : index
// SINGLE-NEXT:       arith.cmpi sgt, %[[PAST]], %[[FULL2]] : index
taylor.function @prefix.forward of @prefix("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n = taylor.pairwise { s = dot(%q, %k), w = 1.0 + s } visible(or(u <= t, u < 40.0)) -> rows(w, %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}

// Where the causal diagonal alone cuts, what is in memory may spoil other tokens of its tile: one select, on the score, serves both weights. Keys that no query sees are loaded as 0. Where documents are apart too, a token may have no visible pair in the tile: each weight is masked.
// SINGLE-LABEL: tile.program @stored.backward
// SINGLE:         tile.kernel @pairs
// SINGLE:           %[[SEEN:.*]] = arith.minsi %{{.*}}, %{{.*}} : index
// SINGLE:           tile.load {{.*}} until(u = %[[SEEN]]) : !tile.array<[b, g, u, d = 16], f32>
// SINGLE:           scf.if {{.*}} -> (!tile.tile<[t = {{[0-9]+}}, u = {{[0-9]+}}], f32>) {
// SINGLE:             arith.select {{.*}} : f32
// SINGLE-NOT:         arith.select {{.*}} : f32
// SINGLE:           } else {
// SINGLE-NOT:       scf.if {{.*}} -> (
// SINGLE:           tile.dot {{.*}} over(t) into
taylor.function @stored.backward of @stored("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:n" %dn: !o) {
  %dk, %dv = taylor.pairwise { s = dot(%q, %k), p = dot(%dn, %v), w = exp(s), ds = p * w } visible(u <= t)
             -> columns(ds, %q), columns(w, %dn) : !q, !k, !o, !v -> !k, !v
  taylor.yield "gradient:k" %dk, "gradient:v" %dv : !k, !v
}

// SINGLE-LABEL: tile.program @documents.backward
// SINGLE:         tile.kernel @pairs
// SINGLE:             arith.cmpf oeq
// SINGLE:             arith.select %[[PAIR:[0-9]+]], {{.*}} : f32
// SINGLE-NEXT:        arith.select %[[PAIR]], {{.*}} : f32
taylor.function @documents.backward of @documents("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:of" %of: !taylor.array<[b, u], f32>, "cotangent:n" %dn: !o) {
  %own = taylor.align %of to t : !taylor.array<[b, u], f32>
  %dk, %dv = taylor.pairwise { s = dot(%q, %k), p = dot(%dn, %v), w = exp(s), ds = p * w } visible(u <= t, %own == %of)
             -> columns(ds, %q), columns(w, %dn) : !q, !k, !o, !v, !taylor.array<[b, t], f32>, !taylor.array<[b, u], f32> -> !k, !v
  taylor.yield "gradient:k" %dk, "gradient:v" %dv : !k, !v
}

// What else reads keys, behind the sums, loads those too that no query sees.
// SINGLE-LABEL: tile.program @epilogue.backward
// SINGLE:         tile.kernel @pairs
// SINGLE:           tile.load {{.*}} until(u = %{{.*}}) : !tile.array<[b, g, u, d = 16], f32>
// SINGLE:           scf.for
// SINGLE:           %[[K:.*]] = tile.load %{{[0-9]+}} [b = %{{.*}}, g = %{{.*}}, u = %{{[a-z0-9]+}}] : !tile.array<[b, g, u, d = 16], f32>
// SINGLE:           tile.map ({{.*}} = %[[K]]{{.*}})
// SINGLE:             arith.mulf
taylor.function @epilogue.backward of @epilogue("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:n" %dn: !o) {
  %dk, %dv = taylor.pairwise { s = dot(%q, %k), p = dot(%dn, %v), w = exp(s), ds = p * w } visible(u <= t)
             -> columns(ds, %q), columns(w, %dn) : !q, !k, !o, !v -> !k, !v
  %y = taylor.map %dk + %k * %k : !k, !k
  taylor.yield "gradient:k" %y, "gradient:v" %dv : !k, !v
}
