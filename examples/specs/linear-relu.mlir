// Linear attention with the feature map relu.
//
//   w[t,u] = <relu(q[t]), relu(k[u])>, after RoPE, without scale        o = N / (Z + 1e-8)
//
// One recurrence, of order 1 (the paper, equation 3). Source: Figure 4; `linear_relu` in the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @linear_relu(%q: !q, %k: !k, %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %qf = taylor.map relu(%qr) : !q
  %kf = taylor.map relu(%kr) : !k
  %n, %z = taylor.recurrences [numerator, mass] %qf, %kf, %v orders(1 to 1) causal : !q, !k, !v
  %o = taylor.map %n / (%z + 1.0e-8) : !o, !row
  taylor.yield %o : !o
}
