# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def cumulative_gate(q, k, v, mass_gate=ta.projection("b h u", bias=True)):
    """The numerator over the number of visible keys and a running sum of gates.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s
      G[t] = sum over tokens up to t of e^mass_gate        o = N / (n G)

    The gate has one logit per query head. Source: Figure 6, middle; `cumulative_gated_softmax` in the code of the paper, as it was
    meant: cumulative-gate-as-coded.mlir is what it computes. Causal only.
    """
    n, c = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "count"), score=lambda s: ta.minimum(s, 5.0))
    G = ta.scan("sum", ta.exp(mass_gate), over="u")
    return n / (c * ta.align(G, to="t"))
