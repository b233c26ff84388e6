// A decay that is rounded to 0 within a few tokens, with a document left to go.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!decay = !taylor.array<[h, u]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @forgetting(%q: !q, %k: !k, %v: !v) {
  %D = taylor.map -4.0 * u -> !decay
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) coefficients(1.0, 0.5, 0.25) decay(%D) causal : !q, !k, !v, !decay
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
