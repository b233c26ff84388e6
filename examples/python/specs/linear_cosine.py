# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def linear_cosine(q, k, v, power=ta.parameter("h", 0.5)):
    """Linear attention of unit vectors, divided by a learned power of the number of visible keys.

      w[t,u] = <L2(q[t]), L2(k[u])>, after RoPE        o = N / n^sigmoid(power), one power per head
      L2(x) = x / max(|x|, 1e-12)

    One recurrence, of order 1 (the paper, equation 3). Source: Mongaras et al., Cottention; Figure 4; `linear_cosine` in
    the code of the paper, whose norm runs over another axis: linear-cosine-as-coded.mlir.
    """
    qf = ta.normalize("l2", ta.rope(q), over="d", epsilon=1e-12)
    kf = ta.normalize("l2", ta.rope(k), over="d", epsilon=1e-12)
    n, c = ta.recurrences(qf, kf, v, sums=("numerator", "count"), orders=(1, 1))
    return n / c ** ta.sigmoid(power)
