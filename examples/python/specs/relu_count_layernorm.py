# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def relu_count_layernorm(q, k, v, norm_weight=ta.parameter("e", "ones"), norm_bias=ta.parameter("e", "zeros")):
    """Order 1 alone, of relu, divided by the number of visible keys, then a layer norm with a learned weight and bias.

      w[t,u] = <relu(q[t]), relu(k[u])> / sqrt(d), after RoPE        o = LN(N / n), epsilon 1e-5

    The heads share the norm's parameters. Source: Figure 6, right, whose claim is of any norm: relu-norm-l2 with the norm of
    softmax-count-layernorm.
    """
    n, c = ta.recurrences(ta.relu(ta.rope(q)), ta.relu(ta.rope(k)), v, sums=("numerator", "count"), orders=(1, 1),
                          scale=ta.rsqrt(ta.size("d")))
    return ta.normalize("layer", n / c, weight=norm_weight, bias=norm_bias, epsilon=1e-5)
