// Functions as kernels want them. lower-to-tile-invalid.mlir has those that no kernel can compute.
// RUN: taylor-opt %s --taylor-prepare-kernels | FileCheck %s
// RUN: taylor-opt %s --taylor-plan-tiles=tiles=products=bf16,row-products=stored --taylor-prepare-kernels | FileCheck %s --check-prefix=KEPT

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>
!kh = !taylor.array<[b, g, u, d = 16], bf16>
!vh = !taylor.array<[b, g, u, e = 16], bf16>

// Keys and values of 16 bits are converted once, unless products take them as they are.
// CHECK-LABEL: taylor.function @converted
// CHECK-NEXT:    %[[K:.*]] = taylor.map %k : !bgud_bf16
// CHECK-NEXT:    %[[V:.*]] = taylor.map %v : !bgue_bf16
// CHECK-NEXT:    taylor.pairwise { s0 = dot(%q, %[[K]]) } visible(u <= t) -> rows(exp(s0), %[[V]])
// KEPT-LABEL:  taylor.function @converted
// KEPT-NEXT:     taylor.pairwise { s0 = dot(%q, %k) } visible(u <= t) -> rows(exp(s0), %v)
taylor.function @converted of @f("input:q" %q: !q, "input:k" %k: !kh, "input:v" %v: !vh) {
  %n = taylor.pairwise { s = dot(%q, %k), x = exp(s) } visible(u <= t) -> rows(x, %v) : !q, !kh, !vh -> !o
  taylor.yield "output:n" %n : !o
}

// A block has one head: the sum over heads is an operation of its own.
// CHECK-LABEL: taylor.function @heads
// CHECK-NEXT:    %[[N:.*]] = taylor.pairwise { s0 = dot(%q, %k) } visible(u <= t) -> rows(s0) : !bhtd_f32, !bgud_f32 -> !bht_f32
// CHECK-NEXT:    %[[SUM:.*]] = taylor.reduce sum over(h) %[[N]] : !bht_f32
// CHECK-NEXT:    taylor.yield "output:n" %[[SUM]]
taylor.function @heads of @f("input:q" %q: !q, "input:k" %k: !k) {
  %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s) : !q, !k -> !taylor.array<[b, t], f32>
  taylor.yield "output:n" %n : !taylor.array<[b, t], f32>
}

// What multiplies rows becomes an array by itself.
// CHECK-LABEL: taylor.function @factor
// CHECK-NEXT:    %[[A:.*]] = taylor.map 1.0 / (%z * %z) : !bht_f32
// CHECK-NEXT:    %[[Y:.*]] = taylor.map %o * %[[A]] : !bhte_f32, !bht_f32
// CHECK-NEXT:    taylor.pairwise { s0 = dot(%q, %k), s1 = dot(%[[Y]], %v) }
// KEPT-LABEL:  taylor.function @factor
// KEPT-NEXT:     taylor.map %o / (%z * %z) : !bhte_f32, !bht_f32
taylor.function @factor of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o, "saved:z" %z: !row) {
  %y = taylor.map %do / (%z * %z) : !o, !row
  %dk = taylor.pairwise { s = dot(%q, %k), p = dot(%y, %v), x = p * exp(s) } visible(u <= t) -> columns(x, %q) : !q, !k, !o, !v -> !k
  taylor.yield "gradient:k" %dk : !k
}
