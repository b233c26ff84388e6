// What is ready early waits for a later kernel over the same grid.
// RUN: taylor-opt %s --taylor-delay-stores | FileCheck %s

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>

// No kernel reads %x. The keys, on another grid, stay where they are.
// CHECK-LABEL: taylor.function @waits
// CHECK:         fusion.kernel local stage 1 grid(b, h, t) {
// CHECK-NEXT:      fusion.store %{{.*}} as ["output:n"]
// CHECK-NEXT:      fusion.store %{{.*}} as ["output:x"]
// CHECK-NEXT:    }
// CHECK-NEXT:    fusion.kernel local stage 0 grid(b, g, u) {
// CHECK-NEXT:      fusion.store
// CHECK-NEXT:    }
// CHECK-NEXT:    taylor.yield
taylor.function @waits of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:a" %a: !row) {
  %x = taylor.map 2.0 * %a : !row
  %kr = taylor.map 2.0 * %k : !k
  %n = taylor.pairwise { s = dot(%q, %kr) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  fusion.keep %kr because "every block of queries reads it" : !k
  fusion.kernel local stage 1 grid(b, h, t) {
    fusion.store %n as ["output:n"] : !o
  }
  fusion.kernel local stage 0 grid(b, h, t) {
    fusion.store %x as ["output:x"] : !row
  }
  fusion.kernel local stage 0 grid(b, g, u) {
    fusion.store %kr in workspace : !k
  }
  taylor.yield "output:n" %n, "output:x" %x : !o, !row
}

// A running sum of stage 1 reads %y.
// CHECK-LABEL: taylor.function @is_read
// CHECK:         fusion.kernel local stage 2 grid(b, h, t) {
// CHECK-NEXT:      fusion.store %{{.*}} as ["output:o"]
// CHECK-NEXT:    }
// CHECK-NEXT:    fusion.kernel local stage 0 grid(b, h, t) {
// CHECK-NEXT:      fusion.store %{{.*}} in workspace
taylor.function @is_read of @f("input:a" %a: !row) {
  %y = taylor.map exp(%a) : !row
  %c = taylor.scan sum over(t) %y : !row
  %o = taylor.map %c + 1.0 : !row
  fusion.keep %y because "two kernels would compute it" : !row
  fusion.keep %c because "it is summed token after token" : !row
  fusion.kernel local stage 2 grid(b, h, t) {
    fusion.store %o as ["output:o"] : !row
  }
  fusion.kernel local stage 0 grid(b, h, t) {
    fusion.store %y in workspace : !row
  }
  fusion.kernel scan stage 1 grid(b, h) {
    fusion.store %c in workspace : !row
  }
  taylor.yield "output:o" %o : !row
}
