// Linear attention of unit vectors, and its higher orders up to N (`--set order=N`).
//
//   w[t,u] = sum over n = 0..N of s^n / n!, s = <L2(q[t]), L2(k[u])>, after RoPE        o = N / n^sigmoid(power)
//   L2(x) = x / max(|x|, 1e-12), one power per head
//
// In the second formula N is the numerator and n the number of visible keys. Source: Figure 5, for N up to 10, without
// published code.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>

taylor.spec @cosine_taylor(%q: !q, %k: !k, %v: !v, %power: !head from parameter(constant(0.5))) parameters(order : index = 10) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %qf = taylor.normalize l2 over(d) %qr epsilon(1.0e-12) : !q
  %kf = taylor.normalize l2 over(d) %kr epsilon(1.0e-12) : !k
  %n, %c = taylor.recurrences [numerator, count] %qf, %kf, %v orders(0 to order) coefficients(factorial) causal : !q, !k, !v
  %o = taylor.map %n / pow(%c, sigmoid(%power)) : !o, !row, !head
  taylor.yield %o : !o
}
