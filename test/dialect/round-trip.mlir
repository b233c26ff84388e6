// Every operation, with every clause, prints to a text that parses to the same module; and so does its generic form.
// RUN: taylor-opt %s -o %t.once
// RUN: taylor-opt %t.once -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: taylor-opt %s --mlir-print-op-generic | taylor-opt -o %t.generic
// RUN: diff %t.once %t.generic
// RUN: FileCheck %s < %t.once
// RUN: taylor-opt %t.once --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!col = !taylor.array<[b, h, u]>
!head = !taylor.array<[h]>
!channel = !taylor.array<[e]>

// Sources and parameters.
// CHECK-LABEL: taylor.spec @arguments(
// CHECK-SAME: %q: !bhtd, %a: !bht from projection(bias), %w: !e from parameter(ones), %c: !h from parameter(constant(0.5)),
// CHECK-SAME: %n: !h from parameter(normal(0.0, 0.02)), %l: !h from parameter(uniform(-0.5, 0.5)), %z: !e from parameter(zeros), %i: !bt_i32 from input)
// CHECK-SAME: parameters(order : index = 10, slope = -0.5)
taylor.spec @arguments(%q: !q from projection, %a: !row from projection(bias), %w: !channel from parameter(ones),
                       %c: !head from parameter(constant(0.5)), %n: !head from parameter(normal(0.0, 0.02)),
                       %l: !head from parameter(uniform(-0.5, 0.5)), %z: !channel from parameter(zeros),
                       %i: !taylor.array<[b, t], i32> from input) parameters(order : index = 10, slope = -0.5) {
  taylor.yield %q : !q
}

// Sizes and element types.
// CHECK-LABEL: taylor.spec @types(
// CHECK-SAME: %q: !bhtd_bf16
taylor.spec @types(%q: !taylor.array<[b, h, t, d = 64], bf16>, %w: !taylor.array<["two words" = 3, d = 64], f32> from parameter(ones)) {
  %o = taylor.map %q : !taylor.array<[b, h, t, d = 64], bf16> -> !taylor.array<[b, h, t, d = 64], f32>
  taylor.yield "named" %o : !taylor.array<[b, h, t, d = 64], f32>
}

// Formulas: precedence, calls, names, conditions.
// CHECK-LABEL: taylor.spec @formulas
taylor.spec @formulas(%a: !row, %b: !row) parameters(window : index = 4) {
  // CHECK: taylor.map (%a + %b) * %a - %b / (%a - %b)
  %0 = taylor.map (%a + %b) * %a - %b / (%a - %b) : !row, !row
  // CHECK: taylor.map %a - (%b - 1.0) + -(%a * %b)
  %1 = taylor.map %a - (%b - 1.0) + -(%a * %b) : !row, !row
  // CHECK: taylor.map exp(%a) + expm1(%a) + log(%a) + log2(%a) + log1p(%a) + sqrt(%a) + rsqrt(%a) + tanh(%a) + abs(%a) + sin(%a) + cos(%a)
  %2 = taylor.map exp(%a) + expm1(%a) + log(%a) + log2(%a) + log1p(%a) + sqrt(%a) + rsqrt(%a) + tanh(%a) + abs(%a) + sin(%a) + cos(%a) : !row
  // CHECK: taylor.map sigmoid(%a) + softplus(%a) + stop(%a) + pow(%a, 2.0) + min(%a, %b) + max(%a, %b)
  %3 = taylor.map sigmoid(%a) + softplus(%a) + stop(%a) + pow(%a, 2.0) + min(%a, %b) + max(%a, %b) : !row, !row
  // CHECK: taylor.map select(or(and(%a < %b, %a <= 1.0), not(%b == 2.0)), %a, infinity())
  %4 = taylor.map select(or(and(%a < %b, %a <= 1.0), not(%b == 2.0)), %a, infinity()) : !row, !row
  // CHECK: taylor.map %a * window + t - h / size(h)
  %5 = taylor.map %a * window + t - h / size(h) : !row
  // CHECK: taylor.map { x0 = exp(%a), x0 * x0 + x0 }
  %6 = taylor.map { r = exp(%a)  r * r + r } : !row
  // CHECK: taylor.map %a + 1.0e-12 + 1.23456789e8 + 0.0001
  %7 = taylor.map %a + 1.0e-12 + 123456789.0 + 0.0001 : !row
  // CHECK: taylor.map 0.5 * %a * (1.0 + erf(%a * 0.7071067811865476))
  %8 = taylor.map gelu(%a) : !row
  // CHECK: taylor.map region(%a)
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f64):
  // CHECK-NEXT: math.ceil %[[X]] : f64
  %9 = taylor.map region(%a) { ^bb0(%x: f64): %y = math.ceil %x : f64  taylor.yield %y : f64 } : !row
  taylor.yield %0 : !row
}

