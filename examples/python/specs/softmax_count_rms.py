# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_count_rms(q, k, v, norm_weight=ta.parameter("e", "ones")):
    """Clamped scores, divided by the number of visible keys, then a root mean square norm with a learned weight.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = RMS(N / n), epsilon 1.1920929e-7

    The heads share the norm's weight. Source: Figure 6, right; `gated_softmax_no_gate_rmsnorm` and `softmax_divS_norm` in
    the code of the paper.
    """
    n, c = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "count"), score=lambda s: ta.minimum(s, 5.0))
    return ta.normalize("rms", n / c, weight=norm_weight, epsilon=1.1920929e-7)
