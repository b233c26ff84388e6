# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def decay_gates(q, k, v, out_gate=ta.projection("b h t", bias=True), in_gate=ta.projection("b g u", bias=True),
                decay_gate=ta.projection("b g u", bias=True), norm_weight=ta.parameter("e", "ones"),
                norm_bias=ta.parameter("e", "zeros")):
    """An input gate on the values, an output gate, a learned decay in place of RoPE, and a layer norm.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5)            w = e^s e^(D[t] - D[u])
      D = sum over tokens before u of decay_gate / 1024        N = sum of w sigmoid(in_gate) v
      o = LN(sigmoid(out_gate) N / n), epsilon 1e-5

    The output gate has one logit per query head, the input gate and the decay one per key/value head; the heads share
    the norm's parameters. Source: Figure 6, middle; `gated_softmax_decay` in the code of the paper. Causal only.
    """
    D = ta.scan("sum", decay_gate / 1024.0, over="u", exclusive=True)
    n, c = ta.recurrences(q, k, ta.sigmoid(in_gate) * v, sums=("numerator", "count"),
                          score=lambda s: ta.minimum(s, 5.0), decay=D)
    return ta.normalize("layer", ta.sigmoid(out_gate) * n / c, weight=norm_weight, bias=norm_bias, epsilon=1e-5)
