// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --functions compares a forward and a backward with the specification that they are of. Here both are written by hand.
// A wrong coefficient in the backward is found, and so is a forward that forgets its guard.
// REQUIRES: compiler
// RUN: taylor-run --functions=%s --shape=b=2,h=4,g=2,t=7,u=5,d=6,e=4 | FileCheck %s
// RUN: taylor-run %s --functions=%s --shape=b=1,h=1,t=1,d=2 | FileCheck %s
// RUN: cat %s | taylor-run --functions=- --shape=1,2,9,4 --mask=causal | FileCheck %s
// CHECK:      error      allowed  |reference|
// CHECK-NEXT: output:o {{.*}} ok
// CHECK-NEXT: gradient:q {{.*}} ok
// CHECK-NEXT: gradient:k {{.*}} ok
// CHECK-NEXT: gradient:v {{.*}} ok

// RUN: sed 's/(p + %%dZ)/(p + 1.0001 * %%dZ)/' %s > %t.mutated.mlir
// RUN: not taylor-run --functions=%t.mutated.mlir --shape=1,2,9,4 | FileCheck %s --check-prefix=MUTATED
// MUTATED: output:o {{.*}} ok
// MUTATED: gradient:q {{.*}} FAILED
// MUTATED: gradient:k {{.*}} FAILED
// MUTATED: gradient:v {{.*}} ok

// RUN: sed 's/%%N \/ %%Z live(%%n) : !o, !row, !row/%%N \/ %%Z : !o, !row/' %s > %t.unguarded.mlir
// RUN: not taylor-run --functions=%t.unguarded.mlir --shape=b=1,h=1,t=7,u=5,d=2 --forward-only | FileCheck %s --check-prefix=UNGUARDED
// UNGUARDED: output:o inf {{.*}} FAILED

// RUN: sed '/^taylor.function @softmax.backward/,$ d' %s > %t.forward.mlir
// RUN: taylor-run --functions=%t.forward.mlir --shape=1,2,9,4 --forward-only | FileCheck %s --check-prefix=FORWARD
// FORWARD: output:o {{.*}} ok
// FORWARD-NOT: gradient
// RUN: not taylor-run --functions=%t.forward.mlir --shape=1,2,9,4 2>&1 | FileCheck %s --check-prefix=NOBACKWARD
// NOBACKWARD: taylor-run: expected taylor.function @softmax.backward of @softmax in '{{.*}}', but got none; --forward-only does without
// RUN: not taylor-run %spec_dir/linear-relu.mlir --functions=%s --shape=1,2,9,4 2>&1 | FileCheck %s --check-prefix=NOFORWARD
// NOFORWARD: taylor-run: expected taylor.function @linear_relu.forward of @linear_relu in '{{.*}}', but got none
// RUN: sed '/yield "gradient:q"/ { s/"gradient:k" %%dk, //; s/ : !q, !k, !v$/ : !q, !v/ }' %s > %t.lacking.mlir
// RUN: not taylor-run --functions=%t.lacking.mlir --shape=1,2,9,4 2>&1 | FileCheck %s --check-prefix=LACKING
// LACKING: taylor-run: expected a result 'gradient:k' of @softmax, but got none
// RUN: sed 's/"saved:n" %%n, //; s/ : !o, !row, !row, !row$/ : !o, !row, !row/' %s > %t.unsaved.mlir
// RUN: not taylor-run --functions=%t.unsaved.mlir --shape=1,2,9,4 2>&1 | FileCheck %s --check-prefix=UNSAVED
// UNSAVED: taylor-run: expected arguments of @softmax.backward that the specification or its forward function gives, but got 'saved:n'

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @softmax(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

taylor.function @softmax.forward of @softmax("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
  %N, %Z, %n, %m = taylor.pairwise { s = dot(%q, %k)  x = s * rsqrt(size(d))  m = maximum(x)  w = exp(x - m) } visible(u <= t)
                   -> rows(w, %v), rows(w), rows(1.0), maximum : !q, !k, !v -> !o, !row, !row, !row
  %o = taylor.map %N / %Z live(%n) : !o, !row, !row
  taylor.yield "output:o" %o, "saved:z" %Z, "saved:n" %n, "saved:m" %m : !o, !row, !row, !row
}

taylor.function @softmax.backward of @softmax("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "output:o" %o: !o, "saved:z" %Z: !row,
                                              "saved:n" %n: !row, "saved:m" %m: !row, "cotangent:o" %do: !o) {
  %dN = taylor.map %do / %Z live(%n) : !o, !row, !row
  %r = taylor.reduce sum over(e) %do * %o live(%n) : !o, !o, !row
  %dZ = taylor.map -%r / %Z live(%n) : !row, !row, !row
  %dq, %dk, %dv = taylor.pairwise {
      s = dot(%q, %k)  p = dot(%dN, %v)  w = exp(s * rsqrt(size(d)) - %m)  ds = w * (p + %dZ) * rsqrt(size(d))
    } visible(u <= t) -> rows(ds, %k), columns(ds, %q), columns(w, %dN) : !q, !k, !o, !v, !row, !row -> !q, !k, !v
  taylor.yield "gradient:q" %dq, "gradient:k" %dk, "gradient:v" %dv : !q, !k, !v
}
