// The numerator alone of the exponential's Taylor series, cut after order N (`--set order=N`).
//
//   s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = sum over n = 0..N of s^n / n!        o = N
//
// Source: `softmax_taylor_80terms` in the code of the paper. It divides by the mass, and then returns the numerator.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>

taylor.spec @softmax_taylor_as_coded(%q: !q, %k: !k, %v: !v) parameters(order : index = 79) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %o = taylor.recurrences %qr, %kr, %v orders(0 to order) coefficients(factorial) scale(rsqrt(size(d))) causal : !q, !k, !v
  taylor.yield %o : !o
}
