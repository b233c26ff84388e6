# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import taylor_attention as ta


@ta.spec
def window_and_recurrence(q, k, v, mix=ta.parameter("h", "zeros"), *, window=512):
    """Softmax over a sliding window beside a linear recurrence over all tokens, mixed by a learned number per head.

      s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE, visible where t - u < window
      o = sigmoid(mix) N2 / Z2 + (1 - sigmoid(mix)) N1 / Z1, where 1 sums e^s, and 2 sums <1 + elu(q), 1 + elu(k)> over all tokens before

    In the chunked form the recurrence is read from states, and the window costs its own tiles: both are linear in the number of tokens.
    Source: after Munkhdalai et al., Infini-attention, which has segments in place of the window.
    """
    n1, z1 = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"), visible=ta.t - ta.u < window)
    n2, z2 = ta.recurrences(ta.elu(q) + 1.0, ta.elu(k) + 1.0, v, sums=("numerator", "mass"), orders=(1, 1))
    near, all_before = n1 / z1, n2 / z2
    return near + ta.sigmoid(mix) * (all_before - near)
