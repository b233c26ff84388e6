// Chains of 25 values, each used twice by the next: whatever looks at a value once for each use needs 2^25 looks,
// which are minutes; all of these take a second.
// RUN: timeout 60 taylorc %s --spec=channels --head-dim=8 --target=x86-64-v3 --form=parallel --emit=asm --quiet -o %t
// RUN: timeout 60 taylorc %s --spec=channels --head-dim=8 --target=x86-64-v3 --form=chunked -o %t.so --quiet
// RUN: timeout 60 taylorc %s --spec=rows --head-dim=8 --target=x86-64-v3 --form=parallel --emit=asm --quiet -o %t
// RUN: timeout 60 taylorc %s --spec=rows --head-dim=8 --target=x86-64-v3 --form=chunked -o %t.so --quiet
// RUN: timeout 60 taylorc %s --spec=weights --head-dim=8 --target=x86-64-v3 --emit=asm --quiet -o %t
// RUN: timeout 60 taylorc %s --spec=powers --head-dim=8 --target=x86-64-v3 --emit=asm --quiet -o %t
// RUN: timeout 60 taylor-opt --taylor-to-pairwise=head-dim=8 %s | FileCheck %s
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>

// CHECK: taylor.function @channels.forward
// CHECK: taylor.function @channels.backward
taylor.spec @channels(%q: !q, %k: !k, %v: !v) {
  %qy = taylor.map { y0 = %q,
    y1 = y0 * y0 * 0.1 + y0, y2 = y1 * y1 * 0.1 + y1, y3 = y2 * y2 * 0.1 + y2, y4 = y3 * y3 * 0.1 + y3, y5 = y4 * y4 * 0.1 + y4,
    y6 = y5 * y5 * 0.1 + y5, y7 = y6 * y6 * 0.1 + y6, y8 = y7 * y7 * 0.1 + y7, y9 = y8 * y8 * 0.1 + y8, y10 = y9 * y9 * 0.1 + y9,
    y11 = y10 * y10 * 0.1 + y10, y12 = y11 * y11 * 0.1 + y11, y13 = y12 * y12 * 0.1 + y12, y14 = y13 * y13 * 0.1 + y13, y15 = y14 * y14 * 0.1 + y14,
    y16 = y15 * y15 * 0.1 + y15, y17 = y16 * y16 * 0.1 + y16, y18 = y17 * y17 * 0.1 + y17, y19 = y18 * y18 * 0.1 + y18, y20 = y19 * y19 * 0.1 + y19,
    y21 = y20 * y20 * 0.1 + y20, y22 = y21 * y21 * 0.1 + y21, y23 = y22 * y22 * 0.1 + y22, y24 = y23 * y23 * 0.1 + y23, y25 = y24 * y24 * 0.1 + y24,
    y25 } : !q
  %n, %z = taylor.recurrences [numerator, mass] %qy, %k, %v orders(0 to 2) causal : !q, !k, !v
  %p = taylor.map { y0 = %n / %z,
    y1 = select(0.0 < y0, y0, 0.1 * y0), y2 = select(0.0 < y1, y1, 0.1 * y1), y3 = select(0.0 < y2, y2, 0.1 * y2), y4 = select(0.0 < y3, y3, 0.1 * y3), y5 = select(0.0 < y4, y4, 0.1 * y4),
    y6 = select(0.0 < y5, y5, 0.1 * y5), y7 = select(0.0 < y6, y6, 0.1 * y6), y8 = select(0.0 < y7, y7, 0.1 * y7), y9 = select(0.0 < y8, y8, 0.1 * y8), y10 = select(0.0 < y9, y9, 0.1 * y9),
    y11 = select(0.0 < y10, y10, 0.1 * y10), y12 = select(0.0 < y11, y11, 0.1 * y11), y13 = select(0.0 < y12, y12, 0.1 * y12), y14 = select(0.0 < y13, y13, 0.1 * y13), y15 = select(0.0 < y14, y14, 0.1 * y14),
    y16 = select(0.0 < y15, y15, 0.1 * y15), y17 = select(0.0 < y16, y16, 0.1 * y16), y18 = select(0.0 < y17, y17, 0.1 * y17), y19 = select(0.0 < y18, y18, 0.1 * y18), y20 = select(0.0 < y19, y19, 0.1 * y19),
    y21 = select(0.0 < y20, y20, 0.1 * y20), y22 = select(0.0 < y21, y21, 0.1 * y21), y23 = select(0.0 < y22, y22, 0.1 * y22), y24 = select(0.0 < y23, y23, 0.1 * y23), y25 = select(0.0 < y24, y24, 0.1 * y24),
    y25 } : !o, !row
  %r = taylor.reduce sum over(e) { y0 = %p,
    y1 = y0 * y0 * 0.1 + y0, y2 = y1 * y1 * 0.1 + y1, y3 = y2 * y2 * 0.1 + y2, y4 = y3 * y3 * 0.1 + y3, y5 = y4 * y4 * 0.1 + y4,
    y6 = y5 * y5 * 0.1 + y5, y7 = y6 * y6 * 0.1 + y6, y8 = y7 * y7 * 0.1 + y7, y9 = y8 * y8 * 0.1 + y8, y10 = y9 * y9 * 0.1 + y9,
    y11 = y10 * y10 * 0.1 + y10, y12 = y11 * y11 * 0.1 + y11, y13 = y12 * y12 * 0.1 + y12, y14 = y13 * y13 * 0.1 + y13, y15 = y14 * y14 * 0.1 + y14,
    y16 = y15 * y15 * 0.1 + y15, y17 = y16 * y16 * 0.1 + y16, y18 = y17 * y17 * 0.1 + y17, y19 = y18 * y18 * 0.1 + y18, y20 = y19 * y19 * 0.1 + y19,
    y21 = y20 * y20 * 0.1 + y20, y22 = y21 * y21 * 0.1 + y21, y23 = y22 * y22 * 0.1 + y22, y24 = y23 * y23 * 0.1 + y23, y25 = y24 * y24 * 0.1 + y24,
    y25 } : !o
  %o = taylor.map %p * rsqrt(%r * %r + 1.0) : !o, !row
  taylor.yield %o : !o
}

