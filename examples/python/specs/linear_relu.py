# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def linear_relu(q, k, v):
    """Linear attention with the feature map relu.

      w[t,u] = <relu(q[t]), relu(k[u])>, after RoPE, without scale        o = N / (Z + 1e-8)

    One recurrence, of order 1 (the paper, equation 3). Source: Figure 4; `linear_relu` in the code of the paper.
    """
    n, z = ta.recurrences(ta.relu(ta.rope(q)), ta.relu(ta.rope(k)), v, sums=("numerator", "mass"), orders=(1, 1))
    return n / (z + 1e-8)
