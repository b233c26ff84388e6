// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations by value: inputs are formulas of positions, expected values stand below each specification.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: taylor-run %t/map.mlir --shape=b=1,h=2,g=1,t=3,e=2 --print | FileCheck %t/map.mlir
// RUN: taylor-run %t/reduce.mlir --shape=b=1,h=2,g=1,t=2,e=3 --print | FileCheck %t/reduce.mlir
// RUN: taylor-run %t/scan.mlir --shape=b=1,h=1,t=2,u=4,e=1 --print | FileCheck %t/scan.mlir
// RUN: taylor-run %t/align.mlir --shape=b=1,h=1,t=2,u=4,e=1 --print | FileCheck %t/align.mlir
// RUN: taylor-run %t/normalize.mlir --shape=b=1,h=1,t=1,e=2 --print | FileCheck %t/normalize.mlir
// RUN: taylor-run %t/rope.mlir --shape=b=1,h=1,t=2,d=4 --print | FileCheck %t/rope.mlir
// RUN: taylor-run %t/convolve.mlir --shape=b=1,h=1,t=4,d=1 --print | FileCheck %t/convolve.mlir
// RUN: taylor-run %t/gated_sum.mlir --shape=b=1,h=1,t=4,d=1 --print | FileCheck %t/gated_sum.mlir
// RUN: taylor-run %t/recurrences.mlir --shape=b=1,h=1,t=3,u=3,d=1,e=2 --print | FileCheck %t/recurrences.mlir
// RUN: taylor-run %t/dead.mlir --shape=b=1,h=1,t=3,u=2,d=1,e=1 --print | FileCheck %t/dead.mlir
// RUN: taylor-run %t/recurrence.mlir --shape=b=1,h=1,t=3,d=1,e=1 --print | FileCheck %t/recurrence.mlir
// RUN: taylor-run %t/pairwise.mlir --shape=b=1,h=1,t=2,u=3,d=1,e=1 --print | FileCheck %t/pairwise.mlir
// RUN: taylor-run %t/stop.mlir --shape=b=1,h=1,t=2,d=1 --grad --print | FileCheck %t/stop.mlir

//--- map.mlir
// g meets h by reading head h floordiv (H/G); an axis in a formula is an index, as a position on t (offset u - t = 0).
!x = !taylor.array<[h, t]>
!y = !taylor.array<[g, e]>
taylor.spec @map() {
  %x = taylor.map 10.0 * h + t -> !x
  %y = taylor.map 100.0 * (g + 1.0) + 0.5 * e -> !y
  %z = taylor.map %x + %y : !x, !y
  taylor.yield %z : !taylor.array<[h, t, e]>
}
// CHECK:      z [h = 2, t = 3, e = 2]:
// CHECK-NEXT: {{^}}  100 100.5{{$}}
// CHECK-NEXT: {{^}}  101 101.5{{$}}
// CHECK-NEXT: {{^}}  102 102.5{{$}}
// CHECK-NEXT: {{^}}  110 110.5{{$}}
// CHECK-NEXT: {{^}}  111 111.5{{$}}
// CHECK-NEXT: {{^}}  112 112.5{{$}}

//--- reduce.mlir
!x = !taylor.array<[h, t, e]>
taylor.spec @reduce() {
  %x = taylor.map 10.0 * h + t + 2.0 * e -> !x
  %s = taylor.reduce sum over(e) %x : !x
  %m = taylor.reduce mean over(h, e) %x : !x
  %t = taylor.reduce max over(e) -%x : !x
  %g = taylor.reduce sum over(group) %x : !x
  taylor.yield %s, %m, %t, %g : !taylor.array<[h, t]>, !taylor.array<[t]>, !taylor.array<[h, t]>, !taylor.array<[g, t, e]>
}
// CHECK:      s [h = 2, t = 2]:
// CHECK-NEXT: {{^}}  6 9{{$}}
// CHECK-NEXT: {{^}}  36 39{{$}}
// CHECK:      m [t = 2]:
// CHECK-NEXT: {{^}}  7 8{{$}}
// CHECK:      t [h = 2, t = 2]:
// CHECK-NEXT: {{^}}  -0 -1{{$}}
// CHECK-NEXT: {{^}}  -10 -11{{$}}
// CHECK:      g [g = 1, t = 2, e = 3]:
// CHECK-NEXT: {{^}}  10 14 18{{$}}
// CHECK-NEXT: {{^}}  12 16 20{{$}}

