# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_sink(q, k, v, sink=ta.parameter("h", "zeros")):
    """A learned sink per head: the denominator has one more score, that of no token, so that a head may attend to nothing.

      s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = e^s        o = N / (Z + e^sink), one sink per head

    Source: OpenAI, gpt-oss model card; Xiao et al., Efficient Streaming Language Models with Attention Sinks.
    """
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"))
    return n / (z + ta.exp(sink))
