# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def relative_bias(q, k, v, table=ta.parameter("h r=64", "zeros")):
    """A learned bias of the score by relative position: a table per head, read at the distance, clamped to its ends.

      s[t,u] = <q[t], k[u]> / sqrt(d) + table[min(max(t - u, 0), 63)], no RoPE        w = e^s        o = N / Z

    The axis lag is the position of a query less that of a key: what depends on it alone is computed once per lag and not per
    pair, and its gradient is a sum along a diagonal. Tables of other sizes, other formulas of lag, other learned numbers need
    nothing else. Source: Shaw et al., Self-Attention with Relative Position Representations (the clamp); Raffel et al., T5 (a
    number per head).
    """
    r = ta.index("r")
    nearest = ta.minimum(ta.maximum(ta.lag, 0.0), ta.size("r") - 1.0)
    bias = ta.reduce("sum", ta.where(r == nearest, table, 0.0), over="r")
    n, z = ta.recurrences(q, k, v, sums=("numerator", "mass"), score=lambda s: s + bias)
    return n / z
