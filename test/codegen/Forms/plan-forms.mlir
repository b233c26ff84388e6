// Which forms functions have on a target: each gets a plan and says its form; with alternatives there are twins in the chunked form, and those that
// cannot be go in taylor-chunk-sums, and the reason stays. taylor-choose-forms keeps the twins that pay.
// RUN: split-file %s %t
// RUN: taylor-opt %t/series.mlir --taylor-plan-forms=target=x86-64-v3 | FileCheck %s --check-prefix=ONE --implicit-check-not='taylor.function @'
// RUN: taylor-opt %t/series.mlir --taylor-plan-forms='target=x86-64-v3 form=chunked' | FileCheck %s --check-prefix=ASKED --implicit-check-not='taylor.function @'
// RUN: taylor-opt %t/series.mlir --taylor-plan-forms='target=x86-64-v3 alternatives' | FileCheck %s --check-prefix=TWINS
// RUN: taylor-opt %t/exponential.mlir --taylor-plan-forms='target=x86-64-v3 alternatives' --taylor-chunk-sums --mlir-pass-statistics 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not=forward_chunked --implicit-check-not=error
// RUN: taylor-opt %t/series.mlir --taylor-plan-forms='target=x86-64-v3 alternatives' --taylor-chunk-sums --taylor-choose-forms=target=x86-64-v3 | FileCheck %s --check-prefix=PAYS
// RUN: taylor-opt %t/series.mlir --taylor-plan-forms='target=x86-64-v3 alternatives' --taylor-chunk-sums --taylor-choose-forms='target=x86-64-v3 first-alone' | FileCheck %s --check-prefix=FIRST --implicit-check-not=forward_chunked
// RUN: taylor-opt %t/square.mlir --taylor-plan-forms='target=x86-64-v3 alternatives' --taylor-chunk-sums --taylor-choose-forms=target=x86-64-v3 | FileCheck %s --check-prefix=COSTS --implicit-check-not=forward_chunked
// RUN: taylor-opt %t/series.mlir --taylor-plan-forms='target=sm_80 alternatives' | FileCheck %s --check-prefix=GPU
// RUN: taylor-opt %t/programs.mlir --taylor-match-forms | FileCheck %s --check-prefix=MATCH --implicit-check-not='tile.program @'
// RUN: taylor-opt %t/series.mlir --taylor-plan-forms='target=x86-64-v3 alternatives' --mlir-pass-statistics -o %t/planned 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not taylor-opt %t/series.mlir --taylor-plan-forms=target=vax 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not taylor-opt %t/series.mlir --taylor-choose-forms=target=vax 2>&1 | FileCheck %s --check-prefix=TARGET

// What a module is compiled for is an attribute; what it lacks is as for 64 channels in f32.
// RUN: sed 's/^module/module attributes {taylor.problem = {dtype = "bf16", head_dim = 128, value_dim = 128}}/' %t/problem.mlir | taylor-opt --taylor-plan-forms=target=sm_90a | FileCheck %s --check-prefix=PROBLEM
// RUN: taylor-opt %t/problem.mlir --taylor-plan-forms=target=sm_90a | FileCheck %s --check-prefix=DEFAULTS
// RUN: sed 's/^module/module attributes {taylor.problem = {head_dim = -1}}/' %t/problem.mlir | not taylor-opt --taylor-plan-forms 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: sed 's/^module/module attributes {taylor.problem = {head_dim = 0}}/' %t/problem.mlir | not taylor-opt --taylor-choose-forms 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: sed 's/^module/module attributes {taylor.problem = {head_dims = 8}}/' %t/problem.mlir | not taylor-opt --taylor-plan-forms 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: sed 's/^module/module attributes {taylor.problem = 8}/' %t/problem.mlir | not taylor-opt --taylor-plan-forms 2>&1 | FileCheck %s --check-prefix=DICTIONARY
// PROBLEM: plan #tile.plan<{{.*}}bf16
// DEFAULTS-NOT: plan #tile.plan<{{.*}}bf16
// FIELD: error: unsupported field 'head_dim{{s?}}' in 'taylor.problem', or a value that it cannot have: {head_dim
// DICTIONARY: error: expected a dictionary as 'taylor.problem', but got 8