//--- scan.mlir
!x = !taylor.array<[u]>
taylor.spec @scan() {
  %x = taylor.map u + 1.0 -> !x
  %i = taylor.scan sum over(u) %x : !x
  %e = taylor.scan sum exclusive over(u) 2.0 * %x : !x
  %r = taylor.scan sum reverse over(u) %x : !x
  %q = taylor.scan sum exclusive reverse over(u) %x : !x
  %s = taylor.scan shift(1) over(u) %x : !x
  %p = taylor.scan shift(3) reverse over(u) %x : !x
  %wi = taylor.scan max over(u) abs(%x - 2.25) : !x
  %we = taylor.scan max exclusive over(u) abs(%x - 2.25) : !x
  %wr = taylor.scan max reverse over(u) abs(%x - 2.25) : !x
  %wq = taylor.scan max exclusive reverse over(u) abs(%x - 2.25) : !x
  %d = taylor.map select(u < 1.0, 0.0, 5.0) -> !x
  %di = taylor.scan sum over(u) within(%d : !x) %x : !x
  %dq = taylor.scan sum exclusive reverse over(u) within(%d : !x) %x : !x
  %ds = taylor.scan shift(1) over(u) within(%d : !x) %x : !x
  %dp = taylor.scan shift(1) reverse over(u) within(%d : !x) %x : !x
  %dm = taylor.scan max over(u) within(%d : !x) -%x : !x
  taylor.yield %i, %e, %r, %q, %s, %p, %wi, %we, %wr, %wq, %di, %dq, %ds, %dp, %dm : !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x
}
// CHECK:      i [u = 4]:
// CHECK-NEXT: {{^}}  1 3 6 10{{$}}
// CHECK:      e [u = 4]:
// CHECK-NEXT: {{^}}  0 2 6 12{{$}}
// CHECK:      r [u = 4]:
// CHECK-NEXT: {{^}}  10 9 7 4{{$}}
// CHECK:      q [u = 4]:
// CHECK-NEXT: {{^}}  9 7 4 0{{$}}
// CHECK:      s [u = 4]:
// CHECK-NEXT: {{^}}  0 1 2 3{{$}}
// CHECK:      p [u = 4]:
// CHECK-NEXT: {{^}}  4 0 0 0{{$}}
// CHECK:      wi [u = 4]:
// CHECK-NEXT: {{^}}  1.25 1.25 1.25 1.75{{$}}
// CHECK:      we [u = 4]:
// CHECK-NEXT: {{^}}  -inf 1.25 1.25 1.25{{$}}
// CHECK:      wr [u = 4]:
// CHECK-NEXT: {{^}}  1.75 1.75 1.75 1.75{{$}}
// CHECK:      wq [u = 4]:
// CHECK-NEXT: {{^}}  1.75 1.75 1.75 -inf{{$}}
// 1, then 2, 3, 4: two documents.
// CHECK:      di [u = 4]:
// CHECK-NEXT: {{^}}  1 2 5 9{{$}}
// CHECK:      dq [u = 4]:
// CHECK-NEXT: {{^}}  0 7 4 0{{$}}
// CHECK:      ds [u = 4]:
// CHECK-NEXT: {{^}}  0 0 2 3{{$}}
// CHECK:      dp [u = 4]:
// CHECK-NEXT: {{^}}  0 3 4 0{{$}}
// CHECK:      dm [u = 4]:
// CHECK-NEXT: {{^}}  -1 -2 -2 -2{{$}}

//--- align.mlir
// Queries stand at positions 2 and 3 of 4 keys.
!k = !taylor.array<[u]>
!q = !taylor.array<[t]>
taylor.spec @align() {
  %k = taylor.map 10.0 * u -> !k
  %q = taylor.map t -> !q
  %a = taylor.align %k to t : !k
  %b = taylor.align %q to u : !q
  taylor.yield %a, %b : !q, !k
}
// CHECK:      a [t = 2]:
// CHECK-NEXT: {{^}}  20 30{{$}}
// CHECK:      b [u = 4]:
// CHECK-NEXT: {{^}}  0 0 2 3{{$}}

