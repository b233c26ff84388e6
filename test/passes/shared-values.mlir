// Values that are used twice are looked at once: where each was looked at for each use, this took hours.
// RUN: taylor-opt --taylor-to-pairwise=head-dim=8 %s | FileCheck %s
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

// CHECK: taylor.function @shared.forward
// CHECK: taylor.function @shared.backward
taylor.spec @shared(%q: !q, %k: !k, %v: !v, %a: !row from projection) {
  %m0 = taylor.map exp(%a) : !row
  %m1 = taylor.map %m0 / %m0 - %m0 : !row
  %m2 = taylor.map %m1 / %m1 - %m1 : !row
  %m3 = taylor.map %m2 / %m2 - %m2 : !row
  %m4 = taylor.map %m3 / %m3 - %m3 : !row
  %m5 = taylor.map %m4 / %m4 - %m4 : !row
  %m6 = taylor.map %m5 / %m5 - %m5 : !row
  %m7 = taylor.map %m6 / %m6 - %m6 : !row
  %m8 = taylor.map %m7 / %m7 - %m7 : !row
  %m9 = taylor.map %m8 / %m8 - %m8 : !row
  %m10 = taylor.map %m9 / %m9 - %m9 : !row
  %m11 = taylor.map %m10 / %m10 - %m10 : !row
  %m12 = taylor.map %m11 / %m11 - %m11 : !row
  %m13 = taylor.map %m12 / %m12 - %m12 : !row
  %m14 = taylor.map %m13 / %m13 - %m13 : !row
  %m15 = taylor.map %m14 / %m14 - %m14 : !row
  %m16 = taylor.map %m15 / %m15 - %m15 : !row
  %m17 = taylor.map %m16 / %m16 - %m16 : !row
  %m18 = taylor.map %m17 / %m17 - %m17 : !row
  %m19 = taylor.map %m18 / %m18 - %m18 : !row
  %m20 = taylor.map %m19 / %m19 - %m19 : !row
  %m21 = taylor.map %m20 / %m20 - %m20 : !row
  %m22 = taylor.map %m21 / %m21 - %m21 : !row
  %m23 = taylor.map %m22 / %m22 - %m22 : !row
  %m24 = taylor.map %m23 / %m23 - %m23 : !row
  %m25 = taylor.map %m24 / %m24 - %m24 : !row
  %m26 = taylor.map %m25 / %m25 - %m25 : !row
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %p = taylor.map %n * %m26 : !o, !row
  %y = taylor.map %z * %m26 : !row, !row
  %o = taylor.map %p / %y : !o, !row
  taylor.yield %o : !o
}
