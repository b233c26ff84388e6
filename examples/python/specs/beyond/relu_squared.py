# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def relu_squared(q, k, v):
    """The square of a rectified score, divided by the number of visible keys: sparse weights without exp.

      w[t,u] = max(<q[t], k[u]> / sqrt(d), 0)^2, after RoPE        o = N / n

    Source: Hua et al., Transformer Quality in Linear Time; Wortsman et al., Replacing softmax with ReLU in Vision Transformers.
    """
    n, c = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "count"),
                          weight=lambda s: ta.relu(s) * ta.relu(s), scale=ta.rsqrt(ta.size("d")))
    return n / c
