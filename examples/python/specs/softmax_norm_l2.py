# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_norm_l2(q, k, v):
    """The numerator of softmax over its own length: no mass at all. The "norm" of the paper's Figure 2.

      s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = e^s        o = N / max(|N|, 1e-12)

    Source: Figure 6, right; `gated_softmax_no_gate_L2norm_nodivS_noclamp` in the code of the paper.
    """
    n = ta.recurrences(ta.rope(q), ta.rope(k), v)
    return ta.normalize("l2", n, epsilon=1e-12)
