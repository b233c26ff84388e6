// The square of a rectified score, divided by the number of visible keys: sparse weights without exp.
//
//   w[t,u] = max(<q[t], k[u]> / sqrt(d), 0)^2, after RoPE        o = N / n
//
// Source: Hua et al., Transformer Quality in Linear Time; Wortsman et al., Replacing softmax with ReLU in Vision Transformers.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @relu_squared(%q: !q, %k: !k, %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %c = taylor.recurrences [numerator, count] %qr, %kr, %v weight(relu(s) * relu(s)) scale(rsqrt(size(d))) causal
           : !q, !k, !v
  %o = taylor.map %n / %c : !o, !row
  taylor.yield %o : !o
}
