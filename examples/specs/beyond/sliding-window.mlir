// Softmax over a sliding window: a query sees the last 1024 tokens, its own among them.
//
//   s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE, visible where t - u < window        w = e^s        o = N / Z
//
// The mask is never in memory, and tiles of pairs wholly outside of it cost nothing; another window: `--set window=256`.
// Bidirectional, the window bounds the past only. Source: Beltagy et al., Longformer; Jiang et al., Mistral 7B.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @sliding_window(%q: !q, %k: !k, %v: !v) parameters(window : index = 1024) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential causal visible(t - u < window) : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
