# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_taylor_as_coded(q, k, v, *, order=79):
    """The numerator alone of the exponential's Taylor series, cut after order N (`--set order=N`).

      s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = sum over n = 0..N of s^n / n!        o = N

    Source: `softmax_taylor_80terms` in the code of the paper. It divides by the mass, and then returns the numerator.
    """
    return ta.recurrences(ta.rope(q), ta.rope(k), v, orders=(0, order), scale=ta.rsqrt(ta.size("d")))
