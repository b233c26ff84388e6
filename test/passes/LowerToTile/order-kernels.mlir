// Kernels in the order in which they run, with their names and loops over keys.
// RUN: taylor-opt %s --taylor-order-kernels | FileCheck %s

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>
!head = !taylor.array<[h], f32>
!lags = !taylor.array<[h, lag], f32>

// CHECK-LABEL: taylor.function @f
// CHECK:         %[[N:.*]] = taylor.pairwise {{.*}} -> rows
// CHECK:         fusion.kernel @angles_u angles stage 0 grid(u) {
// CHECK:         fusion.kernel @scan scan stage 0 grid(b, h) {
// CHECK:         fusion.kernel @columns local stage 1 grid(b, g, u) {
// CHECK:         fusion.kernel @attend local stage 2 grid(b, h, t) {
// CHECK-NEXT:      fusion.sum %[[N]]
// CHECK-NEXT:      fusion.store %[[N]] in workspace
// CHECK:         fusion.kernel @pairs pairs stage 3 grid(b, g) {
// CHECK:         fusion.kernel @finish_rows local stage 4 grid(b, h, t) {
// CHECK:         fusion.kernel @finish_rows_2 local stage 4 grid(t) {
// CHECK:         taylor.yield
taylor.function @f of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o, "input:x" %x: !row) {
  %kr = taylor.rope %k : !k
  %n = taylor.pairwise { s = dot(%q, %kr) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  %dk = taylor.pairwise { s = dot(%q, %kr), p = dot(%n, %v) } visible(u <= t) -> columns(p, %q) : !q, !k, !o, !v -> !k
  %c = taylor.scan sum over(t) %x : !row
  %y = taylor.map %c + 1.0 : !row
  %w = taylor.reduce sum over(b, h) %c : !row -> !taylor.array<[t], f32>
  fusion.keep %kr because "every block of queries reads it" : !k
  fusion.keep %n because "every block of keys reads it" : !o
  fusion.keep %c because "it is summed token after token" : !row
  fusion.kernel pairs stage 3 grid(b, g) {
    fusion.sum %dk : !k
    fusion.store %dk as ["gradient:k"] : !k
  }
  fusion.kernel local stage 4 grid(b, h, t) {
    fusion.store %y as ["output:y"] : !row
  }
  fusion.kernel local stage 2 grid(b, h, t) {
    fusion.store %n in workspace : !o
  }
  fusion.kernel local stage 4 grid(t) {
    fusion.store %w as ["output:w"] : !taylor.array<[t], f32>
  }
  fusion.kernel scan stage 0 grid(b, h) {
    fusion.store %c in workspace : !row
  }
  fusion.kernel angles stage 0 grid(u) {
    fusion.table of %kr because "two read it" : !k
  }
  fusion.kernel local stage 1 grid(b, g, u) {
    fusion.store %kr in workspace : !k
  }
  taylor.yield "gradient:k" %dk, "output:y" %y, "output:w" %w : !k, !row, !taylor.array<[t], f32>
}

// Diagonals that are on the grid, an array of lags, and one without tokens.
// CHECK-LABEL: taylor.function @more_names
// CHECK:         fusion.kernel @lags local stage 0 grid(h, lag) {
// CHECK:         fusion.kernel @combine local stage 0 grid(h) {
// CHECK:         fusion.kernel @diagonals pairs stage 1 grid(b, h) {
taylor.function @more_names of @f("input:q" %q: !q, "input:k" %k: !k, "input:w" %w: !head) plan #tile.plan<row_sums = separate> {
  %lags = taylor.map %w * log(1.0 + lag) : !head -> !lags
  %y = taylor.map exp(%w) : !head
  %d = taylor.pairwise { s = dot(%q, %k), x = s * %lags } visible(u <= t) -> diagonals(x) : !q, !k, !lags -> !taylor.array<[b, h, lag], f32>
  %r = taylor.reduce sum over(b, lag) %d : !taylor.array<[b, h, lag], f32> -> !head
  fusion.keep %lags because "every walk along diagonals reads it" : !lags
  fusion.keep %d because "blocks add to it in memory" : !taylor.array<[b, h, lag], f32>
  fusion.kernel pairs stage 1 grid(b, h) {
    fusion.sum %d : !taylor.array<[b, h, lag], f32>
  }
  fusion.kernel local stage 0 grid(h, lag) {
    fusion.store %lags in workspace : !lags
  }
  fusion.kernel local stage 0 grid(h) {
    fusion.store %y as ["output:y"] : !head
  }
  taylor.yield "output:y" %y : !head
}
