# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def query_key_norm(q, k, v, temperature=ta.parameter("h", 10.0)):
    """Normed queries and keys: the score is a cosine, times a learned temperature.

      s[t,u] = temperature <L2(q[t]), L2(k[u])>, after RoPE        w = e^s        o = N / Z
      L2(x) = x / max(|x|, 1e-12), one temperature per head

    Source: Henry et al., Query-Key Normalization for Transformers.
    """
    qn = ta.normalize("l2", ta.rope(q), over="d", epsilon=1e-12)
    kn = ta.normalize("l2", ta.rope(k), over="d", epsilon=1e-12)
    n, z = ta.recurrences(qn, kn, v, sums=("numerator", "mass"), orders="all", score=lambda s: temperature * s)
    return n / z
