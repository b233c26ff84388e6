// More memory, until no two kernels compute the same sums and each block has room.
// RUN: taylor-opt %s --pass-pipeline='builtin.module(taylor.function(taylor-form-kernels,taylor-delay-stores,taylor-order-stores,taylor-fit-kernels))' | FileCheck %s
// RUN: not taylor-opt %s --pass-pipeline='builtin.module(taylor.function(taylor-form-kernels,taylor-delay-stores,taylor-order-stores,taylor-fit-kernels{max-rounds=0}))' 2>&1 | FileCheck %s --check-prefix=ROUNDS
// ROUNDS: error: requires kernels that have room after 0 rounds, but the last one still kept more in memory; raise max-rounds

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>

// A running sum has a kernel of its own, which would loop over keys as well.
// CHECK-LABEL: taylor.function @shared
// CHECK:         %[[N:.*]] = taylor.pairwise
// CHECK:         fusion.keep %[[N]] because "two kernels would compute it"
// CHECK-NEXT:    fusion.kernel local stage 0 grid(b, h, t) {
// CHECK-NEXT:      fusion.store %[[N]] in workspace as ["output:n"]
// CHECK-NEXT:    }
// CHECK-NEXT:    fusion.kernel scan stage 1 grid(b, h) {
taylor.function @shared of @f("input:q" %q: !q, "input:k" %k: !k) {
  %n = taylor.pairwise { s = dot(%q, %k), x = exp(s) } visible(u <= t) -> rows(x) : !q, !k -> !row
  %c = taylor.scan sum over(t) %n : !row
  fusion.keep %c because "it is summed token after token" : !row
  taylor.yield "output:n" %n, "output:c" %c : !row, !row
}

// 16 queries of a sum and two arrays that it meets are 3072 bytes.
// CHECK-LABEL: taylor.function @rows
// CHECK:         %[[N:.*]] = taylor.pairwise
// CHECK:         fusion.keep %[[N]] because "a block of queries has no room for what is computed from it"
// CHECK-NEXT:    fusion.kernel local stage 1 grid(b, h, t) {
// CHECK-NEXT:      fusion.store %{{.*}} as ["output:o"]
// CHECK-NEXT:    }
// CHECK-NEXT:    fusion.kernel local stage 0 grid(b, h, t) {
// CHECK-NEXT:      fusion.store %[[N]] in workspace
taylor.function @rows of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:x" %x: !o, "input:y" %y: !o) plan #tile.plan<queries = 16, outer_keys = 16, block_bytes = 3071> {
  %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  %o = taylor.map %n * %x + %y : !o, !o, !o
  taylor.yield "output:o" %o : !o
}

// Where there is room, nothing changes.
// CHECK-LABEL: taylor.function @room
// CHECK-NOT:     fusion.keep
// CHECK:         fusion.kernel local stage 0 grid(b, h, t) {
// CHECK-NOT:     fusion.kernel
taylor.function @room of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:x" %x: !o, "input:y" %y: !o) plan #tile.plan<queries = 16, outer_keys = 16, block_bytes = 3072> {
  %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  %o = taylor.map %n * %x + %y : !o, !o, !o
  taylor.yield "output:o" %o : !o
}

// dk and the array that it meets are 2048 bytes, and there is room for them; with dv waiting, which counts a quarter more, they are 3328.
// CHECK-LABEL: taylor.function @columns
// CHECK:         %[[SUMS:.*]]:2 = taylor.pairwise
// CHECK-NEXT:    %[[DK:.*]] = taylor.map %[[SUMS]]#0 * %x
// CHECK:         fusion.keep apart %[[SUMS]]#0 because "a block of keys has no room for what is computed from it"
// CHECK-NEXT:    fusion.kernel pairs stage 0 grid(b, g) {
// CHECK-NOT:       fusion.store %[[DK]]
// CHECK:         fusion.kernel local stage 1 grid(b, g, u) {
// CHECK-NEXT:      fusion.store %[[DK]] as ["gradient:k"]
taylor.function @columns of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:x" %x: !k, "cotangent:o" %do: !o) plan #tile.plan<queries = 16, outer_keys = 16, block_bytes = 3071> {
  %dk0, %dv = taylor.pairwise { s = dot(%q, %k), p = dot(%do, %v) } visible(u <= t) -> columns(p, %q), columns(s, %do) : !q, !k, !o, !v -> !k, !v
  %dk = taylor.map %dk0 * %x : !k, !k
  %dw = taylor.map %dv + 1.0 : !v
  %dx = taylor.map %dw * %dw : !v
  taylor.yield "gradient:k" %dk, "gradient:w" %dw, "gradient:x" %dx : !k, !v, !v
}
