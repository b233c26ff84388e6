// Queries, keys and values through a short convolution and silu, then two gates and a layer norm.
//
//   x'[t] = silu(sum over j = 0..3 of conv[j] x[t - 3 + j]) for x = q, k, v, each channel by itself, 0 before the first token
//   s[t,u] = min(<q'[t], k'[u]> / sqrt(d), 5), after RoPE        w = e^s
//   N = sum of w sigmoid(in_gate) v'        o = LN(sigmoid(out_gate) N / n), epsilon 1e-5
//
// Each head has taps of its own; the heads share the norm's parameters. Source: Figure 6, middle; `gated_softmax_plusplus` and
// `gated_softmax_plusplus_extratoks` in the code of the paper.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
!channel = !taylor.array<[e]>
!query_taps = !taylor.array<[h, d, j = 4]>
!key_taps = !taylor.array<[g, d, j = 4]>
!value_taps = !taylor.array<[g, e, j = 4]>

taylor.spec @conv_gates(%q: !q, %k: !k, %v: !v, %out_gate: !row from projection(bias),
                        %in_gate: !column from projection(bias),
                        %q_conv: !query_taps from parameter(uniform(-0.5, 0.5)),
                        %k_conv: !key_taps from parameter(uniform(-0.5, 0.5)),
                        %v_conv: !value_taps from parameter(uniform(-0.5, 0.5)),
                        %norm_weight: !channel from parameter(ones), %norm_bias: !channel from parameter(zeros)) {
  %qc = taylor.convolve %q, %q_conv : !q, !query_taps
  %kc = taylor.convolve %k, %k_conv : !k, !key_taps
  %vc = taylor.convolve %v, %v_conv : !v, !value_taps
  %qs = taylor.map silu(%qc) : !q
  %ks = taylor.map silu(%kc) : !k
  %hv = taylor.map sigmoid(%in_gate) * silu(%vc) : !column, !v
  %qr = taylor.rope %qs : !q
  %kr = taylor.rope %ks : !k
  %n, %c = taylor.recurrences [numerator, count] %qr, %kr, %hv exponential score(min(s, 5.0)) causal : !q, !k, !v
  %y = taylor.map sigmoid(%out_gate) * %n / %c : !row, !o, !row
  %o = taylor.normalize layer %y weight(%norm_weight) bias(%norm_bias) epsilon(1.0e-5) : !o, !channel, !channel
  taylor.yield %o : !o
}
