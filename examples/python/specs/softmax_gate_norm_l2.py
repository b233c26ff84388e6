# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_gate_norm_l2(q, k, v, out_gate=ta.projection("b h t", bias=True)):
    """An output gate ahead of a norm that takes it out again: what reaches the gate's gradient is rounding.

      s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = e^s
      o = L2(sigmoid(out_gate) N / n), L2(x) = x / max(|x|, 1e-12)

    Source: Figure 6, right; `gated_softmax_out_gate_L2norm_nodivS_noclamp` in the code of the paper.
    """
    n, c = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "count"))
    return ta.normalize("l2", ta.sigmoid(out_gate) * n / c, epsilon=1e-12)
