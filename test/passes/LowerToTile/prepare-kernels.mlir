// Functions as kernels want them. lower-to-tile-invalid.mlir has those that no kernel can compute.
// RUN: taylor-opt %s --taylor-prepare-kernels | FileCheck %s
// RUN: taylor-opt %s --taylor-plan-tiles=tiles=products=bf16,row-products=stored --taylor-prepare-kernels | FileCheck %s --check-prefix=KEPT
// RUN: taylor-opt %s --taylor-plan-tiles=tiles=row-sums=separate --taylor-prepare-kernels | FileCheck %s --check-prefix=STEPS

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

// Where a target wants many blocks, a sum or mean over tokens, heads and batches is made in steps; what one block sums
// is no other.
// CHECK-LABEL: taylor.function @parameters
// CHECK-NEXT:    taylor.reduce sum over(b, h, t) %o * %x : !bhte_f32, !bhte_f32
// STEPS-LABEL: taylor.function @parameters
// STEPS-NEXT:    %[[T:.*]] = taylor.reduce sum over(t) %o * %x : !bhte_f32, !bhte_f32
// STEPS-NEXT:    %[[H:.*]] = taylor.reduce sum over(h) %[[T]] : !bhe_f32
// STEPS-NEXT:    %[[B:.*]] = taylor.reduce sum over(b) %[[H]] : !be_f32
// STEPS-NEXT:    %[[GT:.*]] = taylor.reduce sum over(t) %o : !bhte_f32
// STEPS-NEXT:    %[[G:.*]] = taylor.reduce sum over(group) %[[GT]] : !bhe_f32
// STEPS-NEXT:    %[[E:.*]] = taylor.reduce sum over(b) %[[G]] : !bge_f32
// STEPS-NEXT:    %[[LT:.*]] = taylor.reduce sum over(t, e) %o : !bhte_f32
// STEPS-NEXT:    %[[L:.*]] = taylor.reduce sum over(b) %[[LT]] : !bh_f32
// STEPS-NEXT:    %[[ALONE:.*]] = taylor.reduce sum over(t) %o : !bhte_f32
// STEPS-NEXT:    %[[MT:.*]] = taylor.reduce mean over(t) %o : !bhte_f32
// STEPS-NEXT:    %[[M:.*]] = taylor.reduce mean over(b) %[[MT]] : !bhe_f32
// STEPS-NEXT:    taylor.yield "gradient:a" %[[B]], "gradient:c" %[[E]], "gradient:d" %[[L]], "gradient:l" %[[ALONE]], "gradient:m" %[[M]]
taylor.function @parameters of @f("input:x" %x: !o, "cotangent:o" %do: !o) {
  %a = taylor.reduce sum over(b, h, t) %do * %x : !o, !o -> !taylor.array<[e = 16], f32>
  %c = taylor.reduce sum over(b, group, t) %do : !o -> !taylor.array<[g, e = 16], f32>
  %d = taylor.reduce sum over(b, t, e) %do : !o -> !taylor.array<[h], f32>
  %l = taylor.reduce sum over(t) %do : !o -> !taylor.array<[b, h, e = 16], f32>
  %m = taylor.reduce mean over(b, t) %do : !o -> !taylor.array<[h, e = 16], f32>
  taylor.yield "gradient:a" %a, "gradient:c" %c, "gradient:d" %d, "gradient:l" %l, "gradient:m" %m
    : !taylor.array<[e = 16], f32>, !taylor.array<[g, e = 16], f32>, !taylor.array<[h], f32>, !taylor.array<[b, h, e = 16], f32>, !taylor.array<[h, e = 16], f32>
}
