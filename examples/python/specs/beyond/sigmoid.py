# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def sigmoid(q, k, v):
    """Sigmoid attention: each weight by itself, no denominator; the bias keeps a row's sum near 1 at the start.

      s[t,u] = <q[t], k[u]> / sqrt(d) - log(U), after RoPE        w = sigmoid(s)        o = N

    U is the number of keys. Source: Ramapuram et al., Theory, Analysis, and Best Practices for Sigmoid Self-Attention.
    """
    return ta.recurrences(ta.rope(q), ta.rope(k), v, weight=lambda s: ta.sigmoid(s - ta.log(ta.size("u"))),
                          scale=ta.rsqrt(ta.size("d")))
