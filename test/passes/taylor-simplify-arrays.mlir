// Array algebra that makes kernels cheaper.
// RUN: taylor-opt --taylor-simplify-arrays --canonicalize --cse %s | FileCheck %s

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
!channel = !taylor.array<[e]>
!narrow = !taylor.array<[b, h, t], f32>
!stored = !taylor.array<[b, h, t], bf16>

// A number leaves a sum over pairs.
// CHECK-LABEL: taylor.function @number_out_of_pairs
// CHECK: %[[P:.*]]:2 = taylor.pairwise { s0 = dot(%q, %k), x0 = exp(s0) } -> rows(x0, %v), columns(x0, %q)
// CHECK: taylor.map %[[P]]#0 * 0.5
// CHECK: taylor.map %[[P]]#1 * 0.5
taylor.function @number_out_of_pairs of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n, %c = taylor.pairwise { s = dot(%q, %k) w = exp(s) * 0.5 } -> rows(w, %v), columns(w, %q) : !q, !k, !v -> !o, !k
  taylor.yield "output:n" %n, "output:c" %c : !o, !k
}

// What is left is multiplied as it was: sums of a row and of a column of one product are the same numbers, and cancel.
// CHECK-LABEL: taylor.function @number_out_of_one_of_two
// CHECK: taylor.pairwise { s0 = dot(%q, %k), x0 = s0 * (exp(s0) * %r) } {{.*}} rows(x0), columns(x0)
taylor.function @number_out_of_one_of_two of @f("input:q" %q: !q, "input:k" %k: !k, "input:r" %r: !row) {
  %z, %c = taylor.pairwise { s = dot(%q, %k) w = exp(s) * %r } -> rows(s * w), columns(-(s * (2.0 * w))) : !q, !k, !row -> !row, !column
  taylor.yield "output:z" %z, "output:c" %c : !row, !column
}

// Unused outputs go, and with them products, operands and scalars.
// CHECK-LABEL: taylor.function @unused_output
// CHECK: taylor.pairwise { s0 = dot(%q, %k) } -> rows(exp(s0)) : !bhtd, !bgud -> !bht
taylor.function @unused_output of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:o" %o: !o, "input:r" %r: !row) {
  %z, %n = taylor.pairwise { s = dot(%q, %k) p = dot(%o, %v) } -> rows(exp(s)), rows(p * %r, %v) : !q, !k, !o, !v, !row -> !row, !o
  taylor.yield "output:z" %z : !row
}

// What does not vary along a sum leaves it, a condition too.
// CHECK-LABEL: taylor.function @factor_out_of_reduction
// CHECK: %[[R:.*]] = taylor.reduce sum over(e) %x * %w
// CHECK: taylor.map -(%[[R]] * %r) / %z
// CHECK: %[[S:.*]] = taylor.reduce sum over(e) %x :
// CHECK: taylor.map select(%r < %z, %[[S]] * %r, 0.0)
// CHECK: taylor.map -%[[R]] / %z / %z :
taylor.function @factor_out_of_reduction of @f("input:x" %x: !o, "input:w" %w: !channel, "input:r" %r: !row, "input:z" %z: !row) {
  %y = taylor.reduce sum over(e) -(%r * %x / %z) * %w : !row, !o, !row, !channel
  %s = taylor.reduce sum over(e) select(%r < %z, %x * %r, 0.0) : !row, !row, !o
  // Divided twice: the square of a mass may be infinite.
  %p = taylor.reduce sum over(e) -(%x / %z) * (%w / %z) : !o, !row, !channel
  taylor.yield "output:y" %y, "output:s" %s, "output:p" %p : !row, !row, !row
}

// A key/value head varies along the heads, but not within a group.
// CHECK-LABEL: taylor.function @groups
// CHECK: %[[R:.*]] = taylor.reduce sum over(h) %x * %g
// CHECK: %[[S:.*]] = taylor.reduce sum over(group) %x :
// CHECK: taylor.map %[[S]] * %g : !bgt, !bgt
taylor.function @groups of @f("input:x" %x: !row, "input:g" %g: !taylor.array<[b, g, t]>) {
  %y = taylor.reduce sum over(h) %x * %g : !row, !taylor.array<[b, g, t]>
  %s = taylor.reduce sum over(group) %x * %g : !row, !taylor.array<[b, g, t]>
  taylor.yield "output:y" %y, "output:s" %s : !taylor.array<[b, t]>, !taylor.array<[b, g, t]>
}

// A map with one reader becomes part of it; one that rounds, or has a guard that its reader lacks, does not.
// CHECK-LABEL: taylor.function @fusion
// CHECK: %[[B:.*]] = taylor.map %x * 2.0 : !bht_f32 -> !bht_bf16
// CHECK: %[[G:.*]] = taylor.map log(%x) live(%n)
// CHECK: %[[C:.*]] = taylor.map %[[B]] + %[[G]]
// CHECK: %[[E:.*]] = taylor.map exp(%x) + 1.0 live(%n)
taylor.function @fusion of @f("input:x" %x: !narrow, "input:n" %n: !narrow) {
  %b = taylor.map %x * 2.0 : !narrow -> !stored
  %g = taylor.map log(%x) live(%n) : !narrow, !narrow
  %c = taylor.map %b + %g : !stored, !narrow
  %d = taylor.map exp(%x) : !narrow
  %e = taylor.map %d + 1.0 live(%n) : !narrow, !narrow
  taylor.yield "output:c" %c, "output:e" %e : !narrow, !narrow
}

// Factors that are multiplied and divided cancel.
// CHECK-LABEL: taylor.function @cancelled
// CHECK: taylor.map %x * (1.0 - sigmoid(%a))
taylor.function @cancelled of @f("input:x" %x: !row, "input:a" %a: !row) {
  %y = taylor.map { g = sigmoid(%a) %x / g * (g * (1.0 - g)) } : !row, !row
  taylor.yield "output:y" %y : !row
}

// The index along a free axis is that of an array that has it: an operand that nothing reads stays where only it has the axis.
// CHECK-LABEL: taylor.function @sized
// CHECK: taylor.map region(%a, %x)
// CHECK: taylor.map select(r == 1.0, %a, 0.0) * %x :
taylor.function @sized of @f("input:a" %a: !taylor.array<[h]>, "input:x" %x: !taylor.array<[h, r = 4]>) {
  %y = taylor.map region(%a, %x) {
    ^bb0(%p: f64, %q: f64):
      %r = taylor.index "r" : f64
      %one = arith.constant 1.0 : f64
      %zero = arith.constant 0.0 : f64
      %c = arith.cmpf oeq, %r, %one : f64
      %s = arith.select %c, %p, %zero : f64
      taylor.yield %s : f64
  } : !taylor.array<[h]>, !taylor.array<[h, r = 4]>
  %z = taylor.map { w = select(r == 1.0, %a, 0.0) w * %x } : !taylor.array<[h]>, !taylor.array<[h, r = 4]>
  taylor.yield "output:y" %y, "output:z" %z : !taylor.array<[h, r = 4]>, !taylor.array<[h, r = 4]>
}
