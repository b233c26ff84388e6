!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>

taylor.spec @sigmoid_bias(%q: !q, %k: !k, %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %o = taylor.recurrences %qr, %kr, %v weight(sigmoid(s - log(size(u)))) scale(rsqrt(size(d))) causal : !q, !k, !v
  taylor.yield %o : !o
}
