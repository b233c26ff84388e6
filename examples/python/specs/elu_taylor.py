# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def elu_taylor(q, k, v, *, order=10):
    """Linear attention with the feature map elu + 1, and its higher orders up to N (`--set order=N`).

      w[t,u] = sum over n = 0..N of s^n / n!, s = <elu(q[t]) + 1, elu(k[u]) + 1>, after RoPE, without scale        o = N / Z

    Source: Figure 5, for N up to 10, without published code.
    """
    n, z = ta.recurrences(ta.elu(ta.rope(q)) + 1.0, ta.elu(ta.rope(k)) + 1.0, v, sums=("numerator", "mass"),
                          orders=(0, order))
    return n / z
