# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def alibi(q, k, v):
    """ALiBi: scores fall linearly with distance, each head at its own slope; no rotation.

      s[t,u] = <q[t], k[u]> / sqrt(d) - 2^(-8 (h + 1) / H) (t - u)        w = e^s        o = N / Z

    Head h of H, counted from 0. Between tokens after the query (bidirectional) the bias is a gain, as in the formula.
    Source: Press et al., Train Short, Test Long.
    """
    slope = ta.map(2.0 ** (-8.0 * (ta.h + 1.0) / ta.size("h")))
    n, z = ta.recurrences(q, k, v, sums=("numerator", "mass"), score=lambda s: s - slope * (ta.t - ta.u))
    return n / z
