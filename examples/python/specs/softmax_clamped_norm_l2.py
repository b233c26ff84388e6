# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_clamped_norm_l2(q, k, v):
    """The numerator of clamped scores over its own length.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = N / max(|N|, 1e-12)

    Source: Figure 6, right; `gated_softmax_no_gate_L2norm_nodivS` in the code of the paper.
    """
    n = ta.recurrences(ta.rope(q), ta.rope(k), v, score=lambda s: ta.minimum(s, 5.0))
    return ta.normalize("l2", n, epsilon=1e-12)
