# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def gates_count_layernorm(q, k, v, out_gate=ta.projection("b h t", bias=True),
                          in_gate=ta.projection("b g u", bias=True), norm_weight=ta.parameter("e", "ones"),
                          norm_bias=ta.parameter("e", "zeros")):
    """Clamped scores, an input gate, an output gate, and a layer norm.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s
      N = sum of w sigmoid(in_gate) v        o = LN(sigmoid(out_gate) N / n), epsilon 1e-5

    The output gate has one logit per query head, the input gate one per key/value head; the heads share the norm's
    parameters. Source: Figure 6, middle; `gated_softmax` in the code of the paper.
    """
    n, c = ta.recurrences(ta.rope(q), ta.rope(k), ta.sigmoid(in_gate) * v, sums=("numerator", "count"),
                          score=lambda s: ta.minimum(s, 5.0))
    return ta.normalize("layer", ta.sigmoid(out_gate) * n / c, weight=norm_weight, bias=norm_bias, epsilon=1e-5)
