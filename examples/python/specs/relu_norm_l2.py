# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def relu_norm_l2(q, k, v):
    """Order 1 alone, of relu, over its own length.

      w[t,u] = <relu(q[t]), relu(k[u])> / sqrt(d), after RoPE        o = N / max(|N|, 1e-12)

    Source: Figure 6, right; `gated_ReLU_no_gate_L2norm_nodivS_noclamp` in the code of the paper.
    """
    n = ta.recurrences(ta.relu(ta.rope(q)), ta.relu(ta.rope(k)), v, orders=(1, 1), scale=ta.rsqrt(ta.size("d")))
    return ta.normalize("l2", n, epsilon=1e-12)
