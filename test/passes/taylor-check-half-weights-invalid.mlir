// RUN: taylor-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(taylor.function(taylor-check-half-weights))"
// The message stands at the specification's line.
// RUN: not taylor-opt %spec_dir/linear-relu.mlir --taylor-to-pairwise="dtype=f16" --taylor-tile-pipeline=tiles=products=f16 2>&1 | FileCheck %s
// CHECK: linear-relu.mlir:{{[0-9]+}}:{{[0-9]+}}: error: expected weights of at most 65504, the largest number of f16, in which GPUs multiply them, but got -inf to inf: use bf16, or bound the score, as in score(max(min(s, 8.0), -8.0))
// It is all that taylorc says, which tries the chunked form, too.
// RUN: not taylorc %spec_dir/linear-relu.mlir --dtype=f16 --target=sm_80 --quiet -o %t.so 2>&1 | FileCheck %s --check-prefix=ONCE --implicit-check-not=error
// ONCE: error: expected weights of at most 65504

!q = !taylor.array<[b, h, t, d = 8], f16>
!k = !taylor.array<[b, g, u, d = 8], f16>
!v = !taylor.array<[b, g, u, e = 8], f16>
!o = !taylor.array<[b, h, t, e = 8], f32>
taylor.function @one_sided of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  // expected-error @below {{expected weights of at most 65504, the largest number of f16, in which GPUs multiply them, but got -inf to 5: use bf16, or bound the score, as in score(max(min(s, 8.0), -8.0))}}
  %n = taylor.pairwise { s = dot(%q, %k) } -> rows(min(s, 5.0), %v) : !q, !k, !v -> !o
  taylor.yield "output:n" %n : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 8], f16>
!k = !taylor.array<[b, g, u, d = 8], f16>
!v = !taylor.array<[b, g, u, e = 8], f16>
!o = !taylor.array<[b, h, t, e = 8], f32>
!row = !taylor.array<[b, h, t], f32>
taylor.function @exponential_past_the_range of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  // expected-error @below {{but got 0 to 162755: use bf16}}
  %n, %z = taylor.pairwise { s = dot(%q, %k) w = exp(min(s, 12.0)) } -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  taylor.yield "output:n" %n, "output:z" %z : !o, !row
}

// -----

!q = !taylor.array<[b, h, t, d = 8], f16>
!k = !taylor.array<[b, g, u, d = 8], f16>
!v = !taylor.array<[b, g, u, e = 8], f16>
!o = !taylor.array<[b, h, t, e = 8], f32>
!row = !taylor.array<[b, h, t], f32>
taylor.function @another_exponent of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  // expected-error @below {{but got 0 to inf: use bf16}}
  %n, %m = taylor.pairwise { s = dot(%q, %k) m = maximum(s * 0.125) w = exp(s * 0.25 - m) } -> rows(w, %v), maximum : !q, !k, !v -> !o, !row
  taylor.yield "output:n" %n, "output:m" %m : !o, !row
}

// -----

!q = !taylor.array<[b, h, t, d = 8], f16>
!k = !taylor.array<[b, g, u, d = 8], f16>
!v = !taylor.array<[b, g, u, e = 8], f16>
!o = !taylor.array<[b, h, t, e = 8], f32>
!wide = !taylor.array<[b, g, u], f32>
taylor.function @unknown_gate_and_zero_denominator of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:x" %x: !wide) sources [projection, projection, projection, projection] {
  // expected-error @below {{but got -inf to inf: use bf16}}
  %n = taylor.pairwise { s = dot(%q, %k) } -> rows(tanh(s) * (1.0 / (1.0 + tanh(%x))), %v) : !q, !k, !wide, !v -> !o
  taylor.yield "output:n" %n : !o
}
