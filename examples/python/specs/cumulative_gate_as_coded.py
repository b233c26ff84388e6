# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def cumulative_gate_as_coded(q, k, v, mass_gate=ta.projection("b h t", bias=True)):
    """The numerator over the number of visible keys and the exponential of a gate, whose running sum runs over an axis of size 1.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = e^(-mass_gate) N / n

    The gate has one logit per query head. Source: `cumulative_gated_softmax` in the code of the paper.
    """
    n, c = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "count"), score=lambda s: ta.minimum(s, 5.0))
    return ta.exp(-mass_gate) * n / c
