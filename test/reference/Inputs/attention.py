# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The seven attentions in plain PyTorch, written from the paper's formulas and not from the compiler.

Shapes: q [B,H,T,D], k [B,G,U,D], v [B,G,U,E], gates [B,H,T] and [B,G,U], norm parameters [E]. Every function takes a
dict of tensors and a boolean `visible` [T,U], and gives [B,H,T,E]. Rows that see no key give zero.
"""
import math

import torch
import torch.nn.functional as F


def rope(x, positions, theta=10000.0):
    """x [.., T, D], channel i paired with i + D/2."""
    d = x.shape[-1]
    angles = positions[:, None].to(x.dtype) * theta ** (-2 * torch.arange(d // 2, dtype=x.dtype) / d)
    a, b = x[..., : d // 2], x[..., d // 2 :]
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


def per_head(x, heads):
    """[B,G,..] to [B,H,..]."""
    return x.repeat_interleave(heads // x.shape[1], 1)


def positions(x, visible):
    t, u = visible.shape
    return torch.arange(u - t, u), torch.arange(u)


def rotated(x, visible):
    at_t, at_u = positions(x, visible)
    return dict(x, q=rope(x["q"], at_t), k=rope(x["k"], at_u))


def scores(x):
    return x["q"] @ per_head(x["k"], x["q"].shape[1]).mT


def sums(weights, v, visible):
    """Numerator, mass and count; and which rows are alive."""
    weights = torch.where(visible, weights, 0.0)
    count = visible.sum(-1)[:, None]
    return weights @ per_head(v, weights.shape[1]), weights.sum(-1, keepdim=True), count, count > 0


def alive(rows, compute, *arguments):
    """compute(*arguments) on live rows; dead rows see harmless ones and give 0, gradients included."""
    safe = [torch.where(rows, a, torch.ones_like(a)) for a in arguments]
    return torch.where(rows, compute(*safe), 0.0)


def clip(s):
    return s.clamp(max=5.0)


def softmax(x, visible):
    x = rotated(x, visible)
    n, z, _, rows = sums((scores(x) / math.sqrt(x["q"].shape[-1])).exp(), x["v"], visible)
    return alive(rows, lambda n, z: n / z, n, z)


def softmax_norm_l2(x, visible):
    x = rotated(x, visible)
    n, _, _, rows = sums((scores(x) / math.sqrt(x["q"].shape[-1])).exp(), x["v"], visible)
    return alive(rows, lambda n: F.normalize(n, dim=-1, eps=1e-12), n)


def softmax_count_gate(x, visible):
    x = rotated(x, visible)
    n, _, c, rows = sums(clip(scores(x) / math.sqrt(x["q"].shape[-1])).exp(), x["v"], visible)
    gate = x["out_gate"].sigmoid()[..., None]
    return alive(rows, lambda n: gate * n / c.clamp(min=1), n)


def layer_norm(y, x):
    return F.layer_norm(y, y.shape[-1:], x["norm_weight"], x["norm_bias"], 1e-5)


def softmax_count_layernorm(x, visible):
    x = rotated(x, visible)
    n, _, c, rows = sums(clip(scores(x) / math.sqrt(x["q"].shape[-1])).exp(), x["v"], visible)
    return alive(rows, lambda n: layer_norm(n / c.clamp(min=1), x), n)


def linear_relu(x, visible):
    x = rotated(x, visible)
    x = dict(x, q=x["q"].relu(), k=x["k"].relu())
    n, z, _, rows = sums(scores(x), x["v"], visible)
    return alive(rows, lambda n, z: n / (z + 1e-8), n, z)


def decay_gates(x, visible):
    heads = x["q"].shape[1]
    decay = per_head(x["decay_gate"], heads)
    log_decay = F.pad(decay, (1, 0))[..., :-1].cumsum(-1) / 1024  # shifted right by one, first 0
    at_t, _ = positions(x, visible)
    exponent = log_decay[..., at_t][..., :, None] - log_decay[..., None, :]
    w = clip(scores(x) / math.sqrt(x["q"].shape[-1])).exp() * exponent.exp()
    v = per_head(x["v"], heads) * per_head(x["in_gate"], heads).sigmoid()[..., None]
    n, _, c, rows = sums(w, v, visible)
    gate = x["out_gate"].sigmoid()[..., None]
    return alive(rows, lambda n: layer_norm(gate * n / c.clamp(min=1), x), n)


def softmax_taylor(x, visible, order=10):
    x = rotated(x, visible)
    s = scores(x) / math.sqrt(x["q"].shape[-1])
    w = sum(s**n / math.factorial(n) for n in range(order + 1))
    n, z, _, rows = sums(w, x["v"], visible)
    return alive(rows, lambda n, z: n / z, n, z)


ATTENTIONS = {
    "softmax": softmax,
    "softmax-norm-l2": softmax_norm_l2,
    "softmax-count-gate": softmax_count_gate,
    "softmax-count-layernorm": softmax_count_layernorm,
    "linear-relu": linear_relu,
    "decay-gates": decay_gates,
    "softmax-taylor": softmax_taylor,
}
ROWS = ["out_gate"]
COLUMNS = ["in_gate", "decay_gate"]
CHANNELS = ["norm_weight", "norm_bias"]
ARGUMENTS = {
    "softmax-count-gate": ["out_gate"],
    "softmax-count-layernorm": ["norm_weight", "norm_bias"],
    "decay-gates": ["out_gate", "in_gate", "decay_gate", "norm_weight", "norm_bias"],
}


def make_inputs(name, b, h, g, t, u, d, e, generator, dtype=torch.float64):
    shapes = {"q": (b, h, t, d), "k": (b, g, u, d), "v": (b, g, u, e)}
    for argument in ARGUMENTS.get(name, []):
        shapes[argument] = (b, h, t) if argument in ROWS else (b, g, u) if argument in COLUMNS else (e,)
    return {n: torch.randn(s, generator=generator, dtype=dtype) for n, s in shapes.items()}


def visible_mask(t, u, causal=True):
    if not causal:
        return torch.ones(t, u, dtype=torch.bool)
    return torch.arange(u)[None, :] <= torch.arange(u - t, u)[:, None]
