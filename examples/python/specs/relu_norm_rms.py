# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def relu_norm_rms(q, k, v, norm_weight=ta.parameter("e", "ones")):
    """Order 1 alone, of relu, then a root mean square norm with a learned weight.

      w[t,u] = <relu(q[t]), relu(k[u])> / sqrt(d), after RoPE        o = RMS(N), epsilon 1.1920929e-7

    The heads share the norm's weight. Source: Figure 6, right, whose claim is of any norm: relu-norm-l2 with the norm of softmax-norm-rms.
    """
    n = ta.recurrences(ta.relu(ta.rope(q)), ta.relu(ta.rope(k)), v, orders=(1, 1), scale=ta.rsqrt(ta.size("d")))
    return ta.normalize("rms", n, weight=norm_weight, epsilon=1.1920929e-7)
