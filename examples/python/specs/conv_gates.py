# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def conv_gates(q, k, v, out_gate=ta.projection("b h t", bias=True), in_gate=ta.projection("b g u", bias=True),
               q_conv=ta.parameter("h d j=4", ta.uniform(-0.5, 0.5)),
               k_conv=ta.parameter("g d j=4", ta.uniform(-0.5, 0.5)),
               v_conv=ta.parameter("g e j=4", ta.uniform(-0.5, 0.5)), norm_weight=ta.parameter("e", "ones"),
               norm_bias=ta.parameter("e", "zeros")):
    """Queries, keys and values through a short convolution and silu, then two gates and a layer norm.

      x'[t] = silu(sum over j = 0..3 of conv[j] x[t - 3 + j]) for x = q, k, v, each channel by itself, 0 before the first token
      s[t,u] = min(<q'[t], k'[u]> / sqrt(d), 5), after RoPE        w = e^s
      N = sum of w sigmoid(in_gate) v'        o = LN(sigmoid(out_gate) N / n), epsilon 1e-5

    Each head has taps of its own; the heads share the norm's parameters. Source: Figure 6, middle; `gated_softmax_plusplus` and
    `gated_softmax_plusplus_extratoks` in the code of the paper.
    """
    qs = ta.silu(ta.convolve(q, q_conv))
    ks = ta.silu(ta.convolve(k, k_conv))
    hv = ta.sigmoid(in_gate) * ta.silu(ta.convolve(v, v_conv))
    n, c = ta.recurrences(ta.rope(qs), ta.rope(ks), hv, sums=("numerator", "count"), score=lambda s: ta.minimum(s, 5.0))
    return ta.normalize("layer", ta.sigmoid(out_gate) * n / c, weight=norm_weight, bias=norm_bias, epsilon=1e-5)
