// Linear attention with the feature map elu + 1.
//
//   w[t,u] = <elu(q[t]) + 1, elu(k[u]) + 1>, after RoPE, without scale        o = N / Z
//
// One recurrence, of order 1 (the paper, equation 3). Source: Katharopoulos et al., Transformers are RNNs, equation 7;
// Figure 4; `linear_elu` in the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @linear_elu(%q: !q, %k: !k, %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %qf = taylor.map elu(%qr) + 1.0 : !q
  %kf = taylor.map elu(%kr) + 1.0 : !k
  %n, %z = taylor.recurrences [numerator, mass] %qf, %kf, %v orders(1 to 1) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