// CHECK-LABEL: taylor.spec @recurrences
taylor.spec @recurrences(%q: !q, %k: !k, %v: !v, %l: !col, %r: !row, %m: !head from parameter(ones)) parameters(order : index = 10) {
  // CHECK: taylor.recurrences [numerator] %q, %k, %v orders(all) scale(rsqrt(size(d))) causal : !bhtd, !bgud, !bgue
  %0 = taylor.recurrences %q, %k, %v exponential causal : !q, !k, !v
  // CHECK: taylor.recurrences [mass, count, numerator] %q, %k, %v orders(0 to order) bidirectional
  %1, %2, %3 = taylor.recurrences [mass, count, numerator] %q, %k, %v orders(0 to order) coefficients(factorial) bidirectional : !q, !k, !v
  // CHECK: taylor.recurrences [numerator] %q, %k, %v orders(1 to 2) coefficients(1.0, -0.5) scale(2.0) score(s + %r * %m) decay(%l) causal visible(t - u < 8.0)
  %4 = taylor.recurrences %q, %k, %v orders(1 to 2) coefficients(1.0, -0.5) scale(2.0) score(s + %r * %m) decay(%l) causal visible(t - u < 8.0)
       : !q, !k, !v, !col, !row, !head
  // CHECK: taylor.recurrences [numerator] %q, %k, %v weight(sigmoid(s)) causal
  %5 = taylor.recurrences %q, %k, %v weight(sigmoid(s)) causal : !q, !k, !v
  taylor.yield %0 : !o
}

// CHECK-LABEL: taylor.spec @recurrence
taylor.spec @recurrence(%q: !q, %k: !k, %v: !v, %l: !col, %s: !taylor.array<[b, g, e, f]> from input,
                         %x: !taylor.array<[b, h, t, r = 8]>, %y: !taylor.array<[b, g, u, r = 8]>) {
  // CHECK: taylor.recurrence [numerator, mass] %q, %k, %v order(2) coefficient(0.5) scale(rsqrt(size(d))) causal
  %0, %1 = taylor.recurrence [numerator, mass] %q, %k, %v order(2) coefficient(0.5) scale(rsqrt(size(d))) causal : !q, !k, !v
  // CHECK: taylor.recurrence [numerator, state] %q, %k, %v order(1) decay(%l) state(%s) causal
  %2, %3 = taylor.recurrence [numerator, state] %q, %k, %v order(1) decay(%l) state(%s) causal : !q, !k, !v, !col, !taylor.array<[b, g, e, f]>
  // CHECK: taylor.recurrence [numerator] %x, %y, %v order(1) scale(rsqrt(size(r))) causal
  %5 = taylor.recurrence %x, %y, %v order(1) scale(rsqrt(size(r))) causal : !taylor.array<[b, h, t, r = 8]>, !taylor.array<[b, g, u, r = 8]>, !v
  // CHECK: taylor.recurrence [numerator] %q, %k, %v order(0) coefficient(-2.0) bidirectional
  %4 = taylor.recurrence %q, %k, %v order(0) coefficient(-2.0) bidirectional : !q, !k, !v
  taylor.yield %0 : !o
}

