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

// Of a rounded result, a sum of finitely many powers is read from it and what rounding took; one of exponentials is read from it alone.
!narrow = !taylor.array<[b, h, t, e], bf16>
!qs = !taylor.array<[b, h, t, d], f32>
!ks = !taylor.array<[b, g, u, d], f32>
!vs = !taylor.array<[b, g, u, e], f32>
!os = !taylor.array<[b, h, t, e], f32>
!rows = !taylor.array<[b, h, t], f32>
// CHECK-LABEL: taylor.function @rounded.joint
// CHECK: %[[P:.*]]:2 = taylor.pairwise
// CHECK: %[[O:.*]] = taylor.map %[[P]]#0 / %[[P]]#1
// CHECK: %[[ROUNDED:.*]] = taylor.map %[[O]] : {{.*}} -> !{{.*}}bf16
// CHECK: %[[REST:.*]] = taylor.map %[[O]] - %[[ROUNDED]] : {{.*}} -> !{{.*}}bf16
// CHECK: taylor.reduce sum over(e) %o * (%[[ROUNDED]] + %[[REST]])
taylor.function @rounded.joint of @f("input:q" %q: !qs, "input:k" %k: !ks, "input:v" %v: !vs, "cotangent:o" %do: !os) {
  %n, %z = taylor.pairwise { s = dot(%q, %k) w = 1.0 + s * s } -> rows(w, %v), rows(w) : !qs, !ks, !vs -> !os, !rows
  %whole = taylor.map %n / %z : !os, !rows
  %o = taylor.map %whole : !os -> !narrow
  %r = taylor.reduce sum over(e) %do * %n : !os, !os
  taylor.yield "output:o" %o, "gradient:r" %r : !narrow, !rows
}

// CHECK-LABEL: taylor.function @rounded_exponentials.joint
// CHECK: %[[ROUNDED:.*]] = taylor.map %{{.*}} : {{.*}} -> !{{.*}}bf16
// CHECK-NOT: bf16
// CHECK: taylor.reduce sum over(e) %o * %[[ROUNDED]]
taylor.function @rounded_exponentials.joint of @f("input:q" %q: !qs, "input:k" %k: !ks, "input:v" %v: !vs, "cotangent:o" %do: !os) {
  %n, %z = taylor.pairwise { s = dot(%q, %k) w = exp(s) } -> rows(w, %v), rows(w) : !qs, !ks, !vs -> !os, !rows
  %whole = taylor.map %n / %z : !os, !rows
  %o = taylor.map %whole : !os -> !narrow
  %r = taylor.reduce sum over(e) %do * %n : !os, !os
  taylor.yield "output:o" %o, "gradient:r" %r : !narrow, !rows
}

// Who reads the sum may stand in front of the output; it follows it then.
// CHECK-LABEL: taylor.function @before.joint
// CHECK:       %[[O:.*]] = taylor.map %{{.*}}#0 / %[[Z:.*]] : !bhte, !bht
// CHECK-NEXT:  taylor.reduce sum over(e) %{{.*}} * %[[O]]
taylor.function @before.joint of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o) {
  %n, %z = taylor.pairwise { s = dot(%q, %k) w = exp(s) } -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %r = taylor.reduce sum over(e) %do * %n : !o, !o
  %o = taylor.map %n / %z : !o, !row
  taylor.yield "output:o" %o, "gradient:r" %r : !o, !row
}
