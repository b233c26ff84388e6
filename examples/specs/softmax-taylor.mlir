// Softmax with the exponential's Taylor series cut after order N (`--set order=N`).
//
//   s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = sum over n = 0..N of s^n / n!        o = N / Z
//
// The weights are positive for even N; for odd N the mass can vanish. Source: section 3.1 and
// Figure 5 of the paper. Its code, `softmax_taylor_80terms`, returns the numerator: softmax-taylor-as-coded.mlir.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @softmax_taylor(%q: !q, %k: !k, %v: !v) parameters(order : index = 10) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v orders(0 to order) coefficients(factorial)
           scale(rsqrt(size(d))) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