// CHECK-LABEL: taylor.spec @local
taylor.spec @local(%q: !q, %k: !k, %n: !o, %l: !col, %w: !channel from parameter(ones), %b: !channel from parameter(zeros),
                   %c: !taylor.array<[h, d, j = 4]> from parameter(ones)) {
  // CHECK: taylor.reduce sum over(e) %n * %n : !bhte
  %0 = taylor.reduce sum over(e) %n * %n : !o
  // CHECK: taylor.reduce max over(h, e) %n : !bhte
  %1 = taylor.reduce max over(h, e) %n : !o
  // CHECK: taylor.reduce mean over(e) %n live(%{{.*}}) : !bhte, !bht
  %2 = taylor.reduce mean over(e) %n live(%0) : !o, !row
  // CHECK: taylor.map %n / %{{.*}} live(%{{.*}}) : !bhte, !bht, !bht
  %3 = taylor.map %n / %0 live(%2) : !o, !row, !row
  // CHECK: taylor.scan sum over(u) %l : !bhu
  %4 = taylor.scan sum over(u) %l : !col
  // CHECK: taylor.scan sum exclusive reverse over(u) %l / 1024.0 : !bhu
  %5 = taylor.scan sum exclusive reverse over(u) %l / 1024.0 : !col
  // CHECK: taylor.scan max over(u) -%l : !bhu
  %m0 = taylor.scan max over(u) -%l : !col
  // CHECK: taylor.scan max exclusive reverse over(u) %l : !bhu
  %m1 = taylor.scan max exclusive reverse over(u) %l : !col
  // CHECK: taylor.scan sum exclusive over(u) within(%{{.*}} : !bu) %l / 2.0 : !bhu
  %docs = taylor.map 0.0 * u -> !taylor.array<[b, u]>
  %m2 = taylor.scan sum exclusive over(u) within(%docs : !taylor.array<[b, u]>) %l / 2.0 : !col
  // CHECK: taylor.scan max reverse lengths over(u) within(%{{.*}} : !bu) %l : !bhu
  %m3 = taylor.scan max reverse lengths over(u) within(%docs : !taylor.array<[b, u]>) %l : !col
  // CHECK: taylor.scan shift(2) over(u) %l : !bhu
  %6 = taylor.scan shift(2) over(u) %l : !col
  // CHECK: taylor.scan shift(2) reverse over(u) %l : !bhu
  %7 = taylor.scan shift(2) reverse over(u) %l : !col
  // CHECK: %[[ALIGNED:.*]] = taylor.align %l to t : !bhu
  %8 = taylor.align %l to t : !col
  // CHECK: taylor.align %[[ALIGNED]] to u : !bht
  %9 = taylor.align %8 to u : !row
  // CHECK: taylor.normalize l2 over(d) %q epsilon(1.0e-12) : !bhtd
  %10 = taylor.normalize l2 over(d) %q epsilon(1.0e-12) : !q
  // CHECK: taylor.normalize rms %n weight(%w) epsilon(1.1920929e-7) : !bhte, !e
  %11 = taylor.normalize rms %n weight(%w) epsilon(1.1920929e-7) : !o, !channel
  // CHECK: taylor.normalize layer %n weight(%w) bias(%b) epsilon(1.0e-5) : !bhte, !e, !e
  %12 = taylor.normalize layer %n weight(%w) bias(%b) epsilon(1.0e-5) : !o, !channel, !channel
  // CHECK: taylor.rope %q : !bhtd
  %13 = taylor.rope %q : !q
  // CHECK: taylor.rope %k theta(500000.0) layout(interleaved) offset(-16) inverse : !bgud
  %14 = taylor.rope %k theta(500000) layout(interleaved) offset(-16) inverse : !k
  %p14 = taylor.map 2.0 * u -> !taylor.array<[b, u]>
  // CHECK: taylor.rope %k at %{{.*}} theta(500.0) inverse : !bgud, !bu
  %a14 = taylor.rope %k at %p14 theta(500.0) inverse : !k, !taylor.array<[b, u]>
  // CHECK: taylor.convolve %k, %{{.*}} within(%{{.*}} : !bu) reverse : !bgud, !gdj
  %g15 = taylor.map 0.5 -> !taylor.array<[g, d, j = 4]>
  %b15 = taylor.convolve %k, %g15 within(%docs : !taylor.array<[b, u]>) reverse : !k, !taylor.array<[g, d, j = 4]>
  // CHECK: taylor.convolve %q, %c : !bhtd, !hdj
  %15 = taylor.convolve %q, %c : !q, !taylor.array<[h, d, j = 4]>
  // CHECK: taylor.convolve %q, %c reverse : !bhtd, !hdj
  %16 = taylor.convolve %q, %c reverse : !q, !taylor.array<[h, d, j = 4]>
  // CHECK: taylor.gated_sum %q, %q : !bhtd, !bhtd
  %17 = taylor.gated_sum %q, %q : !q, !q
  // CHECK: taylor.gated_sum %k, %{{.*}} within(%{{.*}} : !bu) reverse {test.note = "kept"} : !bgud, !gd
  %a18 = taylor.map 0.5 -> !taylor.array<[g, d]>
  %18 = taylor.gated_sum %k, %a18 within(%docs : !taylor.array<[b, u]>) reverse {test.note = "kept"} : !k, !taylor.array<[g, d]>
  taylor.yield %3 : !o
}

