// Linear attention with the feature map relu, and its higher orders up to N (`--set order=N`).
//
//   w[t,u] = sum over n = 0..N of s^n / n!, s = <relu(q[t]), relu(k[u])>, after RoPE, without scale        o = N / (Z + 1e-8)
//
// Source: Figure 5, for N up to 10, without published code.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @relu_taylor(%q: !q, %k: !k, %v: !v) parameters(order : index = 10) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %qf = taylor.map relu(%qr) : !q
  %kf = taylor.map relu(%kr) : !k
  %n, %z = taylor.recurrences [numerator, mass] %qf, %kf, %v orders(0 to order) coefficients(factorial) causal : !q, !k, !v
  %o = taylor.map %n / (%z + 1.0e-8) : !o, !row
  taylor.yield %o : !o
}
