# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_count_norm_scaled(q, k, v):
    """Clamped scores, divided by the number of visible keys; rows of length e, the number of a value's channels.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = e L2(N / n), L2(x) = x / max(|x|, 1e-12)

    Source: Figure 6, right; `gated_softmax_no_gate_customnorm` in the code of the paper.
    """
    n, c = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "count"), score=lambda s: ta.minimum(s, 5.0))
    return ta.size("e") * ta.normalize("l2", n / c, epsilon=1e-12)
