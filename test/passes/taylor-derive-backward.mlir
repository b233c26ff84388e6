// A specification and the vector-Jacobian product of its results, in one function.
// RUN: taylor-opt --taylor-derive-backward --canonicalize --cse %s | FileCheck %s

!head = !taylor.array<[h]>
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!col = !taylor.array<[b, h, u]>
!channel = !taylor.array<[e]>
!docs = !taylor.array<[b, t], i32>

// rows(w, %b) with cotangent %dy: dot(%dy, %b) is added to dw, and columns(w, %dy) is b's; s = dot(%q, %k) gives rows(ds, %k) and
// columns(ds, %q). An integer input has no gradient.
// CHECK-LABEL: taylor.function @pairs.joint of @pairs("input:q" %q: !bhtd, "input:k" %k: !bgud, "input:v" %v: !bgue, "input:n" %n: !bt_i32, "cotangent:o" %o: !bhte)
// CHECK: %[[O:.*]] = taylor.pairwise { s0 = dot(%q, %k) } visible(u <= t) -> rows(exp(s0), %v)
// CHECK: %[[D:.*]]:3 = taylor.pairwise { s0 = dot(%q, %k), s1 = dot(%o, %v), x0 = exp(s0), x1 = s1 * x0 } visible(u <= t) -> columns(x0, %o), rows(x1, %k), columns(x1, %q)
// CHECK-SAME: -> !bgue, !bhtd, !bgud
// CHECK: taylor.yield "output:o" %[[O]], "gradient:q" %[[D]]#1, "gradient:k" %[[D]]#2, "gradient:v" %[[D]]#0
taylor.spec @pairs(%q: !q, %k: !k, %v: !v, %n: !docs from input) {
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(exp(s), %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// Scalars of rows, columns and parameters get rows, columns and totals; the maximum is a constant.
// CHECK-LABEL: taylor.function @scalars.joint
// CHECK: %[[D:.*]]:3 = taylor.pairwise { s0 = dot(%q, %k), m = maximum(s0), x0 = exp(stop(s0) - m), x1 = %y * %p * x0 }
// CHECK-SAME: -> rows(x1), columns(x1), total(%y * (x0 * (%r + %c))) :
// CHECK: taylor.yield {{.*}} "gradient:r" %[[D]]#0, "gradient:c" %[[D]]#1, "gradient:p" %[[D]]#2
taylor.spec @scalars(%r: !row, %c: !col, %p: !taylor.array<[h]> from parameter(ones), %q: !q from input, %k: !k from input) {
  %y = taylor.pairwise { s = dot(%q, %k) m = maximum(s) w = exp(stop(s) - m) * (%r + %c) * %p } -> rows(w) : !q, !k, !row, !col, !taylor.array<[h]> -> !row
  taylor.yield %y : !row
}

// Where the query stands at the key x[t] - x[u] is 0: rows and columns leave those pairs out. Not so where tokens make x, where the
// weight reads x otherwise too, and without a mask.
// CHECK-LABEL: taylor.function @decays.joint
// CHECK-NOT: t == u
// CHECK: taylor.pairwise { x0 = %y * exp(%{{.*}} - %{{.*}}), x1 = select(t == u, 0.0, 1.0) } visible(u <= t) -> rows(x0 * x1), columns(-x0 * x1) :
// CHECK-NOT: t == u
// CHECK: taylor.yield "output:y"
taylor.spec @decays(%slope: !head from parameter(ones), %tokens: !taylor.array<[h, u]>, %c: !col) {
  %x = taylor.map exp(%slope) * u : !head
  %at = taylor.align %x to t : !taylor.array<[h, u]>
  %y = taylor.pairwise { w = exp(%at - %x) } visible(u <= t) -> rows(w) : !taylor.array<[h, t]>, !taylor.array<[h, u]> -> !row
  %tt = taylor.align %tokens to t : !taylor.array<[h, u]>
  %yt = taylor.pairwise { w = exp(%tt - %tokens) } visible(u <= t) -> rows(w) : !taylor.array<[h, t]>, !taylor.array<[h, u]> -> !row
  %yc = taylor.pairwise { w = exp(%at - %x) * %x } visible(u <= t) -> rows(w) : !taylor.array<[h, t]>, !taylor.array<[h, u]> -> !row
  %yl = taylor.pairwise { w = %at - %x } -> rows(w) : !taylor.array<[h, t]>, !taylor.array<[h, u]> -> !row
  taylor.yield %y, %yt, %yc, %yl : !row, !row, !row, !row
}

// What is read at a pair's lag gets the sum along that diagonal; a table, the sums of the lags that read each entry.
// CHECK-LABEL: taylor.function @lags.joint
// CHECK: %[[B:.*]] = taylor.reduce sum over(r) select(r == max(lag, 0.0), %table, 0.0)
// CHECK: %[[D:.*]]:3 = taylor.pairwise { s0 = dot(%q, %k), x0 = %y * %[[B]] } -> rows(x0, %k), columns(x0, %q), diagonals(%y * s0)
// CHECK-SAME: -> !bhtd, !bgud, !hlag
// CHECK: %[[T:.*]] = taylor.reduce sum over(lag) region(%table, %[[D]]#2)
// CHECK: taylor.yield {{.*}} "gradient:table" %[[T]]
taylor.spec @lags(%q: !q from input, %k: !k from input, %table: !taylor.array<[h, r = 8]> from parameter(zeros)) {
  %bias = taylor.reduce sum over(r) select(r == max(lag, 0.0), %table, 0.0) : !taylor.array<[h, r = 8]>
  %y = taylor.pairwise { s = dot(%q, %k) } -> rows(s * %bias) : !q, !k, !taylor.array<[h, lag]> -> !row
  taylor.yield %y : !row
}

// An operand's cotangent is summed over the axes that it lacks; the group of query heads is one.
// CHECK-LABEL: taylor.function @broadcasts.joint
// CHECK: taylor.reduce sum over(b, h, t)
// CHECK: taylor.reduce sum over(group, e)
taylor.spec @broadcasts(%x: !o, %w: !channel from parameter(ones), %g: !taylor.array<[b, g, t]>) {
  %y = taylor.map %x * %w * %g : !o, !channel, !taylor.array<[b, g, t]>
  taylor.yield %y : !o
}

// Conventions of torch: a clamp passes on its bound, relu does not, the larger of two gets half at a tie.
// CHECK-LABEL: taylor.function @ties.joint
// CHECK-DAG: taylor.map select(%x <= 5.0, %c, 0.0)
// CHECK-DAG: taylor.map select(%y <= 0.0, 0.0, %r)
// CHECK-DAG: taylor.map select(%a < %b, 0.0, select(%b < %a, %m, %m * 0.5))
taylor.spec @ties(%x: !row, %y: !row, %a: !row, %b: !row) {
  %c = taylor.map min(%x, 5.0) : !row
  %r = taylor.map relu(%y) : !row
  %m = taylor.map max(%a, %b) : !row, !row
  taylor.yield %c, %r, %m : !row, !row, !row
}

// x^0 does not move with x, nor 0^p with p for p >= 0: no factor there may be infinite.
// CHECK-LABEL: taylor.function @powers.joint
// CHECK: taylor.map %b * (pow(%y, 2.0) * 3.0) : !h
// CHECK: taylor.map %a * select(%p == 0.0, 0.0, %p * pow(%x, %p - 1.0))
// CHECK: taylor.map %a * select(and(%x == 0.0, 0.0 <= %p), 0.0, pow(%x, %p) * log(%x))
taylor.spec @powers(%x: !head from parameter(ones), %p: !head from parameter(ones), %y: !head from parameter(ones)) {
  %a = taylor.map pow(%x, %p) : !head, !head
  %b = taylor.map pow(%y, 3.0) + pow(%y, 0.0) : !head
  taylor.yield %a, %b : !head, !head
}

// Guards pass to what is derived.
// CHECK-LABEL: taylor.function @guards.joint
// CHECK: taylor.map %y / %x live(%n)
// CHECK-NOT: taylor.map {{.*}} : !bht
taylor.spec @guards(%x: !row, %n: !row from input) {
  %y = taylor.map log(%x) live(%n) : !row, !row
  taylor.yield %y : !row
}

// Scans and shifts run from the other end, a rotation turns back, an alignment goes back.
// CHECK-LABEL: taylor.function @adjoints.joint
// CHECK-DAG: taylor.scan sum exclusive reverse over(u)
// CHECK-DAG: taylor.scan shift(2) reverse over(u)
// CHECK-DAG: taylor.align %{{.*}} to u
// CHECK-DAG: taylor.rope %q_0 theta(500.0) layout(interleaved) offset(3) inverse
taylor.spec @adjoints(%f: !col, %q: !q) {
  %D = taylor.scan sum exclusive over(u) %f : !col
  %s = taylor.scan shift(2) over(u) %D : !col
  %t = taylor.align %s to t : !col
  %qr = taylor.rope %q theta(500.0) layout(interleaved) offset(3) : !q
  taylor.yield "t" %t, "q" %qr : !row, !q
}

// A gradient that nothing reaches is zero.
// CHECK-LABEL: taylor.function @stopped.joint
// CHECK: %[[Z:.*]] = taylor.map 0.0 -> !bht
// CHECK: taylor.yield {{.*}} "gradient:x" %[[Z]]
taylor.spec @stopped(%x: !row) {
  %y = taylor.map stop(exp(%x)) : !row
  taylor.yield %y : !row
}

// So is that of a running maximum which only shifts exponents: none is taken.
// CHECK-LABEL: taylor.function @shifted.joint
// CHECK: taylor.scan max over(u) %x
// CHECK-NOT: taylor.scan
// CHECK: taylor.yield
taylor.spec @shifted(%x: !col) {
  %m = taylor.scan max over(u) %x : !col
  %y = taylor.map exp(%x - stop(%m)) : !col, !col
  taylor.yield %y : !col
}

// The derivative of a series is a series, and a truncated exponential is its derivative and its last term.
// CHECK-LABEL: taylor.function @series.joint
// CHECK: taylor.map %y * ((%x * 0.5 + 1.0) * %x + 1.0)
// CHECK-LABEL: taylor.function @other_series.joint
// CHECK: taylor.map %y * (%x * 6.0 + 2.0)
taylor.spec @series(%x: !head from parameter(ones)) {
  %y = taylor.map ((%x * 0.16666666666666666 + 0.5) * %x + 1.0) * %x + 1.0 : !head
  taylor.yield %y : !head
}
taylor.spec @other_series(%x: !head from parameter(ones)) {
  %y = taylor.map (%x * 3.0 + 2.0) * %x + 1.0 : !head
  taylor.yield %y : !head
}

// A rotation at given positions is turned back at the same ones, which are constants.
// CHECK-LABEL: taylor.function @placed.joint
// CHECK: %[[P:.*]] = taylor.map %s * 2.0 : !bt
// CHECK: taylor.rope %q at %[[P]] theta(500.0) : !bhtd, !bt
// CHECK: %[[D:.*]] = taylor.rope %o at %[[P]] theta(500.0) inverse : !bhtd, !bt
// CHECK: "gradient:q" %[[D]], "gradient:s"
taylor.spec @placed(%q: !q, %s: !taylor.array<[b, t]>) {
  %p = taylor.map 2.0 * %s : !taylor.array<[b, t]>
  %o = taylor.rope %q at %p theta(500.0) : !q, !taylor.array<[b, t]>
  taylor.yield %o : !q
}

// A quotient that is not chosen, by 0 say, gives nothing: 0 / 0 would be no number.
// CHECK-LABEL: taylor.function @guarded.joint
// CHECK:       taylor.map select(%z == 0.0, 0.0, -(%{{.*}} / %z * (%a / %z)))
// CHECK:       %[[DA:.*]] = arith.divf
// CHECK-NEXT:  arith.select %{{.*}}, %{{.*}}, %[[DA]]
taylor.spec @guarded(%a: !head from parameter(ones), %z: !head from parameter(ones)) {
  %o = taylor.map select(%z == 0.0, 0.0, %a / %z) : !head, !head
  taylor.yield %o : !head
}

// Where nothing is asked of a key or a query, nothing comes of it, were it NaN: a square's derivative is guarded; a multiple of the cotangent needs no guard, nor does a
// formula with `live`.
// CHECK-LABEL: taylor.function @asked.joint
// CHECK:       taylor.map region(%w, %square)
// CHECK:       %[[IS:.*]] = arith.cmpf une, %arg1, %{{.*}} : f64
// CHECK-NEXT:  arith.select %[[IS]]
// CHECK:       taylor.map region(%v, %twice)
// CHECK-NOT:   arith.cmpf
// CHECK:       taylor.yield "output:twice"
taylor.spec @asked(%v: !v, %w: !v) {
  %twice = taylor.map 2.0 * %v : !v
  %square = taylor.map %w * %w : !v
  taylor.yield %twice, %square : !v, !v
}

// CHECK-LABEL: taylor.function @unguarded.joint
// CHECK:       taylor.map region(%q, %square)
// CHECK:       %[[IS:.*]] = arith.cmpf une, %arg1, %{{.*}} : f64
// CHECK-NEXT:  arith.select %[[IS]]
taylor.spec @unguarded(%q: !q) {
  %square = taylor.map %q * %q : !q
  taylor.yield %square : !q
}

// CHECK-LABEL: taylor.function @branches.joint
// CHECK-NOT:   arith.cmpf une
taylor.spec @branches(%q: !q) {
  %y = taylor.map relu(%q) + 2.0 * %q : !q
  taylor.yield %y : !q
}

// CHECK-LABEL: taylor.function @counted.joint
// CHECK-NOT:   arith.cmpf
taylor.spec @counted(%q: !q, %n: !row from input) {
  %square = taylor.map %q * %q live(%n) : !q, !row
  taylor.yield %square : !q
}

// What decodes has no gradients, and is a function of the specification whose step it is.
// CHECK-LABEL: taylor.function @unguarded.step.joint of @unguarded("input:q" %q: !bhtd) sources [projection] form #tile.form<parallel of step> carries #taylor.carry<queries> {
// CHECK:       taylor.yield "output:square" %{{[^,]*}} : !bhtd
taylor.spec @unguarded.step of @unguarded(%q: !q) form #tile.form<parallel of step> carries #taylor.carry<queries> {
  %square = taylor.map %q * %q : !q
  taylor.yield %square : !q
}
