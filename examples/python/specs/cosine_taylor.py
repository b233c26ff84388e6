# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def cosine_taylor(q, k, v, power=ta.parameter("h", 0.5), *, order=10):
    """Linear attention of unit vectors, and its higher orders up to N (`--set order=N`).

      w[t,u] = sum over n = 0..N of s^n / n!, s = <L2(q[t]), L2(k[u])>, after RoPE        o = N / n^sigmoid(power)
      L2(x) = x / max(|x|, 1e-12), one power per head

    In the second formula N is the numerator and n the number of visible keys. Source: Figure 5, for N up to 10, without
    published code.
    """
    qf = ta.normalize("l2", ta.rope(q), over="d", epsilon=1e-12)
    kf = ta.normalize("l2", ta.rope(k), over="d", epsilon=1e-12)
    n, c = ta.recurrences(qf, kf, v, sums=("numerator", "count"), orders=(0, order))
    return n / c ** ta.sigmoid(power)
