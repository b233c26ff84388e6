# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def relu_gate(q, k, v, out_gate=ta.projection("b h t", bias=True)):
    """Order 1 alone, of relu, with clamped weights and an output gate, divided by nothing.

      w[t,u] = min(<relu(q[t]), relu(k[u])> / sqrt(d), 5), after RoPE        o = sigmoid(out_gate) N

    Source: a line of Figure 6, middle, for which the paper's code has nothing: its `gated_relu_no_in_gate_no_norm` without the division
    by the number of keys.
    """
    n = ta.recurrences(ta.relu(ta.rope(q)), ta.relu(ta.rope(k)), v, orders=(1, 1), scale=ta.rsqrt(ta.size("d")),
                       score=lambda s: ta.minimum(s, 5.0))
    return ta.sigmoid(out_gate) * n
