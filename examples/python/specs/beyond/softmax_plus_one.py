# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_plus_one(q, k, v):
    """One added to the denominator: a row of very negative scores gives almost nothing.

      s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = e^s        o = N / (1 + Z)

    Source: Miller, Attention Is Off By One.
    """
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"))
    return n / (1.0 + z)
