// Linear attention with the feature map elu + 1, and its higher orders up to N (`--set order=N`).
//
//   w[t,u] = sum over n = 0..N of s^n / n!, s = <elu(q[t]) + 1, elu(k[u]) + 1>, after RoPE, without scale        o = N / Z
//
// Source: Figure 5, for N up to 10, without published code.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @elu_taylor(%q: !q, %k: !k, %v: !v) parameters(order : index = 10) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %qf = taylor.map elu(%qr) + 1.0 : !q
  %kf = taylor.map elu(%kr) + 1.0 : !k
  %n, %z = taylor.recurrences [numerator, mass] %qf, %kf, %v orders(0 to order) coefficients(factorial) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
