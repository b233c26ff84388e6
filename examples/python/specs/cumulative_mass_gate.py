# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def cumulative_mass_gate(q, k, v, mass_gate=ta.projection("b h u", bias=True)):
    """The numerator over a running sum of gates, a denominator that no score enters.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s
      G[t] = sum over tokens up to t of e^mass_gate        o = N / max(G, 1)

    The gate has one logit per query head. Source: Figure 6, middle; `gated_softmax_cumgate` in the code of the paper. Causal only.
    """
    n = ta.recurrences(ta.rope(q), ta.rope(k), v, score=lambda s: ta.minimum(s, 5.0))
    G = ta.scan("sum", ta.exp(mass_gate), over="u")
    return n / ta.maximum(ta.align(G, to="t"), 1.0)
