# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax(q, k, v):
    """Softmax attention.

      s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = e^s        o = N / Z

    Source: Vaswani et al., Attention Is All You Need, equation 1; Figure 6, left; `softmax` in the code of
    the paper.
    """
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"))
    return n / z
