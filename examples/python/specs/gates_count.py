# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def gates_count(q, k, v, out_gate=ta.projection("b h t", bias=True), in_gate=ta.projection("b g u", bias=True)):
    """Clamped scores, an input gate and an output gate.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s
      N = sum of w sigmoid(in_gate) v        o = sigmoid(out_gate) N / n

    The output gate has one logit per query head, the input gate one per key/value head. Source: Figure 6, middle;
    `gated_softmax_no_norm` in the code of the paper.
    """
    n, c = ta.recurrences(ta.rope(q), ta.rope(k), ta.sigmoid(in_gate) * v, sums=("numerator", "count"),
                          score=lambda s: ta.minimum(s, 5.0))
    return ta.sigmoid(out_gate) * n / c
