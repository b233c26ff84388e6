# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def softmax_mass_rms(q, k, v, norm_weight=ta.parameter("h e", "ones")):
    """Softmax, then a root mean square norm of each head's output, with a learned weight per head and channel.

      s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = e^s        o = RMS(N / Z), epsilon 1e-6

    Source: Sun et al., Retentive Network (a norm per head, there behind another sum).
    """
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"))
    return ta.normalize("rms", n / z, weight=norm_weight, epsilon=1e-6)
