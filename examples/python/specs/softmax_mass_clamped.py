# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_mass_clamped(q, k, v):
    """Clamped scores, and a mass that is never less than one.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = N / max(Z, 1)

    Source: Figure 6, left; `softmax_clamp_denom` in the code of the paper.
    """
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"), score=lambda s: ta.minimum(s, 5.0))
    return n / ta.maximum(z, 1.0)
