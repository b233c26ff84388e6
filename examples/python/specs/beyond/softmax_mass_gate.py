# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_mass_gate(q, k, v, out_gate=ta.projection("b h t", bias=True)):
    """Softmax with an output gate, one number per token and head.

      s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = e^s        o = sigmoid(out_gate) N / Z

    Source: Qiu et al., Gated Attention for Large Language Models. One number per channel: softmax-mass-channel-gate.mlir.
    """
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"))
    return ta.sigmoid(out_gate) * n / z
