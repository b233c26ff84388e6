# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_mass_detached(q, k, v):
    """Clamped scores over a mass that the gradient does not see.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = N / stop(max(Z, 1))

    Source: Figure 6, left; `softmax_detach_denom` in the code of the paper.
    """
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"), score=lambda s: ta.minimum(s, 5.0))
    return n / ta.stop(ta.maximum(z, 1.0))
