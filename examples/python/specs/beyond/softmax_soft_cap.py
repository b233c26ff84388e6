# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_soft_cap(q, k, v):
    """Soft-capped scores: tanh keeps them between -20 and 20 and, unlike a clamp, has a gradient everywhere.

      s[t,u] = 20 tanh(<q[t], k[u]> / (20 sqrt(d))), after RoPE        w = e^s        o = N / Z

    Source: Gemma Team, Gemma 2 (with 50 for 20); Bello et al., Neural Combinatorial Optimization.
    """
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"),
                          score=lambda s: 20.0 * ta.tanh(s / 20.0))
    return n / z