// ONE: taylor.function @f.forward {{.*}} plan #tile.plan<{{.*}}> form #tile.form<parallel of forward> {
// ASKED: taylor.function @f.forward {{.*}} plan #tile.plan<{{.*}}form = chunked{{.*}}> form #tile.form<chunked of forward, because = "--form=chunked"> {

// TWINS: taylor.function @f.forward {{.*}} form #tile.form<parallel of forward> {
// TWINS: taylor.function @f.forward_chunked {{.*}} plan #tile.plan<{{.*}}form = chunked{{.*}}> form #tile.form<chunked of forward> {
// GPU: taylor.function @f.forward_chunked {{.*}} plan #tile.plan<{{.*}}form = chunked{{.*}}> form #tile.form<chunked of forward> {

// NONE: form #tile.form<parallel of forward, left_out = "unsupported chunked form: 'exp'{{.*}}"> {

// PAYS: @f.forward {{.*}} form #tile.form<parallel of forward, cost = <call = {{.*}}pair = {{.*}}>, because = "chunked from about {{[0-9]+}} tokens on (one head that attends to itself), parallel below, by the costs of both"> {
// PAYS: @f.forward_chunked {{.*}} form #tile.form<chunked of forward, cost = <{{.*}}features = 16, channels = 8>> {
// FIRST: @f.forward {{.*}}because = "chunked from about {{[0-9]+}} tokens on
// COSTS: left_out = "the chunked form costs more at 1048576 tokens"> {

// A program that takes other tensors than the first form goes, and the first form says why.
// MATCH: tile.program @forward form #tile.form<parallel of forward, because = "it pays"> {
// MATCH: tile.program @forward_chunked form
// MATCH: tile.program @backward form #tile.form<parallel of backward, left_out = "the chunked form takes other tensors"> {

// The form is one of the words.
// RUN: not taylor-opt %t/series.mlir --taylor-plan-forms=form=diagonal 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: for the --form option: Cannot find option named 'diagonal'!

// COUNT-DAG: 2 plans
// COUNT-DAG: 1 twins

// TARGET: error: unsupported target 'vax'; expected native,

//--- series.mlir
!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
!o = !taylor.array<[b, h, t, e = 8], f32>
taylor.function @f.forward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}
//--- problem.mlir
!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
!o = !taylor.array<[b, h, t, e = 8], f32>
module {
  taylor.function @f.forward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
    %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
    taylor.yield "output:n" %n : !o
  }
}
//--- exponential.mlir
!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 8], f32>
!o = !taylor.array<[b, h, t, e = 8], f32>
taylor.function @f.forward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %n = taylor.pairwise { s = dot(%q, %k)  w = exp(s) } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}
//--- square.mlir
!q = !taylor.array<[b, h, t, d = 64], f32>
!k = !taylor.array<[b, g, u, d = 64], f32>
!v = !taylor.array<[b, g, u, e = 64], f32>
!o = !taylor.array<[b, h, t, e = 64], f32>
taylor.function @f.forward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %n = taylor.pairwise { s = dot(%q, %k)  w = s * s * s * s } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}
//--- programs.mlir
tile.program @forward form #tile.form<parallel of forward, because = "it pays"> {
  %x = tile.tensor "input:x" : !tile.array<[b, t], f32>
}
tile.program @forward_chunked form #tile.form<chunked of forward> {
  %x = tile.tensor "input:x" : !tile.array<[b, t], f32>
}
tile.program @backward form #tile.form<parallel of backward> {
  %x = tile.tensor "input:x" : !tile.array<[b, t], f32>
}
tile.program @backward_chunked form #tile.form<chunked of backward> {
}
