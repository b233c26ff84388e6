// A kernel for each value that has memory or is a result.
// RUN: taylor-opt %s --taylor-form-kernels | FileCheck %s

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>
!sums = !taylor.array<[g, e = 16], f32>
!long = !taylor.array<[h, f = 300], f32>

// The keys are one stage after the table of their angles; the queries, which read them, another.
// CHECK-LABEL: taylor.function @rows
// CHECK:         %[[K:.*]] = taylor.rope %k
// CHECK:         %[[N:.*]]:2 = taylor.pairwise
// CHECK:         %[[O:.*]] = taylor.map
// CHECK:         fusion.keep %[[K]]
// CHECK-NEXT:    fusion.kernel angles stage 0 grid(u) {
// CHECK-NEXT:      fusion.table of %[[K]] because "rotations of the same positions and frequencies read it" : !bgud_f32
// CHECK-NEXT:    }
// CHECK-NEXT:    fusion.kernel local stage 2 grid(b, h, t) {
// CHECK-NEXT:      fusion.store %[[O]] as ["output:o", "output:again"]
// CHECK-NEXT:      fusion.store %[[N]]#1 as ["saved:z"]
// CHECK-NEXT:    }
// CHECK-NEXT:    fusion.kernel local stage 1 grid(b, g, u) {
// CHECK-NEXT:      fusion.store %[[K]] in workspace
// CHECK-NEXT:    }
// CHECK-NEXT:    taylor.yield
taylor.function @rows of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %kr = taylor.rope %k : !k
  %n, %z = taylor.pairwise { s = dot(%q, %kr), x = exp(s) } visible(u <= t) -> rows(x, %v), rows(x) : !q, !k, !v -> !o, !row
  %o = taylor.map %n / %z : !o, !row
  fusion.keep %kr because "every block of queries reads it" : !k
  taylor.yield "output:o" %o, "saved:z" %z, "output:again" %o : !o, !row, !o
}

// What depends on a sum into columns alone is stored where that sum is complete. A sum over its tokens is not: its kernel reads it from memory.
// CHECK-LABEL: taylor.function @columns
// CHECK:         %[[SUMS:.*]]:2 = taylor.pairwise
// CHECK:         %[[DK:.*]] = taylor.map
// CHECK:         %[[W:.*]] = taylor.reduce
// CHECK:         fusion.keep parts of %[[W]]
// CHECK-NEXT:    fusion.keep %[[SUMS]]#1 because "a later kernel reads it"
// CHECK-NEXT:    fusion.kernel pairs stage 0 grid(b, g) {
// CHECK-NEXT:      fusion.sum %[[SUMS]]#0
// CHECK-NEXT:      fusion.sum %[[SUMS]]#1
// CHECK-NEXT:      fusion.store %[[DK]] as ["gradient:k"]
// CHECK-NEXT:      fusion.store %[[SUMS]]#1 as ["gradient:v"]
// CHECK-NEXT:    }
// CHECK-NEXT:    fusion.kernel local stage 2 grid(g) {
// CHECK-NEXT:      fusion.store %[[W]] as ["gradient:w"]
// CHECK-NEXT:    }
// CHECK-NEXT:    fusion.kernel local stage 1 grid(b, g, u) {
// CHECK-NEXT:      fusion.store parts of %[[W]] in workspace
// CHECK-NEXT:    }
// CHECK-NEXT:    taylor.yield
taylor.function @columns of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o) {
  %dk0, %dv = taylor.pairwise { s = dot(%q, %k), p = dot(%do, %v) } visible(u <= t) -> columns(p, %q), columns(s, %do) : !q, !k, !o, !v -> !k, !v
  %dk = taylor.map 2.0 * %dk0 : !k
  %w = taylor.reduce sum over(b, u) %dv : !v -> !sums
  fusion.keep parts of %w because "each block of tokens has a sum of its own" : !sums
  taylor.yield "gradient:k" %dk, "gradient:v" %dv, "gradient:w" %w : !k, !v, !sums
}

// A sum that is kept apart: its own kernel computes nothing from it.
// CHECK-LABEL: taylor.function @apart
// CHECK:         fusion.kernel pairs stage 0 grid(b, g) {
// CHECK-NEXT:      fusion.sum %[[SUM:.*]] : !bgud_f32
// CHECK-NEXT:    }
// CHECK-NEXT:    fusion.kernel local stage 1 grid(b, g, u) {
// CHECK-NEXT:      fusion.store %{{.*}} as ["gradient:k"]
// CHECK-NEXT:    }
taylor.function @apart of @f("input:q" %q: !q, "input:k" %k: !k) {
  %dk0 = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> columns(s, %q) : !q, !k -> !k
  %dk = taylor.map 2.0 * %dk0 : !k
  fusion.keep apart %dk0 because "a block of keys has no room for what is computed from it" : !k
  taylor.yield "gradient:k" %dk : !k
}

// A running sum goes along its tokens in a kernel of its own. Arrays without tokens and with many channels are cut along these.
// CHECK-LABEL: taylor.function @kinds
// CHECK:         fusion.kernel scan stage 0 grid(b, h) {
// CHECK-NEXT:      fusion.store %[[C:.*]] in workspace as ["output:c"]
// CHECK-NEXT:    }
// CHECK-NEXT:    fusion.kernel local stage 0 grid(h) channels("f" = 300) {
// CHECK-NEXT:      fusion.store %{{.*}} as ["output:m"]
// CHECK-NEXT:    }
taylor.function @kinds of @f("input:x" %x: !row, "input:m" %m: !long) {
  %c = taylor.scan sum over(t) %x : !row
  %y = taylor.map 2.0 * %m : !long
  fusion.keep %c because "it is summed token after token" : !row
  taylor.yield "output:c" %c, "output:m" %y : !row, !long
}

// Kernels that are there are formed anew.
// CHECK-LABEL: taylor.function @anew
// CHECK:         fusion.kernel local stage 0 grid(b, h, t) {
// CHECK-NEXT:      fusion.store %{{.*}} as ["output:y"]
// CHECK-NEXT:    }
// CHECK-NEXT:    taylor.yield
taylor.function @anew of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  fusion.kernel @old local stage 7 grid(b, h, t) {
    fusion.store %y as ["output:y"] : !row
  }
  taylor.yield "output:y" %y : !row
}
