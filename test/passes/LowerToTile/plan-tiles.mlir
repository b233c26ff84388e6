// A plan is an attribute: written, read back, replaced, and kept by the program. Each pass of the pipeline does what the plan of each function
// asks for, so that one pipeline serves functions with different plans.
// RUN: split-file %s %t
// RUN: taylor-opt %t/functions.mlir | taylor-opt | FileCheck %s --check-prefix=TEXT
// RUN: taylor-opt %t/functions.mlir --taylor-plan-tiles=tiles=row-sums=atomic,products=f16 | FileCheck %s --check-prefix=SET
// RUN: taylor-opt %t/functions.mlir --pass-pipeline='builtin.module(taylor-plan-kernels,taylor-lower-to-tile,taylor-narrow-products,taylor-join-kernels)' | FileCheck %s --check-prefix=TILE
// RUN: not taylor-opt %t/functions.mlir --taylor-plan-tiles=tiles=tokens=16,keyes=4 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: taylor-opt %t/invalid.mlir --split-input-file --verify-diagnostics

// Fields that are the defaults are not written.
// TEXT: taylor.function @first.forward of @first{{.*}} plan #tile.plan<queries = 16, keys = 32, products = bf16> {
// TEXT: taylor.function @second.forward of @second{{.*}} plan #tile.plan<queries = 32, row_sums = separate, kernels = joined> {
// TEXT: taylor.function @third.forward of @third{{.*}}] {

// SET-COUNT-3: plan #tile.plan<row_sums = atomic, products = f16> {

// TILE-LABEL: tile.program @first.forward plan #tile.plan<queries = 16, keys = 32, products = bf16> {
// TILE:         tile.kernel @{{.*}}ceildiv(t, 16)
// TILE:         tile.dot {{.*}} over(d) : !tile.tile<[d = 16, t = 16], bf16>, !tile.tile<[d = 16, u = 32], bf16>
// TILE-LABEL: tile.program @second.forward plan #tile.plan<queries = 32, row_sums = separate, kernels = joined> {
// TILE:         tile.kernel @{{.*}}ceildiv(t, 32)
// TILE:         tile.dot {{.*}} over(d) : !tile.tile<[d = 16, t = 32], f32>, !tile.tile<[d = 16, u = 128], f32>
// TILE-LABEL: tile.program @third.forward {
// TILE:         tile.dot {{.*}} over(d) : !tile.tile<[d = 16, t = 64], bf16>, !tile.tile<[d = 16, u = 128], bf16>

// OPTION: error: expected tile sizes tokens=N,{{.*}} with positive N, but got 'keyes=4'

//--- functions.mlir
!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
!o = !taylor.array<[b, h, t, e = 8], f32>

taylor.function @first.forward of @first("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] plan #tile.plan<queries = 16, keys = 32, products = bf16> {
  %n = taylor.pairwise { s = dot(%q, %k)  w = exp(s) } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}
// A field that holds its default, and none in order.
taylor.function @second.forward of @second("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] plan #tile.plan<row_sums = separate, keys = 128, queries = 32, kernels = joined> {
  %n = taylor.pairwise { s = dot(%q, %k)  w = exp(s) } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}
// Without a plan: sizes are the defaults, and a pass runs as its options say.
taylor.function @third.forward of @third("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %n = taylor.pairwise { s = dot(%q, %k)  w = exp(s) } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}

//--- invalid.mlir
!q = !taylor.array<[b, h, t, d = 16], f32>
// expected-error@+1 {{expected a field of the plan, but got 'queris'; fields are tokens, queries, keys, derived_queries}}
taylor.function @f.forward of @f("input:q" %q: !q) sources [projection] plan #tile.plan<queris = 16> {
  taylor.yield "output:q" %q : !q
}

// -----

!q = !taylor.array<[b, h, t, d = 16], f32>
// expected-error@+1 {{expected a number of at least 1 as queries, but got '0'}}
taylor.function @f.forward of @f("input:q" %q: !q) sources [projection] plan #tile.plan<queries = 0> {
  taylor.yield "output:q" %q : !q
}

// -----

!q = !taylor.array<[b, h, t, d = 16], f32>
// expected-error@+1 {{expected parts or separate or atomic as row_sums, but got 'sometimes'}}
taylor.function @f.forward of @f("input:q" %q: !q) sources [projection] plan #tile.plan<row_sums = sometimes> {
  taylor.yield "output:q" %q : !q
}

// -----

!q = !taylor.array<[b, h, t, d = 16], f32>
// expected-error@+1 {{'taylor.function' op expected #tile.plan<..> as its plan, but got "queries = 16"}}
taylor.function @f.forward of @f("input:q" %q: !q) sources [projection] plan "queries = 16" {
  taylor.yield "output:q" %q : !q
}
