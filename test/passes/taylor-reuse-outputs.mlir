// The backward reads a sum back from an output, where the factor between them allows it.
// RUN: taylor-opt --taylor-reuse-outputs --taylor-simplify-arrays --canonicalize --cse %s | FileCheck %s

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!channel = !taylor.array<[e]>

// N / Z: N is O * Z.
// CHECK-LABEL: taylor.function @quotient.joint
// CHECK: %[[P:.*]]:2 = taylor.pairwise
// CHECK: %[[O:.*]] = taylor.map %[[P]]#0 / %[[P]]#1
// CHECK: %[[R:.*]] = taylor.reduce sum over(e) %o * %[[O]]
// CHECK: %[[Y:.*]] = taylor.map %[[R]] * %[[P]]#1
taylor.function @quotient.joint of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o) {
  %n, %z = taylor.pairwise { s = dot(%q, %k) w = exp(s) } -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n / %z : !o, !row
  %r = taylor.reduce sum over(e) %do * %n : !o, !o
  taylor.yield "output:o" %o, "gradient:r" %r : !o, !row
}

// A gate may be 0, so N is read back only where the gate cancels: here its own derivative multiplies by it.
// CHECK-LABEL: taylor.function @gate.joint
// CHECK: %[[N:.*]] = taylor.pairwise
// CHECK: %[[O:.*]] = taylor.map sigmoid(%a) * %[[N]]
// CHECK: %[[R:.*]] = taylor.reduce sum over(e) %o * %[[O]]
// CHECK: taylor.map %[[R]] * (1.0 - sigmoid(%a))
taylor.function @gate.joint of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:a" %a: !row, "cotangent:o" %do: !o) {
  %n = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v) : !q, !k, !v -> !o
  %o = taylor.map sigmoid(%a) * %n : !row, !o
  %r = taylor.reduce sum over(e) { g = sigmoid(%a) %do * %n * (g * (1.0 - g)) } : !row, !o, !o
  taylor.yield "output:o" %o, "gradient:r" %r : !o, !row
}

// CHECK-LABEL: taylor.function @gate_that_stays.joint
// CHECK: %[[N:.*]] = taylor.pairwise
// CHECK: taylor.reduce sum over(e) %o * %[[N]]
taylor.function @gate_that_stays.joint of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:a" %a: !row, "cotangent:o" %do: !o) {
  %n = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v) : !q, !k, !v -> !o
  %o = taylor.map sigmoid(%a) * %n : !row, !o
  %r = taylor.reduce sum over(e) %do * %n : !o, !o
  taylor.yield "output:o" %o, "gradient:r" %r : !o, !row
}

// A factor per channel cannot be divided out: a learned weight may be 0.
// CHECK-LABEL: taylor.function @channels.joint
// CHECK: %[[N:.*]] = taylor.pairwise
// CHECK: taylor.reduce sum over(e) %o * %[[N]]
taylor.function @channels.joint of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:w" %w: !channel, "cotangent:o" %do: !o) {
  %n = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v) : !q, !k, !v -> !o
  %o = taylor.map %n * %w : !o, !channel
  %r = taylor.reduce sum over(e) %do * %n : !o, !o
  taylor.yield "output:o" %o, "gradient:r" %r : !o, !row
}

// A part of a gate may be 0 as well: what would be left is a division by %a, which has no rows where it may not be 0.
// CHECK-LABEL: taylor.function @part_of_a_gate.joint
// CHECK: %[[N:.*]] = taylor.pairwise
// CHECK: taylor.reduce sum over(e) %o * %[[N]]
taylor.function @part_of_a_gate.joint of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:a" %a: !row, "input:m" %m: !row, "cotangent:o" %do: !o) {
  %n = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v) : !q, !k, !v -> !o
  %o = taylor.map %a * sigmoid(%m) * %n : !row, !row, !o
  %r = taylor.reduce sum over(e) %do * %n * sigmoid(%m) : !o, !o, !row
  taylor.yield "output:o" %o, "gradient:r" %r : !o, !row
}

// The same where the parts are one factor, and behind a minus.
// CHECK-LABEL: taylor.function @factor_of_two.joint
// CHECK: %[[N:.*]] = taylor.pairwise
// CHECK: taylor.reduce sum over(e) %o * %[[N]]
taylor.function @factor_of_two.joint of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:a" %a: !row, "input:m" %m: !row, "cotangent:o" %do: !o) {
  %n = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v) : !q, !k, !v -> !o
  %o = taylor.map %n * (-%a * sigmoid(%m)) : !o, !row, !row
  %r = taylor.reduce sum over(e) %do * %n * sigmoid(%m) : !o, !o, !row
  taylor.yield "output:o" %o, "gradient:r" %r : !o, !row
}
