// Weights that stay in the range of f16. What is refused: taylor-check-half-weights-invalid.mlir.
// RUN: taylor-opt %s --pass-pipeline="builtin.module(taylor.function(taylor-check-half-weights))" | FileCheck %s
// RUN: taylorc %spec_dir/softmax.mlir --dtype=f16 --emit=pairwise | taylor-opt --taylor-tile-pipeline=tiles=products=f16 | FileCheck %s --check-prefix=SPEC
// RUN: taylorc %spec_dir/decay-gates.mlir --dtype=f16 --emit=pairwise | taylor-opt --taylor-tile-pipeline=tiles=products=f16 | FileCheck %s --check-prefix=SPEC

// SPEC: tile.program @forward
// SPEC: tile.dot {{.*}}, f16>, {{.*}}, f16> -> {{.*}}, f32>

!q = !taylor.array<[b, h, t, d = 8], f16>
!k = !taylor.array<[b, g, u, d = 8], f16>
!v = !taylor.array<[b, g, u, e = 8], f16>
!o = !taylor.array<[b, h, t, e = 8], f32>
!row = !taylor.array<[b, h, t], f32>
!gate = !taylor.array<[b, g, u], f16>
!wide = !taylor.array<[b, g, u], f32>

// At most 1 with the running maximum taken off, whatever it is the maximum of.
// CHECK: taylor.function @running_maximum
taylor.function @running_maximum of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %n, %z, %m = taylor.pairwise { s = dot(%q, %k) m = maximum(s * 0.125, 0.0) w = exp(s * 0.125 - m) } visible(u <= t) -> rows(w, %v), rows(w), maximum : !q, !k, !v -> !o, !row, !row
  taylor.yield "output:n" %n, "output:z" %z : !o, !row
}

// Bounds on the score: 65504 itself is in range, and so is what tanh, a quotient with a bounded denominator or exp of a bounded number make.
// CHECK: taylor.function @bounded_scores
taylor.function @bounded_scores of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %a = taylor.pairwise { s = dot(%q, %k) } -> rows(max(min(s, 65504.0), -65504.0), %v) : !q, !k, !v -> !o
  %b = taylor.pairwise { s = dot(%q, %k) } -> rows(exp(min(s, 5.0)), %v) : !q, !k, !v -> !o
  %c = taylor.pairwise { s = dot(%q, %k) c = max(min(s, 8.0), -8.0) } -> rows(1.0 + c * (1.0 + c * (0.5 + c * 0.16)), %v) : !q, !k, !v -> !o
  %d = taylor.pairwise { s = dot(%q, %k) } -> rows(60000.0 * tanh(s), %v) : !q, !k, !v -> !o
  %e = taylor.pairwise { s = dot(%q, %k) } -> rows(1000.0 / (1.0 + exp(-s)), %v) : !q, !k, !v -> !o
  %f = taylor.pairwise { s = dot(%q, %k) } -> rows(select(s < 0.0, -1.0, 2.0), %v) : !q, !k, !v -> !o
  %g = taylor.pairwise { s = dot(%q, %k) x = min(s, 60000.0) } -> rows(sigmoid(s) + softplus(x) + expm1(min(x, 1.0)) + abs(sin(s)), %v) : !q, !k, !v -> !o
  taylor.yield "output:a" %a, "output:b" %b, "output:c" %c, "output:d" %d, "output:e" %e, "output:f" %f, "output:g" %g : !o, !o, !o, !o, !o, !o, !o
}

// A gate read from f16 is in range; one in f32 is where a map bounds it. Sums of weights alone are f32.
// CHECK: taylor.function @gates
taylor.function @gates of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:h" %h: !gate, "input:x" %x: !wide) sources [projection, projection, projection, projection, projection] {
  %s = taylor.map 1.0 / (1.0 + exp(-%x)) : !wide
  %n, %z = taylor.pairwise { s = dot(%q, %k) m = maximum(s) w = exp(s - m) } -> rows(w * %h * %s, %v), rows(w * %x) : !q, !k, !gate, !wide, !v, !wide -> !o, !row
  taylor.yield "output:n" %n, "output:z" %z : !o, !row
}

// A backward is not judged.
// CHECK: taylor.function @backward
taylor.function @backward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %n = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield "gradient:q" %n : !o
}
