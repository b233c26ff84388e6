# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_count_gate(q, k, v, out_gate=ta.projection("b h t", bias=True)):
    """Clamped scores, divided by the number of visible keys, with an output gate. The "gate" of the paper's Figure 2.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = sigmoid(out_gate) N / n

    Source: Figure 6, left; `softmax_divS_gate` and `gated_softmax_no_in_gate_no_norm` in the code of the paper.
    """
    n, c = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "count"), score=lambda s: ta.minimum(s, 5.0))
    return ta.sigmoid(out_gate) * n / c
