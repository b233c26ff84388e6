# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def relu_count_gate(q, k, v, out_gate=ta.projection("b h t", bias=True)):
    """Order 1 alone, of relu, with clamped weights and an output gate.

      w[t,u] = min(<relu(q[t]), relu(k[u])> / sqrt(d), 5), after RoPE        o = sigmoid(out_gate) N / n

    Source: Figure 6, middle; `gated_relu_no_in_gate_no_norm` in the code of the paper.
    """
    n, c = ta.recurrences(ta.relu(ta.rope(q)), ta.relu(ta.rope(k)), v, sums=("numerator", "count"), orders=(1, 1),
                          scale=ta.rsqrt(ta.size("d")), score=lambda s: ta.minimum(s, 5.0))
    return ta.sigmoid(out_gate) * n / c
