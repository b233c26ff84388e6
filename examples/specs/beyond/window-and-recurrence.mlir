// Softmax over a sliding window beside a linear recurrence over all tokens, mixed by a learned number per head.
//
//   s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE, visible where t - u < window
//   o = sigmoid(mix) N2 / Z2 + (1 - sigmoid(mix)) N1 / Z1, where 1 sums e^s, and 2 sums <1 + elu(q), 1 + elu(k)> over all tokens before
//
// In the chunked form the recurrence is read from states, and the window costs its own tiles: both are linear in the number of tokens.
// Source: after Munkhdalai et al., Infini-attention, which has segments in place of the window.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>

taylor.spec @window_and_recurrence(%q: !q, %k: !k, %v: !v, %mix: !head from parameter(zeros)) parameters(window : index = 512) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n1, %z1 = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential causal visible(t - u < window) : !q, !k, !v
  %qf = taylor.map elu(%q) + 1.0 : !q
  %kf = taylor.map elu(%k) + 1.0 : !k
  %n2, %z2 = taylor.recurrences [numerator, mass] %qf, %kf, %v orders(1 to 1) causal : !q, !k, !v
  %o = taylor.map %n1 / %z1 + sigmoid(%mix) * (%n2 / %z2 - %n1 / %z1) : !o, !row, !head, !o, !row
  taylor.yield %o : !o
}
