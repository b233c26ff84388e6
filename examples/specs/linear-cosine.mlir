// Linear attention of unit vectors, divided by a learned power of the number of visible keys.
//
//   w[t,u] = <L2(q[t]), L2(k[u])>, after RoPE        o = N / n^sigmoid(power), one power per head
//   L2(x) = x / max(|x|, 1e-12)
//
// One recurrence, of order 1 (the paper, equation 3). Source: Mongaras et al., Cottention; Figure 4; `linear_cosine` in
// the code of the paper, whose norm runs over another axis: linear-cosine-as-coded.mlir.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>

taylor.spec @linear_cosine(%q: !q, %k: !k, %v: !v, %power: !head from parameter(constant(0.5))) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %qf = taylor.normalize l2 over(d) %qr epsilon(1.0e-12) : !q
  %kf = taylor.normalize l2 over(d) %kr epsilon(1.0e-12) : !k
  %n, %c = taylor.recurrences [numerator, count] %qf, %kf, %v orders(1 to 1) causal : !q, !k, !v
  %o = taylor.map %n / pow(%c, sigmoid(%power)) : !o, !row, !head
  taylor.yield %o : !o
}