// CHECK-LABEL: taylor.function @pairs.forward of @pairs("input:q" %q: !bhtd, "input:k" %k: !bgud, "input:v" %v: !bgue)
// CHECK-SAME: sources [projection, projection, projection] parameters(order : index = 4)
taylor.function @pairs.forward of @pairs("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v)
    sources [projection, projection, projection] parameters(order : index = 4) {
  // CHECK: taylor.pairwise { s0 = dot(%q, %k), m = maximum(s0, 0.0) } visible(u <= t) -> rows(exp(s0 - m), %v), rows(exp(s0 - m)), maximum :
  %n, %z, %m = taylor.pairwise { s = dot(%q, %k)  m = maximum(s, 0.0) } visible(u <= t) -> rows(exp(s - m), %v), rows(exp(s - m)), maximum
               : !q, !k, !v -> !o, !row, !row
  taylor.yield "output:o" %n, "saved:z" %z, "saved:m" %m : !o, !row, !row
}

// CHECK-LABEL: taylor.spec @rotated_keys of @rotated(%k: !bgud) parameters(order : index = 4) series {first = 1 : i64} form #tile.form<parallel of step> carries #taylor.carry<keys, block = 2, most_tokens = 9> prepares_keys attributes {test.kept} {
taylor.spec @rotated_keys of @rotated(%k: !k) parameters(order : index = 4) series {first = 1 : i64} form #tile.form<parallel of step> carries #taylor.carry<keys, block = 2, channels = 0, most_tokens = 9> prepares_keys attributes {test.kept} {
  %0 = taylor.rope %k : !k
  taylor.yield "cache.key0" %0 : !k
}

// CHECK-LABEL: taylor.function @rotated.append of @rotated_keys("input:k" %k: !bgud) sources [projection]
// CHECK-SAME: form #tile.form<parallel of append> carries #taylor.carry<keys> prepares_keys {
taylor.function @rotated.append of @rotated_keys("input:k" %k: !k) sources [projection] form #tile.form<parallel of append> carries #taylor.carry<keys> prepares_keys {
  %0 = taylor.rope %k : !k
  taylor.yield "output:cache.key0" %0 : !k
}