//--- normalize.mlir
!x = !taylor.array<[t, e]>
!w = !taylor.array<[e]>
taylor.spec @normalize() {
  %x = taylor.map 3.0 + e -> !x
  %w = taylor.map 2.0 + e -> !w
  %l = taylor.normalize l2 %x epsilon(1.0e-12) : !x
  %b = taylor.normalize l2 %x epsilon(10.0) : !x
  %r = taylor.normalize rms %x weight(%w) epsilon(3.5) : !x, !w
  %n = taylor.normalize layer %x weight(%w) bias(%w) epsilon(0.0) : !x, !w, !w
  taylor.yield %l, %b, %r, %n : !x, !x, !x, !x
}
// CHECK:      l [t = 1, e = 2]:
// CHECK-NEXT: {{^}}  0.6 0.8{{$}}
// CHECK:      b [t = 1, e = 2]:
// CHECK-NEXT: {{^}}  0.3 0.4{{$}}
// rms: mean of squares 12.5, plus 3.5 is 16.
// CHECK:      r [t = 1, e = 2]:
// CHECK-NEXT: {{^}}  1.5 3{{$}}
// layer: -1 and 1, times and plus the weight.
// CHECK:      n [t = 1, e = 2]:
// CHECK-NEXT: {{^}}  0 6{{$}}

//--- rope.mlir
// Pairs turn by p and p / 100 at theta 10000 and d = 4; cos 1 = 0.5403023059, sin 1 = 0.8414709848.
!q = !taylor.array<[t, d]>
taylor.spec @rope() {
  %q = taylor.map d + 1.0 -> !q
  %h = taylor.rope %q : !q
  %i = taylor.rope %q layout(interleaved) offset(-1) : !q
  %j = taylor.rope %h inverse : !q
  %p = taylor.map t - 1.0 -> !taylor.array<[t]>
  %a = taylor.rope %q at %p layout(interleaved) : !q, !taylor.array<[t]>
  taylor.yield %h, %i, %j, %a : !q, !q, !q, !q
}
// half: channels 0, 2 turn by p and 1, 3 by p / 100.
// CHECK:      h [t = 2, d = 4]:
// CHECK-NEXT: {{^}}  1 2 3 4{{$}}
// CHECK-NEXT: {{^}}  -1.984110649 1.959900667 2.462377902 4.019799668{{$}}
// interleaved: channels 0, 1 turn by p; positions -1 and 0.
// CHECK:      i [t = 2, d = 4]:
// CHECK-NEXT: {{^}}  2.223244275 0.2391336269 3.039849335 3.969800502{{$}}
// CHECK-NEXT: {{^}}  1 2 3 4{{$}}
// CHECK:      j [t = 2, d = 4]:
// CHECK-NEXT: {{^}}  1 2 3 4{{$}}
// CHECK-NEXT: {{^}}  1 2 3 4{{$}}
// As i, whose offset is -1.
// CHECK:      a [t = 2, d = 4]:
// CHECK-NEXT: {{^}}  2.223244275 0.2391336269 3.039849335 3.969800502{{$}}
// CHECK-NEXT: {{^}}  1 2 3 4{{$}}

//--- convolve.mlir
!x = !taylor.array<[t, d]>
!w = !taylor.array<[j = 3]>
taylor.spec @convolve(%free: !w from parameter(ones)) {
  %x = taylor.map t + 1.0 + 0.0 * d -> !x
  %w = taylor.map pow(10.0, j) + 0.0 * %free : !w
  %y = taylor.convolve %x, %w : !x, !w
  %r = taylor.convolve %x, %w reverse : !x, !w
  %z = taylor.reduce sum over(d) %y : !x
  %s = taylor.reduce sum over(d) %r : !x
  taylor.yield %z, %s : !taylor.array<[t]>, !taylor.array<[t]>
}
// y[t] = 1 x[t-2] + 10 x[t-1] + 100 x[t]
// CHECK:      z [t = 4]:
// CHECK-NEXT: {{^}}  100 210 321 432{{$}}
// y[t] = 1 x[t+2] + 10 x[t+1] + 100 x[t]
// CHECK:      s [t = 4]:
// CHECK-NEXT: {{^}}  123 234 340 400{{$}}

