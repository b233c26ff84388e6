# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def relative_buckets(q, k, v, table=ta.parameter("h r=32", ta.normal(0.0, 0.02))):
    """T5's relative attention: 32 learned numbers per head, one for each of the 16 nearest distances, the others in buckets that
    widen with the logarithm of the distance, up to 128; scores are not scaled.

      s[t,u] = <q[t], k[u]> + table[bucket(max(t - u, 0))], no RoPE        w = e^s        o = N / Z
      bucket(n) = n for n < 16, min(16 + floor(16 log(n / 16) / log(8)), 31) from there on

    Source: Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer (the decoder).
    """
    n = ta.maximum(ta.lag, 0.0)
    far = 16.0 + ta.floor(16.0 * ta.log(ta.maximum(n, 16.0) / 16.0) / ta.log(8.0))
    bucket = ta.map(ta.minimum(ta.where(n < 16.0, n, far), 31.0))
    bias = ta.reduce("sum", ta.where(ta.index("r") == bucket, table, 0.0), over="r")
    n, z = ta.recurrences(q, k, v, sums=("numerator", "mass"), orders="all", score=lambda s: s + bias)
    return n / z
