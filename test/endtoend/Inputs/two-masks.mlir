// Found by test/random, seed 5038: positions that two products want in two layouts, behind a map of theirs.
!bgue = !taylor.array<[b, g, u, e]>
!bht = !taylor.array<[b, h, t]>
!bhtd = !taylor.array<[b, h, t, d]>
!bhte = !taylor.array<[b, h, t, e]>
!bt_i32 = !taylor.array<[b, t], i32>
!bu_i32 = !taylor.array<[b, u], i32>
!bud = !taylor.array<[b, u, d]>
!d = !taylor.array<[d]>
!g = !taylor.array<[g]>
!scalar = !taylor.array<[]>
!u = !taylor.array<[u]>

taylor.spec @two_masks(%q: !bhtd,
    %qm_gain: !d from parameter(ones),
    %k: !bud,
    %v: !bgue,
    %temperature2: !g from parameter(ones),
    %document_q: !bt_i32 from input,
    %document_k: !bu_i32 from input,
    %slope2: !scalar from parameter(constant(-3.0)),
    %lambda: !scalar from parameter(constant(0.8))) {
  %qs = taylor.scan shift(2) over(t) %q : !bhtd
  %qm = taylor.map 0.7 * %q + 0.3 * %qs : !bhtd, !bhtd
  %qmg = taylor.map %qm * %qm_gain : !bhtd, !d
  %ka = taylor.scan sum over(u) %k : !bud
  %kw = taylor.map %k + %ka / (u + 1.0) : !bud, !bud
  %n, %c = taylor.recurrences [numerator, count] %qmg, %kw, %v orders(0 to 3) scale(1.0 / size(d)) score(%temperature2 * (s)) causal visible(%document_q == %document_k) : !bhtd, !bud, !bgue, !g, !bt_i32, !bu_i32
  %y = taylor.map %n / %c : !bhte, !bht
  %decay2 = taylor.map exp(%slope2) * u * -1.0 : !scalar
  %n_, %z = taylor.recurrences [numerator, mass] %qmg, %kw, %v orders(2 to 2) coefficients(-0.5) scale(0.25) causal decay(%decay2) : !bhtd, !bud, !bgue, !u
  %y2 = taylor.map %n_ / (1.0 + abs(%z)) : !bhte, !bht
  %y_ = taylor.map %y - %lambda * %y2 : !bhte, !scalar, !bhte
  %y__ = taylor.map %y_ * %y_ : !bhte
  taylor.yield %y__ : !bhte
}