//--- gated_sum.mlir
// x = a = [1, 2, 3, 4]
!x = !taylor.array<[t]>
taylor.spec @gated_sum(%free: !taylor.array<[]> from parameter(ones)) {
  %x = taylor.map t + 1.0 -> !x
  %y = taylor.gated_sum %x, %x : !x, !x
  %r = taylor.gated_sum %x, %x reverse : !x, !x
  %n = taylor.map select(t < 2.0, 0.0, 1.0) -> !x
  %w = taylor.gated_sum %x, %x within(%n : !x) : !x, !x
  %v = taylor.gated_sum %x, %x within(%n : !x) reverse : !x, !x
  %ten = taylor.map 10.0 + 0.0 * %free : !taylor.array<[]>
  %c = taylor.gated_sum %x, %ten : !x, !taylor.array<[]>
  %first = taylor.map select(t == 0.0, %x, 0.0) : !x
  %p = taylor.gated_sum %first, %x : !x, !x
  taylor.yield %y, %r, %w, %v, %c, %p : !x, !x, !x, !x, !x, !x
}
// y[t] = a[t] y[t-1] + x[t]
// CHECK:      y [t = 4]:
// CHECK-NEXT: {{^}}  1 4 15 64{{$}}
// r[t] = a[t+1] r[t+1] + x[t]
// CHECK:      r [t = 4]:
// CHECK-NEXT: {{^}}  119 59 19 4{{$}}
// Two documents of two tokens.
// CHECK:      w [t = 4]:
// CHECK-NEXT: {{^}}  1 4 3 16{{$}}
// CHECK:      v [t = 4]:
// CHECK-NEXT: {{^}}  5 2 19 4{{$}}
// A constant gate.
// CHECK:      c [t = 4]:
// CHECK-NEXT: {{^}}  1 12 123 1234{{$}}
// The running product.
// CHECK:      p [t = 4]:
// CHECK-NEXT: {{^}}  1 2 6 24{{$}}

//--- recurrences.mlir
// s[t,u] = (t+1)(u+1), v = [1, u].
!q = !taylor.array<[h, t, d]>
!k = !taylor.array<[g, u, d]>
!v = !taylor.array<[g, u, e]>
taylor.spec @recurrences() parameters(top : index = 2) {
  %q = taylor.map t + 1.0 -> !q
  %k = taylor.map u + 1.0 -> !k
  %v = taylor.map select(e < 1.0, 1.0, u) -> !v
  %n, %z, %c = taylor.recurrences [numerator, mass, count] %q, %k, %v weight(s) causal : !q, !k, !v
  %p = taylor.recurrences [mass] %q, %k, %v orders(0 to top) scale(0.5) bidirectional : !q, !k, !v
  %x = taylor.recurrences [mass] %q, %k, %v orders(1 to 2) coefficients(10.0, 1.0) score(min(s, 4.0)) causal visible(t - u < 2.0) : !q, !k, !v
  taylor.yield %n, %z, %c, %p, %x : !taylor.array<[h, t, e]>, !taylor.array<[h, t]>, !taylor.array<[h, t]>, !taylor.array<[h, t]>, !taylor.array<[h, t]>
}
// CHECK:      n [h = 1, t = 3, e = 2]:
// CHECK-NEXT: {{^}}  1 0{{$}}
// CHECK-NEXT: {{^}}  6 4{{$}}
// CHECK-NEXT: {{^}}  18 24{{$}}
// CHECK:      z [h = 1, t = 3]:
// CHECK-NEXT: {{^}}  1 6 18{{$}}
// CHECK:      c [h = 1, t = 3]:
// CHECK-NEXT: {{^}}  1 2 3{{$}}
// 1 + x + x^2/2 of x = (t+1)(u+1)/2, over all three keys.
// CHECK:      p [h = 1, t = 3]:
// CHECK-NEXT: {{^}}  7.75 16 27.75{{$}}
// 10 x + x^2 of x = min(s, 4), over the last two keys: 11; 24 + 56; 56 + 56.
// CHECK:      x [h = 1, t = 3]:
// CHECK-NEXT: {{^}}  11 80 112{{$}}

//--- dead.mlir
// Query 0 stands at position -1 and sees nothing: what depends on its sum is 0, and 7 is not added.
!q = !taylor.array<[h, t, d]>
!k = !taylor.array<[g, u, d]>
!v = !taylor.array<[g, u, e]>
!o = !taylor.array<[h, t, e]>
!row = !taylor.array<[h, t]>
taylor.spec @dead() {
  %q = taylor.map 0.0 * t -> !q
  %k = taylor.map 0.0 * u -> !k
  %v = taylor.map 2.0 + u -> !v
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / %z + 7.0 : !o, !row
  taylor.yield %o : !o
}
// CHECK:      o [h = 1, t = 3, e = 1]:
// CHECK-NEXT: {{^}}  0{{$}}
// CHECK-NEXT: {{^}}  9{{$}}
// CHECK-NEXT: {{^}}  9.5{{$}}