// CHECK: taylor.function @rows.forward
// CHECK: taylor.function @rows.backward
taylor.spec @rows(%q: !q, %k: !k, %v: !v, %a: !row from projection, %c: !column from projection) {
  %ky = taylor.map { y0 = %c,
    y1 = y0 * y0 * 0.1 + y0, y2 = y1 * y1 * 0.1 + y1, y3 = y2 * y2 * 0.1 + y2, y4 = y3 * y3 * 0.1 + y3, y5 = y4 * y4 * 0.1 + y4,
    y6 = y5 * y5 * 0.1 + y5, y7 = y6 * y6 * 0.1 + y6, y8 = y7 * y7 * 0.1 + y7, y9 = y8 * y8 * 0.1 + y8, y10 = y9 * y9 * 0.1 + y9,
    y11 = y10 * y10 * 0.1 + y10, y12 = y11 * y11 * 0.1 + y11, y13 = y12 * y12 * 0.1 + y12, y14 = y13 * y13 * 0.1 + y13, y15 = y14 * y14 * 0.1 + y14,
    y16 = y15 * y15 * 0.1 + y15, y17 = y16 * y16 * 0.1 + y16, y18 = y17 * y17 * 0.1 + y17, y19 = y18 * y18 * 0.1 + y18, y20 = y19 * y19 * 0.1 + y19,
    y21 = y20 * y20 * 0.1 + y20, y22 = y21 * y21 * 0.1 + y21, y23 = y22 * y22 * 0.1 + y22, y24 = y23 * y23 * 0.1 + y23, y25 = y24 * y24 * 0.1 + y24,
    y25 * %k } : !column, !k
  %n, %z = taylor.recurrences [numerator, mass] %q, %ky, %v orders(0 to 2) causal : !q, !k, !v
  %r = taylor.reduce sum over(e) { y0 = %a,
    y1 = select(0.0 < y0, y0, 0.1 * y0), y2 = select(0.0 < y1, y1, 0.1 * y1), y3 = select(0.0 < y2, y2, 0.1 * y2), y4 = select(0.0 < y3, y3, 0.1 * y3), y5 = select(0.0 < y4, y4, 0.1 * y4),
    y6 = select(0.0 < y5, y5, 0.1 * y5), y7 = select(0.0 < y6, y6, 0.1 * y6), y8 = select(0.0 < y7, y7, 0.1 * y7), y9 = select(0.0 < y8, y8, 0.1 * y8), y10 = select(0.0 < y9, y9, 0.1 * y9),
    y11 = select(0.0 < y10, y10, 0.1 * y10), y12 = select(0.0 < y11, y11, 0.1 * y11), y13 = select(0.0 < y12, y12, 0.1 * y12), y14 = select(0.0 < y13, y13, 0.1 * y13), y15 = select(0.0 < y14, y14, 0.1 * y14),
    y16 = select(0.0 < y15, y15, 0.1 * y15), y17 = select(0.0 < y16, y16, 0.1 * y16), y18 = select(0.0 < y17, y17, 0.1 * y17), y19 = select(0.0 < y18, y18, 0.1 * y18), y20 = select(0.0 < y19, y19, 0.1 * y19),
    y21 = select(0.0 < y20, y20, 0.1 * y20), y22 = select(0.0 < y21, y21, 0.1 * y21), y23 = select(0.0 < y22, y22, 0.1 * y22), y24 = select(0.0 < y23, y23, 0.1 * y23), y25 = select(0.0 < y24, y24, 0.1 * y24),
    y25 * %n } : !row, !o
  %o = taylor.map { y0 = max(exp(-size(d)), %a),
    y1 = y0 * y0 * 0.1 + y0, y2 = y1 * y1 * 0.1 + y1, y3 = y2 * y2 * 0.1 + y2, y4 = y3 * y3 * 0.1 + y3, y5 = y4 * y4 * 0.1 + y4,
    y6 = y5 * y5 * 0.1 + y5, y7 = y6 * y6 * 0.1 + y6, y8 = y7 * y7 * 0.1 + y7, y9 = y8 * y8 * 0.1 + y8, y10 = y9 * y9 * 0.1 + y9,
    y11 = y10 * y10 * 0.1 + y10, y12 = y11 * y11 * 0.1 + y11, y13 = y12 * y12 * 0.1 + y12, y14 = y13 * y13 * 0.1 + y13, y15 = y14 * y14 * 0.1 + y14,
    y16 = y15 * y15 * 0.1 + y15, y17 = y16 * y16 * 0.1 + y16, y18 = y17 * y17 * 0.1 + y17, y19 = y18 * y18 * 0.1 + y18, y20 = y19 * y19 * 0.1 + y19,
    y21 = y20 * y20 * 0.1 + y20, y22 = y21 * y21 * 0.1 + y21, y23 = y22 * y22 * 0.1 + y22, y24 = y23 * y23 * 0.1 + y23, y25 = y24 * y24 * 0.1 + y24,
    y25 * (%n / %z + %r) } : !row, !o, !row, !row
  taylor.yield %o : !o
}

