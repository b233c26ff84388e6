// RUN: taylor-opt %s --taylor-plan-kernels --split-input-file --verify-diagnostics

// expected-error @below {{'taylor.function' op requires the size of axis 'd' in '!taylor.array<[b, h, t, d], f32>': run taylor-specialize before}}
taylor.function @size_unknown.forward of @size_unknown("input:q" %q: !taylor.array<[b, h, t, d], f32>) {
  %o = taylor.map %q + 1.0 : !taylor.array<[b, h, t, d], f32>
  taylor.yield "output:o" %o : !taylor.array<[b, h, t, d], f32>
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
taylor.function @norm.forward of @norm("input:q" %q: !q) {
  // expected-error @below {{'taylor.normalize' op unsupported in kernels: run taylor-expand-normalize before}}
  %o = taylor.normalize l2 over(d) %q epsilon(1.0e-12) : !q
  taylor.yield "output:o" %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, h, u, d = 4], f32>
!v = !taylor.array<[b, h, u, e = 4], f32>
taylor.function @series.forward of @series("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  // expected-error @below {{'taylor.recurrences' op unsupported in kernels: run taylor-recurrences-to-pairwise before}}
  %o = taylor.recurrences %q, %k, %v orders(0 to 2) causal : !q, !k, !v
  taylor.yield "output:o" %o : !taylor.array<[b, h, t, e = 4], f32>
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @largest.forward of @largest("input:a" %a: !row) {
  // expected-error @below {{'taylor.reduce' op unsupported maximum over tokens; expected a sum or a mean}}
  %o = taylor.reduce max over(t) %a : !row
  taylor.yield "output:o" %o : !taylor.array<[b, h], f32>
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, h, u, d = 4], f32>
taylor.function @late_maximum.forward of @late_maximum("input:q" %q: !q, "input:k" %k: !k) {
  // expected-error @below {{'taylor.pairwise' op unsupported maximum in an operation with sums into columns or a total, as gradients of its arrays are: the maximum is known after the last key only; sum into rows in an operation of its own, or leave the maximum out: exponentials are shifted by it where that cancels}}
  %o = taylor.pairwise { s = dot(%q, %k), m = maximum(s), w = exp(s - m) } -> columns(w, %q) : !q, !k -> !k
  taylor.yield "output:o" %o : !k
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, h, u, d = 4], f32>
!column = !taylor.array<[b, h, u], f32>
taylor.function @floor.forward of @floor("input:q" %q: !q, "input:k" %k: !k, "input:f" %f: !column) {
  // expected-error @below {{'taylor.pairwise' op expected a floor of the maximum that is the same for all keys of a row}}
  %o = taylor.pairwise { s = dot(%q, %k), m = maximum(s, %f), w = exp(s - m) } -> rows(w, %k) : !q, !k, !column -> !q
  taylor.yield "output:o" %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d = 4], f32>
!k = !taylor.array<[b, h, u, d = 4], f32>
taylor.function @total.forward of @total("input:q" %q: !q, "input:k" %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected a total without t, u and lag, but got '!taylor.array<[t], f32>'; use rows, columns or diagonals}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> total(s) : !q, !k -> !taylor.array<[t], f32>
  taylor.yield "output:o" %o : !taylor.array<[t], f32>
}

// -----

taylor.function @free.forward of @free("input:x" %x: !taylor.array<[b, h, t], f32>) parameters(w = 2.0) {
  // expected-error @below {{'taylor.parameter' op unsupported in kernels: run taylor-specialize before, which replaces parameters by their values}}
  %y = taylor.map %x * w : !taylor.array<[b, h, t], f32>
  taylor.yield "output:y" %y : !taylor.array<[b, h, t], f32>
}

// -----

// expected-error @below {{'taylor.function' op unsupported axis lag of an argument or a result in kernels: '!taylor.array<[h, lag], f32>'; make it of an array with a free axis, or reduce it to one}}
taylor.function @lags.forward of @lags("input:x" %x: !taylor.array<[b, h, t], f32>) {
  %y = taylor.map lag * h -> !taylor.array<[h, lag], f32>
  taylor.yield "output:y" %y : !taylor.array<[h, lag], f32>
}
