// Operations of a plan of kernels, printed and read again.
// RUN: taylor-opt %s | taylor-opt | FileCheck %s
// RUN: taylor-opt %s --mlir-print-op-generic | taylor-opt | FileCheck %s

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!row = !taylor.array<[b, h, t], f32>
!head = !taylor.array<[h], f32>

// CHECK-LABEL: taylor.function @f
// CHECK:         fusion.keep %[[K:.*]] because "every block of queries reads it" : !bgud_f32
// CHECK-NEXT:    fusion.keep parts of %[[W:.*]] because "each block of tokens has a sum of its own" : !h_f32
// CHECK-NEXT:    fusion.keep apart %[[D:.*]] because "a block of keys has no room for what is computed from it" : !bgud_f32
// CHECK-NEXT:    fusion.kernel @angles_u angles stage 0 grid(u) {
// CHECK-NEXT:      fusion.table of %[[K]] because "two read it" : !bgud_f32
// CHECK-NEXT:    }
// CHECK-NEXT:    fusion.kernel local stage 1 grid(b, g, u) {
// CHECK-NEXT:      fusion.store %[[K]] in workspace as ["output:k"] : !bgud_f32
// CHECK-NEXT:    }
// CHECK-NEXT:    fusion.kernel @pairs pairs stage 2 grid(b, g) asked ["gradient:w"] {
// CHECK-NEXT:      fusion.sum %[[D]] asked ["gradient:w"] : !bgud_f32
// CHECK-NEXT:    }
// CHECK-NEXT:    fusion.kernel @combine local stage 3 grid(h) channels("f" = 300) {
// CHECK-NEXT:      fusion.store parts of %[[W]] in workspace : !h_f32
// CHECK-NEXT:    }
taylor.function @f of @f("input:q" %q: !q, "input:k" %k: !k, "input:x" %x: !row) {
  %kr = taylor.rope %k : !k
  %d = taylor.pairwise { s = dot(%q, %kr) } visible(u <= t) -> columns(s, %q) : !q, !k -> !k
  %w = taylor.reduce sum over(b, t) %x : !row -> !head
  fusion.keep %kr because "every block of queries reads it" : !k
  fusion.keep parts of %w because "each block of tokens has a sum of its own" : !head
  fusion.keep apart %d because "a block of keys has no room for what is computed from it" : !k
  fusion.kernel @angles_u angles stage 0 grid(u) {
    fusion.table of %kr because "two read it" : !k
  }
  fusion.kernel local stage 1 grid(b, g, u) {
    fusion.store %kr in workspace as ["output:k"] : !k
  }
  fusion.kernel @pairs pairs stage 2 grid(b, g) asked ["gradient:w"] {
    fusion.sum %d asked ["gradient:w"] : !k
  }
  fusion.kernel @combine local stage 3 grid(h) channels("f" = 300) {
    fusion.store parts of %w in workspace : !head
  }
  taylor.yield "output:k" %kr, "gradient:w" %w : !k, !head
}
