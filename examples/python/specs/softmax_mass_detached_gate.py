# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_mass_detached_gate(q, k, v, out_gate=ta.projection("b h t", bias=True)):
    """Clamped scores over a mass that the gradient does not see, with an output gate.

      s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s        o = sigmoid(out_gate) N / (stop(Z) + 1e-4)

    Source: Figure 6, left; `softmax_detach_denom_gate` in the code of the paper.
    """
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"), score=lambda s: ta.minimum(s, 5.0))
    return ta.sigmoid(out_gate) * n / (ta.stop(z) + 1e-4)
