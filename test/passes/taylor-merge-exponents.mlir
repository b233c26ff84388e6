// Exponentials of inner products, merged and hidden, so that the largest exponent is that of a pair which counts.
// RUN: taylor-opt --split-input-file --cse --taylor-merge-exponents --canonicalize --cse %s | FileCheck %s

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!row = !taylor.array<[b, h, t]>

// CHECK-LABEL: taylor.function @merged
// CHECK: rows(exp(s0 + (t - u) * -0.5))
// CHECK: rows(exp(s0 - t))
// CHECK: rows(exp(s0 * 1.5))
// CHECK: rows(exp(s0 * 0.693147
// CHECK: rows(exp(min(s0, 0.0)))
// CHECK: rows(exp(max(s0, s0 * 2.0)))
// CHECK: rows(exp(select(s0 < 0.0, s0, 1.386294
// CHECK: rows(exp(select(t - u < 4.0, s0, -infinity())))
// CHECK: rows(exp(x0 - x0 * 0.5) * s0)
taylor.function @merged of @f("input:q" %q: !q, "input:k0" %k0: !k, "input:k1" %k1: !k, "input:k2" %k2: !k, "input:k3" %k3: !k, "input:k4" %k4: !k, "input:k5" %k5: !k, "input:k6" %k6: !k, "input:k7" %k7: !k, "input:k8" %k8: !k) {
  %0 = taylor.pairwise { s = dot(%q, %k0) } -> rows(exp(s) * exp(-0.5 * (t - u))) : !q, !k -> !row
  %1 = taylor.pairwise { s = dot(%q, %k1) } -> rows(exp(s) / exp(t)) : !q, !k -> !row
  %2 = taylor.pairwise { s = dot(%q, %k2) } -> rows(pow(exp(s), 1.5)) : !q, !k -> !row
  %3 = taylor.pairwise { s = dot(%q, %k3) } -> rows(pow(2.0, s)) : !q, !k -> !row
  %4 = taylor.pairwise { s = dot(%q, %k4) } -> rows(min(exp(s), 1.0)) : !q, !k -> !row
  %5 = taylor.pairwise { s = dot(%q, %k5) } -> rows(max(exp(s), exp(2.0 * s))) : !q, !k -> !row
  %6 = taylor.pairwise { s = dot(%q, %k6) } -> rows(select(s < 0.0, exp(s), 4.0)) : !q, !k -> !row
  %7 = taylor.pairwise { s = dot(%q, %k7) } -> rows(select(t - u < 4.0, exp(s), 0.0)) : !q, !k -> !row
  %8 = taylor.pairwise { s = dot(%q, %k8) } -> rows(exp(t - u) / exp(0.5 * (t - u)) * s) : !q, !k -> !row
  taylor.yield "output:0" %0, "output:1" %1, "output:2" %2, "output:3" %3, "output:4" %4, "output:5" %5, "output:6" %6, "output:7" %7, "output:8" %8 : !row, !row, !row, !row, !row, !row, !row, !row, !row
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>

// What is not chosen, or times 0, has no exponent; nor where two conditions say so.
// CHECK-LABEL: taylor.function @hidden
// CHECK: x0 = 0.0 < s0 } -> rows(select(x0, s0 + 1.0, exp(select(x0, -infinity(), s0))))
// CHECK: x0 = %g <= 0.0 } -> rows(exp(select(x0, -infinity(), s0)) * select(x0, 0.0, %g))
// CHECK: x0 = t - u < 4.0 } -> rows(select(x0, exp(select(x0, s0, -infinity())) * s0, 0.0))
// CHECK: x0 = %g <= 0.0 } -> rows(exp(select(x0, -infinity(), s0)) * 2.0 / 3.0 * (select(x0, 0.0, %g) * 0.5))
// CHECK: x0 = t - u < 4.0, x1 = %g <= 0.0 } -> rows(select(x0, exp(select(x1, -infinity(), select(x0, s0, -infinity()))) * select(x1, 0.0, %g), 0.0))
taylor.function @hidden of @f("input:q" %q: !q, "input:k0" %k0: !k, "input:k1" %k1: !k, "input:k2" %k2: !k, "input:k3" %k3: !k, "input:k4" %k4: !k, "input:g" %g: !column) {
  %0 = taylor.pairwise { s = dot(%q, %k0) } -> rows(select(0.0 < s, s + 1.0, exp(s))) : !q, !k -> !row
  %1 = taylor.pairwise { s = dot(%q, %k1) } -> rows(exp(s) * relu(%g)) : !q, !k, !column -> !row
  %2 = taylor.pairwise { s = dot(%q, %k2) } -> rows(select(t - u < 4.0, exp(s) * s, 0.0)) : !q, !k -> !row
  %3 = taylor.pairwise { s = dot(%q, %k3) } -> rows(exp(s) * 2.0 / 3.0 * (0.5 * relu(%g))) : !q, !k, !column -> !row
  %4 = taylor.pairwise { s = dot(%q, %k4) } -> rows(select(t - u < 4.0, exp(s) * relu(%g), 0.0)) : !q, !k, !column -> !row
  taylor.yield "output:0" %0, "output:1" %1, "output:2" %2, "output:3" %3, "output:4" %4 : !row, !row, !row, !row, !row
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>

// What tokens know alone are factors of states; an exponential that others read keeps its exponent; negative numbers have no logarithm, and
// no power is 0.
// CHECK-LABEL: taylor.function @kept
// CHECK: rows(s0 * exp(t) * exp(%g))
// CHECK: x0 = exp(s0) } -> rows(select(t - u < 4.0, x0, 0.0) + x0)
// CHECK: x0 = exp(s0) } -> rows(x0 + min(x0, 1.0))
// CHECK: rows(max(exp(s0), -1.0))
// CHECK: rows(pow(exp(s0), 0.0))
taylor.function @kept of @f("input:q" %q: !q, "input:k0" %k0: !k, "input:k1" %k1: !k, "input:k2" %k2: !k, "input:k3" %k3: !k, "input:k4" %k4: !k, "input:g" %g: !column) {
  %0 = taylor.pairwise { s = dot(%q, %k0) } -> rows(s * exp(t) * exp(%g)) : !q, !k, !column -> !row
  %1 = taylor.pairwise { s = dot(%q, %k1) } -> rows(select(t - u < 4.0, exp(s), 0.0) + exp(s)) : !q, !k -> !row
  %2 = taylor.pairwise { s = dot(%q, %k2) } -> rows(exp(s) + min(exp(s), 1.0)) : !q, !k -> !row
  %3 = taylor.pairwise { s = dot(%q, %k3) } -> rows(max(exp(s), -1.0)) : !q, !k -> !row
  %4 = taylor.pairwise { s = dot(%q, %k4) } -> rows(pow(exp(s), 0.0)) : !q, !k -> !row
  taylor.yield "output:0" %0, "output:1" %1, "output:2" %2, "output:3" %3, "output:4" %4 : !row, !row, !row, !row, !row
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!row = !taylor.array<[b, h, t]>

// Sums of one inner product by two formulas keep the maximum that they share; by one formula, both change.
// CHECK-LABEL: taylor.function @two_formulas
// CHECK: rows(pow(exp(s0), 2.0))
// CHECK: rows(exp(s0))
taylor.function @two_formulas of @f("input:q" %q: !q, "input:k" %k: !k) {
  %0 = taylor.pairwise { s = dot(%q, %k) } -> rows(pow(exp(s), 2.0)) : !q, !k -> !row
  %1 = taylor.pairwise { s = dot(%q, %k) } -> rows(exp(s)) : !q, !k -> !row
  taylor.yield "output:0" %0, "output:1" %1 : !row, !row
}
// CHECK-LABEL: taylor.function @one_formula
// CHECK: rows(exp(min(s0, 0.0)))
// CHECK: visible(u <= t) -> rows(exp(min(s0, 0.0)))
taylor.function @one_formula of @f("input:q" %q: !q, "input:k" %k: !k) {
  %0 = taylor.pairwise { s = dot(%q, %k) } -> rows(min(exp(s), 1.0)) : !q, !k -> !row
  %1 = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(min(exp(s), 1.0)) : !q, !k -> !row
  taylor.yield "output:0" %0, "output:1" %1 : !row, !row
}