// CHECK: taylor.function @weights.forward
// CHECK: taylor.function @weights.backward
taylor.spec @weights(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.pairwise { s = dot(%q, %k), y0 = s * 0.125,
    y1 = y0 * y0 * 0.1 + y0, y2 = y1 * y1 * 0.1 + y1, y3 = y2 * y2 * 0.1 + y2, y4 = y3 * y3 * 0.1 + y3, y5 = y4 * y4 * 0.1 + y4,
    y6 = y5 * y5 * 0.1 + y5, y7 = y6 * y6 * 0.1 + y6, y8 = y7 * y7 * 0.1 + y7, y9 = y8 * y8 * 0.1 + y8, y10 = y9 * y9 * 0.1 + y9,
    y11 = y10 * y10 * 0.1 + y10, y12 = y11 * y11 * 0.1 + y11, y13 = y12 * y12 * 0.1 + y12, y14 = y13 * y13 * 0.1 + y13, y15 = y14 * y14 * 0.1 + y14,
    y16 = y15 * y15 * 0.1 + y15, y17 = y16 * y16 * 0.1 + y16, y18 = y17 * y17 * 0.1 + y17, y19 = y18 * y18 * 0.1 + y18, y20 = y19 * y19 * 0.1 + y19,
    y21 = y20 * y20 * 0.1 + y20, y22 = y21 * y21 * 0.1 + y21, y23 = y22 * y22 * 0.1 + y22, y24 = y23 * y23 * 0.1 + y23, y25 = y24 * y24 * 0.1 + y24,
    w = exp(y25) } visible(u <= t)
           -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

// Squared 25 times, a product has 2^25 factors.
// CHECK: taylor.function @powers.forward
// CHECK: taylor.function @powers.backward
taylor.spec @powers(%q: !q, %k: !k, %v: !v, %a: !row from projection) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %o = taylor.map { y0 = %a,
    y1 = y0 * y0, y2 = y1 * y1, y3 = y2 * y2, y4 = y3 * y3, y5 = y4 * y4,
    y6 = y5 * y5, y7 = y6 * y6, y8 = y7 * y7, y9 = y8 * y8, y10 = y9 * y9,
    y11 = y10 * y10, y12 = y11 * y11, y13 = y12 * y12, y14 = y13 * y13, y15 = y14 * y14,
    y16 = y15 * y15, y17 = y16 * y16, y18 = y17 * y17, y19 = y18 * y18, y20 = y19 * y19,
    y21 = y20 * y20, y22 = y21 * y21, y23 = y22 * y22, y24 = y23 * y23, y25 = y24 * y24,
    y25 * %n / %z } : !row, !o, !row
  taylor.yield %o : !o
}
