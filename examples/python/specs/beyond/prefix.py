# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def prefix(q, k, v, *, prefix=128):
    """Softmax with a prefix that all tokens see: bidirectional within it, causal after it.

      s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE, visible where u <= t or u < prefix        w = e^s        o = N / Z

    The mask is never in memory, and tiles of pairs wholly outside of it cost nothing; another prefix: `--set prefix=256`.
    Compiled with --mask=causal it is softmax. Source: Raffel et al., Exploring the Limits of Transfer Learning (T5).
    """
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"), mask="bidirectional",
                          visible=(ta.u <= ta.t) | (ta.u < prefix))
    return n / z
