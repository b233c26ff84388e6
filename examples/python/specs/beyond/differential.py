# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def differential(q1, k1, q2, k2, v, lambda_q1=ta.parameter("d", ta.normal(0.0, 0.1)),
                 lambda_k1=ta.parameter("d", ta.normal(0.0, 0.1)), lambda_q2=ta.parameter("d", ta.normal(0.0, 0.1)),
                 lambda_k2=ta.parameter("d", ta.normal(0.0, 0.1)), norm_weight=ta.parameter("e", "ones")):
    """Differential attention: the difference of two softmax maps cancels what both see, then a root mean square norm.

      s1[t,u] = <q1[t], k1[u]> / sqrt(d), after RoPE        w1 = e^s1        s2, w2 likewise
      lambda = e^<lambda_q1, lambda_k1> - e^<lambda_q2, lambda_k2> + 0.8
      o = 0.2 RMS(N1 / Z1 - lambda N2 / Z2), epsilon 1e-5

    The heads share lambda and the norm's weight; 0.8 and 0.2 = 1 - 0.8 are the value that lambda starts at, for late layers.
    Source: Ye et al., Differential Transformer.
    """
    n1, z1 = ta.recurrences(ta.rope(q1), ta.rope(k1), v, sums=("numerator", "mass"))
    n2, z2 = ta.recurrences(ta.rope(q2), ta.rope(k2), v, sums=("numerator", "mass"))
    l1 = ta.reduce("sum", lambda_q1 * lambda_k1, over="d")
    l2 = ta.reduce("sum", lambda_q2 * lambda_k2, over="d")
    y = n1 / z1 - (ta.exp(l1) - ta.exp(l2) + 0.8) * n2 / z2
    return 0.2 * ta.normalize("rms", y, weight=norm_weight, epsilon=1e-5)
