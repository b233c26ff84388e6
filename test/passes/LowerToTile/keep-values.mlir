// What must have memory, and because of what.
// RUN: taylor-opt %s --taylor-prepare-kernels --taylor-keep-values | FileCheck %s
// RUN: taylor-opt %s --taylor-plan-tiles=tiles=loop-operands=computed --taylor-prepare-kernels --taylor-keep-values | FileCheck %s --check-prefix=ONCE

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>
!head = !taylor.array<[h], f32>

// Computed keys, which a loop reads for each block of queries. The queries of a block fuse.
// CHECK-LABEL: taylor.function @rows
// CHECK:         %[[K:.*]] = taylor.rope %k
// CHECK-NOT:     fusion.keep
// CHECK:         fusion.keep %[[K]] because "every block of queries reads it" : !bgud_f32
// CHECK-NOT:     fusion.keep
// ONCE-LABEL:  taylor.function @rows
// ONCE-NOT:      fusion.keep
taylor.function @rows of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n = taylor.pairwise { s = dot(%qr, %kr) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield "output:o" %n : !o
}

// Computed queries; of dO / a only the factor of each row; sums into rows, which are complete after the last key.
// CHECK-LABEL: taylor.function @columns
// ONCE-LABEL:  taylor.function @columns
// CHECK:         %[[Q:.*]] = taylor.rope %q
// CHECK:         %[[A:.*]] = taylor.map 1.0 * %{{.*}} : !bht_f32
// CHECK:         %[[Y:.*]] = taylor.map %o * %[[A]]
// CHECK:         %[[SUMS:.*]]:3 = taylor.pairwise
// CHECK:         fusion.keep %[[Q]] because "every block of keys reads it"
// CHECK-NEXT:    fusion.keep %[[A]] because "every block of keys reads it"
// CHECK-NEXT:    fusion.keep %[[SUMS]]#0 because "blocks add to it in memory"
// CHECK-NEXT:    taylor.yield
taylor.function @columns of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o, "input:a" %a: !row) {
  %qr = taylor.rope %q : !q
  %z = taylor.map 1.0 / %a : !row
  %y = taylor.map %do * %z : !o, !row
  %dq, %dk, %dv = taylor.pairwise { s = dot(%qr, %k), p = dot(%y, %v) } visible(u <= t) -> rows(p, %k), columns(p, %qr), columns(s, %y) : !q, !k, !o, !v -> !q, !k, !v
  taylor.yield "gradient:q" %dq, "gradient:k" %dk, "gradient:v" %dv : !q, !k, !v
}

// A sum over tokens is made in parts, and complete in memory where another block reads it.
// CHECK-LABEL: taylor.function @tokens
// CHECK:         %[[X:.*]] = taylor.map exp(%x)
// CHECK:         %[[SCAN:.*]] = taylor.scan sum over(t)
// CHECK:         %[[W:.*]] = taylor.reduce sum over(b, t)
// CHECK:         fusion.keep %[[SCAN]] because "it is summed token after token" : !bht_f32
// CHECK-NEXT:    fusion.keep %[[W]] because "several blocks are summed" : !h_f32
// CHECK-NEXT:    fusion.keep parts of %[[W]] because "each block of tokens has a sum of its own" : !h_f32
// CHECK-NEXT:    taylor.yield
taylor.function @tokens of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  %s = taylor.scan sum over(t) %y : !row
  %w = taylor.reduce sum over(b, t) %y : !row -> !head
  %o = taylor.map %s * %w : !row, !head
  taylor.yield "output:o" %o : !row
}

// Where keys are read once, a loop computes them. But past the last key k / m is 0 / 0, and no weight of 0 makes that 0.
// ONCE-LABEL:  taylor.function @spoils
// ONCE:          %[[X:.*]] = taylor.map
// ONCE:          fusion.keep %[[X]] because "past the last token it may be no number"
// ONCE-NOT:      fusion.keep
taylor.function @spoils of @f("input:q" %q: !q, "input:k" %k: !k, "input:m" %m: !taylor.array<[b, g, u], f32>) {
  %x = taylor.map %k / %m : !k, !taylor.array<[b, g, u], f32>
  %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> columns(s) : !q, !k -> !taylor.array<[b, g, u], f32>
  %y = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %x) : !q, !k, !k -> !q
  taylor.yield "output:n" %n, "output:y" %y : !taylor.array<[b, g, u], f32>, !q
}

// CHECK-LABEL: taylor.function @local
// ONCE-LABEL:  taylor.function @local
// CHECK-NOT:     fusion.keep
taylor.function @local of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  taylor.yield "output:y" %y : !row
}
