// A learned sink per head: the denominator has one more score, that of no token, so that a head may attend to nothing.
//
//   s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = e^s        o = N / (Z + e^sink), one sink per head
//
// Source: OpenAI, gpt-oss model card; Xiao et al., Efficient Streaming Language Models with Attention Sinks.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>

taylor.spec @softmax_sink(%q: !q, %k: !k, %v: !v, %sink: !head from parameter(zeros)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / (%z + exp(%sink)) : !o, !row, !head
  taylor.yield %o : !o
}
