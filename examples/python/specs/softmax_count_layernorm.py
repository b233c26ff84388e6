# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_count_layernorm(q, k, v, norm_weight=ta.parameter("e", "ones"), norm_bias=ta.parameter("e", "zeros")):
    """Clamped scores, divided by the number of visible keys, then a layer norm with a learned weight and bias.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = LN(N / n), epsilon 1e-5

    The heads share the norm's parameters. Source: Figure 6, right; `gated_softmax_no_gate` in the code of the paper.
    """
    n, c = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "count"), score=lambda s: ta.minimum(s, 5.0))
    return ta.normalize("layer", n / c, weight=norm_weight, bias=norm_bias, epsilon=1e-5)
