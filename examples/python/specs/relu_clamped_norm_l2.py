# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def relu_clamped_norm_l2(q, k, v):
    """Order 1 alone, of relu, with clamped weights, over its own length.

      w[t,u] = min(<relu(q[t]), relu(k[u])> / sqrt(d), 5), after RoPE        o = N / max(|N|, 1e-12)

    Source: relu-norm-l2 of Figure 6, right, with the clamp of the code's other variants.
    """
    n = ta.recurrences(ta.relu(ta.rope(q)), ta.relu(ta.rope(k)), v, orders=(1, 1), scale=ta.rsqrt(ta.size("d")),
                       score=lambda s: ta.minimum(s, 5.0))
    return ta.normalize("l2", n, epsilon=1e-12)
