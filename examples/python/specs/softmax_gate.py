# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_gate(q, k, v, out_gate=ta.projection("b h t", bias=True)):
    """Clamped scores and an output gate, without any denominator.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = sigmoid(out_gate) N

    Source: Figure 6, left; `softmax_gate` in the code of the paper.
    """
    n = ta.recurrences(ta.rope(q), ta.rope(k), v, score=lambda s: ta.minimum(s, 5.0))
    return ta.sigmoid(out_gate) * n