// CHECK-LABEL: taylor.function @features.forward
taylor.function @features.forward of @features("input:x" %x: !taylor.array<[b, h, t, r = 8]>, "input:y" %y: !taylor.array<[b, g, u, r = 8]>, "input:v" %v: !v) {
  // CHECK: taylor.pairwise { s0 = dot(%x, %y) } -> rows(s0 * rsqrt(size(r)), %v) :
  %n = taylor.pairwise { s = dot(%x, %y) } -> rows(s * rsqrt(size(r)), %v) : !taylor.array<[b, h, t, r = 8]>, !taylor.array<[b, g, u, r = 8]>, !v -> !o
  taylor.yield "output:o" %n : !o
}

// CHECK-LABEL: taylor.spec @regions
taylor.spec @regions(%q: !q, %k: !k, %v: !v, %r: !row) {
  // CHECK: taylor.pairwise generic products(%q, %k) scalars(%r) weighted(%v)
  // CHECK-SAME: sums = [#taylor.pair_sum<rows, 0, weighted = true>, #taylor.pair_sum<maximum, 0>] chunk = 64 : i64 visible {
  // CHECK-NEXT: ^bb0(%{{.*}}: f64):
  // CHECK: } maximum {
  // CHECK-NEXT: ^bb0(%{{.*}}: f64, %{{.*}}: f64):
  // CHECK: } weight {
  // CHECK-NEXT: ^bb0(%[[S:.*]]: f64, %{{.*}}: f64, %{{.*}}: f64):
  // CHECK-NEXT: math.ceil %[[S]] : f64
  // CHECK: } : !bhtd, !bgud, !bht, !bgue -> (!bhte, !bht)
  %o, %m = taylor.pairwise generic products(%q, %k) scalars(%r) weighted(%v)
      sums = [#taylor.pair_sum<rows, 0, weighted = true>, #taylor.pair_sum<maximum, 0>] chunk = 64
      visible { ^bb0(%x: f64): %c = arith.cmpf ole, %x, %x : f64  taylor.yield %c : i1 }
      maximum { ^bb0(%s: f64, %x: f64): taylor.yield %s : f64 }
      weight { ^bb0(%s: f64, %x: f64, %y: f64): %w = math.ceil %s : f64  taylor.yield %w : f64 }
      : !q, !k, !row, !v -> (!o, !row)
  taylor.yield %o : !o
}

// CHECK-LABEL: taylor.function @pairs.backward of @pairs(
taylor.function @pairs.backward of @pairs("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "saved:m" %m: !row,
                                          "cotangent:o" %do: !o) {
  // CHECK: taylor.pairwise { s0 = dot(%q, %k), s1 = dot(%o, %v), x0 = exp(s0 - %m), x1 = x0 * s1 }
  // CHECK-SAME: -> rows(x1, %k), columns(x1, %q), columns(x0, %o), total(x1) : !bhtd, !bgud, !bhte, !bgue, !bht -> !bhtd, !bgud, !bgue, !h
  // Outputs of one weight sum one yielded value.
  // GENERIC: operandSegmentSizes = array<i32: 4, 1, 3>, sums = [#taylor.pair_sum<rows, 0, weighted = true>, #taylor.pair_sum<columns, 0, weighted = true>, #taylor.pair_sum<columns, 1, weighted = true>, #taylor.pair_sum<total, 0>]
  %dq, %dk, %dv, %dh = taylor.pairwise { s = dot(%q, %k)  p = dot(%do, %v)  w = exp(s - %m)  ds = w * p }
      -> rows(ds, %k), columns(ds, %q), columns(w, %do), total(ds) : !q, !k, !o, !v, !row -> !q, !k, !v, !head
  taylor.yield "gradient:q" %dq, "gradient:k" %dk, "gradient:v" %dv, "gradient:h" %dh : !q, !k, !v, !head
}

// CHECK-LABEL: taylor.function @lags.backward of @lags(
taylor.function @lags.backward of @lags("input:q" %q: !q, "input:k" %k: !k, "input:table" %table: !taylor.array<[h, r = 8]>) {
  // CHECK: taylor.reduce sum over(r) select(r == floor(min(max(lag, 0.0), size(r) - 1.0)), %table, 0.0) : !hr
  %bias = taylor.reduce sum over(r) select(r == floor(min(max(lag, 0.0), size(r) - 1.0)), %table, 0.0) : !taylor.array<[h, r = 8]>
  // CHECK: taylor.pairwise { s0 = dot(%q, %k) } -> diagonals(s0 * %{{.*}}) : !bhtd, !bgud, !hlag -> !hlag
  // GENERIC: sums = [#taylor.pair_sum<diagonals, 0>]
  %db = taylor.pairwise { s = dot(%q, %k) } -> diagonals(s * %bias) : !q, !k, !taylor.array<[h, lag]> -> !taylor.array<[h, lag]>
  %dt = taylor.reduce sum over(lag) select(r == lag, %db, 0.0) : !taylor.array<[h, lag]> -> !taylor.array<[h, r = 8]>
  // Pairs without operands are computed in the type of the results.
  // CHECK: taylor.pairwise { {{ *}}} visible(u <= t) -> rows(1.0) : -> !t_f32
  // GENERIC: "taylor.yield"(%{{.*}}) : (f32) -> ()
  %seen = taylor.pairwise {} visible(u <= t) -> rows(1.0) : -> !taylor.array<[t], f32>
  taylor.yield "gradient:table" %dt, "saved:seen" %seen : !taylor.array<[h, r = 8]>, !taylor.array<[t], f32>
}

!qs = !taylor.array<[b, h, t, d = 4]>
!ks = !taylor.array<[b, g, u, d = 4]>
!vs = !taylor.array<[b, g, u, e = 5]>
!os = !taylor.array<[b, h, t, e = 5]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>

// CHECK-LABEL: taylor.function @chunks.forward of @chunks(
taylor.function @chunks.forward of @chunks("input:q" %q: !qs, "input:k" %k: !ks, "input:v" %v: !vs, "input:decay" %decay: !taylor.array<[b, g, u]>) sources [projection, projection, projection, projection] {
  // CHECK: taylor.pairwise { s0 = dot(%q, %k) } visible(u <= t) chunk(64) -> rows(s0, %v), rows(s0) :
  // GENERIC: chunk = 64 : i64
  %n, %m = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) chunk(64) -> rows(s, %v), rows(s) : !qs, !ks, !vs -> !os, !row
  // CHECK: taylor.states %k, %v mass orders(0 to 2) chunk(64) : (!bgud1, !bgue1) -> (!bgtfe, !bgtf)
  %H, %z = taylor.states %k, %v mass orders(0 to 2) chunk(64) : (!ks, !vs) -> (!H, !z)
  // CHECK: taylor.edge %decay chunk(64) : (!bgu) -> !bgt
  %et = taylor.edge %decay chunk(64) : (!taylor.array<[b, g, u]>) -> !taylor.array<[b, g, t]>
  // CHECK: taylor.edge %decay chunk(64) : (!bgu) -> !bgu
  %eu = taylor.edge %decay chunk(64) : (!taylor.array<[b, g, u]>) -> !taylor.array<[b, g, u]>
  // CHECK: taylor.states %k, %v decay(%decay) orders(0 to 2) chunk(64) :
  %Hd = taylor.states %k, %v decay(%decay) orders(0 to 2) chunk(64) : (!ks, !vs, !taylor.array<[b, g, u]>) -> !H
  // CHECK: taylor.states %k, %v decay(%decay) within(%{{.*}}) orders(0 to 2) chunk(64) :
  %within = taylor.map 0.0 * u -> !taylor.array<[b, u]>
  %He = taylor.states %k, %v decay(%decay) within(%within) orders(0 to 2) chunk(64) : (!ks, !vs, !taylor.array<[b, g, u]>, !taylor.array<[b, u]>) -> !H
  // CHECK: taylor.edge %decay chunk(64) opposite : (!bgu) -> !bgt
  %ft = taylor.edge %decay chunk(64) opposite : (!taylor.array<[b, g, u]>) -> !taylor.array<[b, g, t]>
  // CHECK: taylor.edge %decay chunk(64) query : (!bgu) -> !bgu
  %fu = taylor.edge %decay chunk(64) query : (!taylor.array<[b, g, u]>) -> !taylor.array<[b, g, u]>
  // CHECK: taylor.edge %decay chunk(64) opposite query : (!bgu) -> !bgu
  %gu = taylor.edge %decay chunk(64) opposite query : (!taylor.array<[b, g, u]>) -> !taylor.array<[b, g, u]>
  // CHECK: taylor.states %k, %v within(%{{.*}}) orders(0 to 2) chunk(64) opposite :
  %Hf = taylor.states %k, %v within(%within) orders(0 to 2) chunk(64) opposite : (!ks, !vs, !taylor.array<[b, u]>) -> !H
  // CHECK: taylor.read_states %q from %{{.*}} orders(0 to 2) chunk(64) opposite :
  %yf = taylor.read_states %q from %Hf orders(0 to 2) chunk(64) opposite : (!qs, !H) -> !os
  // CHECK: taylor.contract_states %q from %{{.*}} with %{{.*}} orders(0 to 2) chunk(64) opposite :
  %df = taylor.contract_states %q from %Hf with %yf orders(0 to 2) chunk(64) opposite : (!qs, !H, !os) -> !qs
  // CHECK: %[[OWN:.*]] = taylor.map 0.0 * t
  %own = taylor.map 0.0 * t -> !taylor.array<[b, t]>
  // CHECK: taylor.states %q within(%{{.*}}) own(%[[OWN]]) mass orders(0 to 2) chunk(64) :
  %zo = taylor.states %q within(%within) own(%own) mass orders(0 to 2) chunk(64) : (!qs, !taylor.array<[b, u]>, !taylor.array<[b, t]>) -> !taylor.array<[b, h, u, f = 15]>
  // CHECK: taylor.read_states %q from %{{.*}} into %{{.*}} own(%[[OWN]]) orders(0 to 2) chunk(64) :
  %yo = taylor.read_states %q from %H into %n own(%own) orders(0 to 2) chunk(64) : (!qs, !H, !os, !taylor.array<[b, t]>) -> !os
  // CHECK: taylor.contract_states %q from %{{.*}} with %{{.*}} own(%[[OWN]]) orders(0 to 2) chunk(64) :
  %do = taylor.contract_states %q from %H with %yo own(%own) orders(0 to 2) chunk(64) : (!qs, !H, !os, !taylor.array<[b, t]>) -> !qs
  // CHECK: taylor.states %k mass orders(1 to 2) block(4) : (!bgud1) -> !bgf
  %w = taylor.states %k mass orders(1 to 2) block(4) : (!ks) -> !taylor.array<[b, g, f = 20]>
  // CHECK: taylor.read_states %q from %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}} orders(0 to 2) weights [1.000000e+00, 1.000000e-01, 5.000000e-01] chunk(64) :
  %y, %c = taylor.read_states %q from %H, %z into %n, %m orders(0 to 2) weights [1.0, 0.1, 0.5] chunk(64) : (!qs, !H, !z, !os, !row) -> (!os, !row)
  // CHECK: taylor.contract_states %q from %{{.*}}, %{{.*}} with %{{.*}}, %{{.*}} into %q orders(0 to 2) weights [0.000000e+00, 1.000000e+00, 5.000000e-01] chunk(64) :
  %dq = taylor.contract_states %q from %H, %z with %y, %c into %q orders(0 to 2) weights [0.0, 1.0, 0.5] chunk(64) : (!qs, !H, !z, !os, !row, !qs) -> !qs
  // CHECK: taylor.contract_states %q from %{{.*}} with %{{.*}} orders(1 to 2) weights [1.000000e+00, 5.000000e-01] block(4) :
  %dx = taylor.contract_states %q from %w with %c orders(1 to 2) weights [1.0, 0.5] block(4) : (!qs, !taylor.array<[b, g, f = 20]>, !row) -> !qs
  %H0, %z0 = taylor.states %k, %v mass orders(0 to 2) : (!ks, !vs) -> (!taylor.array<[b, g, f = 15, e = 5]>, !taylor.array<[b, g, f = 15]>)
  // CHECK: taylor.step_states %q with %k, %v mass from %{{.*}}, %{{.*}} reads [0, 1, 0] orders(0 to 2) weights {{\[\[}}1.000000e+00, 1.000000e-01, 5.000000e-01], [1.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 1.000000e+00, 0.000000e+00]] :
  %rows:5 = taylor.step_states %q with %k, %v mass from %H0, %z0 reads [0, 1, 0] orders(0 to 2) weights [[1.0, 0.1, 0.5], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
            : (!qs, !ks, !vs, !taylor.array<[b, g, f = 15, e = 5]>, !taylor.array<[b, g, f = 15]>) -> (!os, !row, !os, !taylor.array<[b, g, f = 15, e = 5]>, !taylor.array<[b, g, f = 15]>)
  // CHECK: taylor.step_states %q with %k mass from %{{.*}} reads [] orders(1 to 2) weights [] block(4) :
  %w1 = taylor.step_states %q with %k mass from %w reads [] orders(1 to 2) weights [] block(4) : (!qs, !ks, !taylor.array<[b, g, f = 20]>) -> !taylor.array<[b, g, f = 20]>
  // CHECK: taylor.step_states %q with %k mass from %{{.*}} keep(%decay) documents reads [] orders(1 to 2) weights [] block(4) :
  %w3 = taylor.step_states %q with %k mass from %w keep(%decay) documents reads [] orders(1 to 2) weights [] block(4) : (!qs, !ks, !taylor.array<[b, g, f = 20]>, !taylor.array<[b, g, u]>) -> !taylor.array<[b, g, f = 20]>
  // CHECK: taylor.step_states %q with %k mass from %{{.*}} keep(%decay) reads [] orders(1 to 2) weights [] block(4) :
  %w2 = taylor.step_states %q with %k mass from %w keep(%decay) reads [] orders(1 to 2) weights [] block(4) : (!qs, !ks, !taylor.array<[b, g, f = 20]>, !taylor.array<[b, g, u]>) -> !taylor.array<[b, g, f = 20]>
  taylor.yield "output:o" %y, "saved:c" %c, "saved:dq" %dq, "saved:dx" %dx : !os, !row, !qs, !qs
}

// Names that are bound are none of a parameter's or an axis'.
// CHECK-LABEL: taylor.spec @parameters_called_as_bound_names
taylor.spec @parameters_called_as_bound_names(%q: !q, %k: !k, %x: !taylor.array<[b, h, t, x1 = 4]>) parameters(m = 0.5, s0 = 3.0, x0 = 2.0) {
  // CHECK: taylor.map { x0_ = exp(%x), x1_ = sigmoid(%x), x0_ * x0_ * x0 + x1_ * x1_ * x1 }
  %0 = taylor.map { r = exp(%x)  p = sigmoid(%x)  r * r * x0 + p * p * x1 } : !taylor.array<[b, h, t, x1 = 4]>
  // CHECK: taylor.pairwise { s0_ = dot(%q, %k), m_ = maximum(s0_ * s0), x0_ = exp(s0_ * s0 - m_) } -> rows(x0_), rows(x0_ * m * x0, %k)
  %1, %2 = taylor.pairwise { s = dot(%q, %k)  n = maximum(s * s0)  w = exp(s * s0 - n)  v = w * m * x0 } -> rows(w), rows(v, %k) : !q, !k -> !row, !q
  taylor.yield %0, %1, %2 : !taylor.array<[b, h, t, x1 = 4]>, !row, !q
}
