// Softmax with a prefix that all tokens see: bidirectional within it, causal after it.
//
//   s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE, visible where u <= t or u < prefix        w = e^s        o = N / Z
//
// The mask is never in memory, and tiles of pairs wholly outside of it cost nothing; another prefix: `--set prefix=256`.
// Compiled with --mask=causal it is softmax. Source: Raffel et al., Exploring the Limits of Transfer Learning (T5).
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @prefix(%q: !q, %k: !k, %v: !v) parameters(prefix : index = 128) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential bidirectional visible(or(u <= t, u < prefix))
           : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
