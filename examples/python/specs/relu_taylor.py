# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def relu_taylor(q, k, v, *, order=10):
    """Linear attention with the feature map relu, and its higher orders up to N (`--set order=N`).

      w[t,u] = sum over n = 0..N of s^n / n!, s = <relu(q[t]), relu(k[u])>, after RoPE, without scale        o = N / (Z + 1e-8)

    Source: Figure 5, for N up to 10, without published code.
    """
    n, z = ta.recurrences(ta.relu(ta.rope(q)), ta.relu(ta.rope(k)), v, sums=("numerator", "mass"), orders=(0, order))
    return n / (z + 1e-8)