//--- recurrence.mlir
// Order 2: H = sum of k^2 v, O = 0.5 (2 q)^2 H, with H[-1] = 1.
!q = !taylor.array<[h, t, d]>
!k = !taylor.array<[g, u, d]>
!v = !taylor.array<[g, u, e]>
!s = !taylor.array<[g, e, f = 1]>
taylor.spec @recurrence() {
  %q = taylor.map t + 1.0 -> !q
  %k = taylor.map u + 1.0 -> !k
  %v = taylor.map 1.0 + 0.0 * u -> !v
  %s = taylor.map 1.0 + 0.0 * g + 0.0 * e -> !s
  %n, %z, %r = taylor.recurrence [numerator, mass, state] %q, %k, %v order(2) coefficient(0.5) scale(2.0) state(%s) causal : !q, !k, !v, !s
  taylor.yield %n, %z, %r : !taylor.array<[h, t, e]>, !taylor.array<[h, t]>, !taylor.array<[g, e, f]>
}
// CHECK:      n [h = 1, t = 3, e = 1]:
// CHECK-NEXT: {{^}}  4{{$}}
// CHECK-NEXT: {{^}}  48{{$}}
// CHECK-NEXT: {{^}}  270{{$}}
// CHECK:      z [h = 1, t = 3]:
// CHECK-NEXT: {{^}}  2 40 252{{$}}
// CHECK:      r [g = 1, e = 1, f = 1]:
// CHECK-NEXT: {{^}}  15{{$}}

//--- pairwise.mlir
// Queries at positions 1 and 2 of three keys; s = (t+1)(u+1).
!q = !taylor.array<[h, t, d]>
!k = !taylor.array<[g, u, d]>
!v = !taylor.array<[g, u, e]>
!row = !taylor.array<[h, t]>
!col = !taylor.array<[g, u]>
taylor.spec @pairwise() {
  %q = taylor.map t + 1.0 -> !q
  %k = taylor.map u + 1.0 -> !k
  %v = taylor.map 10.0 * u -> !v
  %y, %z, %c, %w, %x, %m = taylor.pairwise { s = dot(%q, %k)  m = maximum(s, 7.0)  w = s + m } visible(u <= t)
      -> rows(s, %v), rows(w), columns(s, %q), columns(s), total(s), maximum : !q, !k, !v
      -> !taylor.array<[h, t, e]>, !row, !taylor.array<[g, u, d]>, !col, !taylor.array<[h]>, !row
  taylor.yield %y, %z, %c, %w, %x, %m : !taylor.array<[h, t, e]>, !row, !taylor.array<[g, u, d]>, !col, !taylor.array<[h]>, !row
}
// CHECK:      y [h = 1, t = 2, e = 1]:
// CHECK-NEXT: {{^}}  40{{$}}
// CHECK-NEXT: {{^}}  240{{$}}
// CHECK:      z [h = 1, t = 2]:
// CHECK-NEXT: {{^}}  20 45{{$}}
// CHECK:      c [g = 1, u = 3, d = 1]:
// CHECK-NEXT: {{^}}  13{{$}}
// CHECK-NEXT: {{^}}  26{{$}}
// CHECK-NEXT: {{^}}  27{{$}}
// CHECK:      w [g = 1, u = 3]:
// CHECK-NEXT: {{^}}  5 10 9{{$}}
// CHECK:      x [h = 1]:
// CHECK-NEXT: {{^}}  24{{$}}
// CHECK:      m [h = 1, t = 2]:
// CHECK-NEXT: {{^}}  7 9{{$}}

//--- stop.mlir
// The gradient of x stop(x) is x, not 2 x; of a row that a query does not reach it is 0.
!x = !taylor.array<[t, d]>
taylor.spec @stop(%x: !x) {
  %y = taylor.map %x * stop(%x) - %x * %x / 2.0 : !x
  taylor.yield %y : !x
}
// CHECK:      gradient x [t = 2, d = 1]: norm 0.000000000e+00
