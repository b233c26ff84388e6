# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def linear_cosine_as_coded(q, k, v, power=ta.parameter("h", 0.5)):
    """Linear attention of vectors whose length is taken over the heads, each value divided by a learned power of its own position.

      w[t,u] = <L2(q[t]), L2(k[u])>, after RoPE, L2 over the heads: x / max(|x|, 1e-12)
      o = sum of w v[u] / i^sigmoid(power), i = u + 1, one power per head

    With one head of keys this norm leaves their signs alone, and dk is 0 but for what rounding leaves.

    Source: Figure 4; `linear_cosine` in the code of the paper.
    """
    qf = ta.normalize("l2", ta.rope(q), over="h", epsilon=1e-12)
    kf = ta.normalize("l2", ta.rope(k), over="g", epsilon=1e-12)
    pv = v / (ta.u + 1.0) ** ta.sigmoid(power)
    return ta.recurrences(qf, kf, pv, orders=(1, 1))
