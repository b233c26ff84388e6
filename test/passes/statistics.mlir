// What passes counted, and what they decided and why; in every build, whatever LLVM was built with.
// RUN: taylor-opt %s --taylor-split-sums --mlir-pass-statistics -o %t 2>&1 | FileCheck %s --check-prefix=COUNTS
// RUN: taylor-opt %s --taylor-split-sums --debug-only=taylor-chunk-sums,taylor-split-sums -o %t 2>&1 | FileCheck %s --check-prefix=REASONS --implicit-check-not=taylor-
// RUN: taylor-opt %s --taylor-split-sums --debug-only=taylor-chunk-sums -o %t 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: taylor-opt %s --taylor-split-sums -o %t 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty

// COUNTS:      ... Pass statistics report ...
// COUNTS:      taylor-split-sums
// COUNTS-NEXT: (S) 1 split - operations over pairs that became several
// REASONS:     [taylor-split-sums] loc({{.*}}statistics.mlir":17:{{[0-9]+}}): 2 operations in place of one
// NONE-NOT:    {{.}}

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>

taylor.function @both of @f("input:q" %q: !q, "input:k" %k: !k) {
  %dq, %dk = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %k), columns(s, %q) : !q, !k -> !q, !k
  taylor.yield "gradient:q" %dq, "gradient:k" %dk : !q, !k
}

// One kind of sums stays.
taylor.function @rows of @f("input:q" %q: !q, "input:k" %k: !k) {
  %dq = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %k) : !q, !k -> !q
  taylor.yield "gradient:q" %dq : !q
}
