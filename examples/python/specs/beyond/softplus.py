# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softplus(q, k, v):
    """Softplus in the place of exp: weights grow linearly with large scores.

      s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = log(1 + e^s)        o = N / Z
    Right at every score: where those of a row are all far below 0, it is softmax, and is computed as such.

    Source: Gao and Spratling, Softplus Attention with Re-weighting (without its factor of the length).
    """
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"), weight=ta.softplus,
                          scale=ta.rsqrt(ta.size("d")))
    return n / z
