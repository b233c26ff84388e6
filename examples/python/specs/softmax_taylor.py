# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_taylor(q, k, v, *, order=10):
    """Softmax with the exponential's Taylor series cut after order N (`--set order=N`).

      s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = sum over n = 0..N of s^n / n!        o = N / Z

    The weights are positive for even N; for odd N the mass can vanish. Source: section 3.1 and
    Figure 5 of the paper. Its code, `softmax_taylor_80terms`, returns the numerator: softmax-taylor-as-coded.mlir.
    """
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"), orders=(0, order),
                          scale=ta.rsqrt(ta.size("d")))
    return n / z
