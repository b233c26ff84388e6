# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The attentions of examples/specs/beyond in plain PyTorch, written from the formulas of their sources and not from the specifications or the compiler.

Shapes as in formulas.py; a gate per channel [B, H, T, e]; `temperature` and `sink` [H]; `table` [H, r]; norm_weight [e] or [H, e].
"""
import functools
import math

import torch
import torch.nn.functional as F

from formulas import Pairs, exponential, mass, numerator, rope


def rotated(q, k, causal):
    """Positions, and <q, k> / sqrt(d) after RoPE [B, H, T, U]."""
    p = Pairs(q, k, causal)
    return p, p.score(rope(q, p.t), rope(k, p.u))


def over_mass(p, w, v, more=0.0):
    """N / (Z + more)."""
    return p.rows(numerator(p, w, v) / p.safe(mass(w) + more))


def rms(y, weight, epsilon):
    return y * torch.rsqrt((y * y).mean(-1, keepdim=True) + epsilon) * weight


# ---- Scores.


def alibi(q, k, v, causal=True):
    p = Pairs(q, k, causal)
    H = q.shape[1]
    slopes = torch.tensor([2 ** (-8 * i / H) for i in range(1, H + 1)], dtype=q.dtype)
    distance = (p.t[:, None] - p.u).to(q.dtype)
    return over_mass(p, exponential(p, p.score(q, k) - slopes[:, None, None] * distance), v)


def softmax_soft_cap(q, k, v, causal=True):
    p, s = rotated(q, k, causal)
    return over_mass(p, exponential(p, 20 * torch.tanh(s / 20)), v)


def query_key_norm(q, k, v, temperature, causal=True):
    p = Pairs(q, k, causal)
    unit = functools.partial(F.normalize, dim=-1, eps=1e-12)
    cosine = torch.einsum("bhtd,bhud->bhtu", unit(rope(q, p.t)), p.heads(unit(rope(k, p.u))))
    return over_mass(p, exponential(p, temperature[:, None, None] * cosine), v)


def relative_bias(q, k, v, table, causal=True):
    p = Pairs(q, k, causal)
    entry = (p.t[:, None] - p.u).clamp(0, table.shape[1] - 1).long()  # [T, U]
    return over_mass(p, exponential(p, p.score(q, k) + table[:, entry]), v)


def relative_buckets(q, k, v, table, causal=True):
    p = Pairs(q, k, causal)
    distance = (p.t[:, None] - p.u).clamp(min=0)
    near, buckets, furthest = 16, 32, 128
    widening = (distance.clamp(min=near).double() / near).log() / math.log(furthest / near) * (buckets - near)
    bucket = distance.where(distance < near, (near + widening.floor()).clamp(max=buckets - 1).to(distance.dtype)).long()
    return over_mass(p, exponential(p, torch.einsum("bhtd,bhud->bhtu", q, p.heads(k)) + table[:, bucket]), v)


# ---- Masks.


def masked_softmax(p, s, v, visible):
    """Softmax over the visible pairs [T, U]; rows that see none are 0."""
    live = visible.any(-1)[:, None]
    s = s.masked_fill(~visible, -math.inf).where(live, torch.zeros((), dtype=s.dtype))
    return numerator(p, s.softmax(-1).where(live, torch.zeros((), dtype=s.dtype)), v)


def sliding_window(q, k, v, window, causal=True):
    p, s = rotated(q, k, causal)
    return masked_softmax(p, s, v, p.visible & (p.t[:, None] - p.u < window))


def window_and_recurrence(q, k, v, mix, window, causal=True):
    p = Pairs(q, k, causal)
    linear = p.hide(torch.einsum("bhtd,bhud->bhtu", F.elu(q) + 1, p.heads(F.elu(k) + 1)))
    share = torch.sigmoid(mix)[:, None, None]
    return share * over_mass(p, linear, v) + (1 - share) * sliding_window(q, k, v, window, causal)


def prefix(q, k, v, prefix, causal=True):
    p, s = rotated(q, k, causal)
    return masked_softmax(p, s, v, p.visible & ((p.u <= p.t[:, None]) | (p.u < prefix)))


# ---- Weights that are no power series.


def sigmoid(q, k, v, causal=True):
    p, s = rotated(q, k, causal)
    return numerator(p, p.hide(torch.sigmoid(s - math.log(p.U))), v)


def relu_squared(q, k, v, causal=True):
    p, s = rotated(q, k, causal)
    return numerator(p, p.hide(torch.relu(s) ** 2), v) / p.safe(p.count[:, None].to(v.dtype))


def softplus(q, k, v, causal=True):
    p, s = rotated(q, k, causal)
    return over_mass(p, p.hide(F.softplus(s)), v)


# ---- Denominators.


def softmax_sink(q, k, v, sink, causal=True):
    p, s = rotated(q, k, causal)
    return over_mass(p, exponential(p, s), v, torch.exp(sink)[:, None, None])


def softmax_plus_one(q, k, v, causal=True):
    p, s = rotated(q, k, causal)
    return over_mass(p, exponential(p, s), v, 1.0)


def differential(q1, k1, q2, k2, v, lambda_q1, lambda_k1, lambda_q2, lambda_k2, norm_weight, causal=True):
    def softmax(q, k):
        p, s = rotated(q, k, causal)
        return over_mass(p, exponential(p, s), v)

    scale = torch.exp((lambda_q1 * lambda_k1).sum()) - torch.exp((lambda_q2 * lambda_k2).sum()) + 0.8
    y = softmax(q1, k1) - scale * softmax(q2, k2)
    return Pairs(q1, k1, causal).rows(0.2 * rms(y, norm_weight, 1e-5))


# ---- Gates and norms of the output.


def softmax(q, k, v, causal=True):
    p, s = rotated(q, k, causal)
    return over_mass(p, exponential(p, s), v)


def softmax_mass_gate(q, k, v, out_gate, causal=True):
    return torch.sigmoid(out_gate)[..., None] * softmax(q, k, v, causal)


def softmax_mass_channel_gate(q, k, v, out_gate, causal=True):
    return torch.sigmoid(out_gate) * softmax(q, k, v, causal)


def softmax_mass_rms(q, k, v, norm_weight, causal=True):
    return Pairs(q, k, causal).rows(rms(softmax(q, k, v, causal), norm_weight[:, None], 1e-6))


# As catalogue.CATALOGUE; names as files are called.
BEYOND = {
    "beyond-scores": {
        "beyond/alibi": alibi,
        "beyond/softmax-soft-cap": softmax_soft_cap,
        "beyond/query-key-norm": query_key_norm,
        "beyond/relative-bias": relative_bias,
        "beyond/relative-buckets": relative_buckets,
        "beyond/sliding-window": sliding_window,
        "beyond/window-and-recurrence": window_and_recurrence,
        "beyond/prefix": prefix,
    },
    "beyond-rows": {
        "beyond/sigmoid": sigmoid,
        "beyond/relu-squared": relu_squared,
        "beyond/softplus": softplus,
        "beyond/softmax-sink": softmax_sink,
        "beyond/softmax-plus-one": softmax_plus_one,
        "beyond/differential": differential,
        "beyond/softmax-mass-gate": softmax_mass_gate,
        "beyond/softmax-mass-channel-gate": softmax_mass_channel_gate,
        "beyond/softmax-mass-rms": softmax_mass_rms,
    },
}
# Parameters that act within the test's few tokens.
SETTINGS = {"beyond/sliding-window": {"window": 23}, "beyond/window-and-recurrence": {"window": 23}, "beyond/prefix": {"prefix": 23}}
