# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_norm_l2_gate(q, k, v, out_gate=ta.projection("b h t", bias=True)):
    """The numerator over its own length, with one output gate on both sides of the norm.

      s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = e^s
      g = sigmoid(out_gate)        o = g L2(g N / n), L2(x) = x / max(|x|, 1e-12)

    Source: Figure 6, right; `gated_softmax_post_out_gate_L2norm_nodivS_noclamp` in the code of the paper.
    """
    n, c = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "count"))
    gate = ta.sigmoid(out_gate)
    return gate * ta.normalize("l2", gate * n / c, epsilon=1e-12)
