# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def linear_elu(q, k, v):
    """Linear attention with the feature map elu + 1.

      w[t,u] = <elu(q[t]) + 1, elu(k[u]) + 1>, after RoPE, without scale        o = N / Z

    One recurrence, of order 1 (the paper, equation 3). Source: Katharopoulos et al., Transformers are RNNs, equation 7;
    Figure 4; `linear_elu` in the code of the paper.
    """
    n, z = ta.recurrences(ta.elu(ta.rope(q)) + 1.0, ta.elu(ta.rope(k)) + 1.0, v, sums=("numerator", "mass"),
                          orders=(1, 1))
    return n / z
