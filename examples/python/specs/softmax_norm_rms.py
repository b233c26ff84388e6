# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_norm_rms(q, k, v, norm_weight=ta.parameter("e", "ones")):
    """The numerator of clamped scores, then a root mean square norm with a learned weight.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = RMS(N), epsilon 1.1920929e-7

    The heads share the norm's weight. Source: Figure 6, right; `gated_softmax_no_gate_rmsnorm_nodivS` in the code of the
    paper.
    """
    n = ta.recurrences(ta.rope(q), ta.rope(k), v, score=lambda s: ta.minimum(s, 5.0))
    return ta.normalize("rms", n, weight=norm_weight, epsilon=1.1920929e-7)
