// A sum that is infinite without rounding is infinite with it, and not NaN: a score of -inf has the weight 0 in eager code too (test/random, seed 9600053).
// RUN: taylor-run %s --device=reference --dtype=f32 --unreal=5 --seed=53 --shape=b=2,h=4,g=2,t=13,u=13,d=16,e=16 | FileCheck %s
// RUN: taylor-run %s --device=eager --dtype=f32 --unreal=5 --seed=53 --shape=b=2,h=4,g=2,t=13,u=13,d=16,e=16 | FileCheck %s
// RUN: taylor-run %s --device=eager --dtype=bf16 --unreal=5 --seed=53 --shape=b=2,h=4,g=2,t=13,u=13,d=16,e=16 | FileCheck %s
// CHECK: y {{.*}}, 64 not finite
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @infinite_scores(%q: !q, %k: !k, %v: !v) {
  %kf = taylor.map softplus(%k) : !k
  %n, %z = taylor.recurrences [numerator, mass] %q, %kf, %v weight(softplus(s)) scale(0.1) causal : !q, !k, !v
  %y = taylor.map %n / (1.0 + abs(%z)) : !o, !row
  taylor.yield %y : !o
}
