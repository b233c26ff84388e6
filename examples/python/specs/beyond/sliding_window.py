# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def sliding_window(q, k, v, *, window=1024):
    """Softmax over a sliding window: a query sees the last 1024 tokens, its own among them.

      s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE, visible where t - u < window        w = e^s        o = N / Z

    The mask is never in memory, and tiles of pairs wholly outside of it cost nothing; another window: `--set window=256`.
    Bidirectional, the window bounds the past only. Source: Beltagy et al., Longformer; Jiang et al., Mistral 7B.
    """
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"), visible=ta.t - ta.u < window)
    return n / z
