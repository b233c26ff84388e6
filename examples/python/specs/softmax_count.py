# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_count(q, k, v):
    """Clamped scores, divided by the number of visible keys.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = N / n

    Source: Figure 6, left; `softmax_divS` and `gated_softmax_no_gate_no_norm` in the code of the paper.
    """
    n, c = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "count"), score=lambda s: ta.minimum(s, 5.0))
    return n / c
