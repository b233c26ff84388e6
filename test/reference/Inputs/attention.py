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


# The hard specifications of test/dialect/hard-specs.mlir.


def softmax_mass_detached_gate(x, visible):
    x = rotated(x, visible)
    n, z, _, rows = sums(clip(scores(x) / math.sqrt(x["q"].shape[-1])).exp(), x["v"], visible)
    return alive(rows, lambda n: x["out_gate"].sigmoid()[..., None] * n / (z.detach() + 1e-4), n)


def linear_cosine_as_coded(x, visible):
    """The norm runs over the heads; values are divided by a learned power of their own position."""
    x = rotated(x, visible)
    x = dict(x, q=F.normalize(x["q"], dim=1, eps=1e-12), k=F.normalize(x["k"], dim=1, eps=1e-12))
    power = (torch.arange(visible.shape[1], dtype=torch.float64) + 1) ** x["p"].sigmoid()[:, None]
    v = per_head(x["v"], x["q"].shape[1]) / power[..., None]
    return torch.where(visible, scores(x), 0.0) @ v


def convolve(x, taps):
    """x [B,H,T,C], taps [H,C,J]: y[t] = sum of taps[j] x[t - J + 1 + j]."""
    b, h, t, c = x.shape
    flat = F.pad(x.permute(0, 1, 3, 2).reshape(b, h * c, t), (taps.shape[-1] - 1, 0))
    y = F.conv1d(flat, taps.reshape(h * c, 1, -1), groups=h * c)
    return y.reshape(b, h, c, t).permute(0, 1, 3, 2)


def conv_gates(x, visible):
    heads = x["q"].shape[1]
    q, k, v = (F.silu(convolve(x[n], x["c" + n])) for n in "qkv")
    x = rotated(dict(x, q=q, k=k), visible)
    v = per_head(v, heads) * x["i"].sigmoid()[..., None]
    n, _, c, rows = sums(clip(scores(x) / math.sqrt(q.shape[-1])).exp(), v, visible)
    gate = x["a"].sigmoid()[..., None]
    norm = lambda y: F.layer_norm(y, y.shape[-1:], x["w"], x["b"], 1e-5)
    return alive(rows, lambda n: norm(gate * n / c.clamp(min=1)), n)


def sigmoid_bias(x, visible):
    x = rotated(x, visible)
    w = (scores(x) / math.sqrt(x["q"].shape[-1]) - math.log(visible.shape[1])).sigmoid()
    return torch.where(visible, w, 0.0) @ per_head(x["v"], w.shape[1])


def distances(x, visible):
    at_t, at_u = positions(x, visible)
    return (at_t[:, None] - at_u[None, :]).to(x["q"].dtype)


def biased(x, visible, slopes):
    s = scores(x) / math.sqrt(x["q"].shape[-1]) - slopes[:, None, None] * distances(x, visible)
    n, z, _, rows = sums(s.exp(), x["v"], visible)
    return alive(rows, lambda n, z: n / z, n, z)


def alibi(x, visible):
    heads = x["q"].shape[1]
    return biased(x, visible, 2.0 ** (-8.0 * (torch.arange(heads, dtype=torch.float64) + 1) / heads))


def alibi_learned(x, visible):
    return biased(x, visible, x["m"])


def window_documents(x, visible, window=4):
    x = rotated(x, visible)
    seen = visible & (distances(x, visible) < window) & (x["dq"][:, None, :, None] == x["dk"][:, None, None, :])
    weights = torch.where(seen, (scores(x) / math.sqrt(x["q"].shape[-1])).exp(), 0.0)
    n, z = weights @ per_head(x["v"], weights.shape[1]), weights.sum(-1, keepdim=True)
    return alive(z > 0, lambda n, z: n / z, n, z)


def differential(x, visible):
    def part(i):
        y = softmax_parts(rotated({"q": x[f"q{i}"], "k": x[f"k{i}"], "v": x["v"]}, visible), visible)
        return alive(y[2], lambda n, z: n / z, *y[:2])

    y = part(1) - x["l"][:, None, None] * part(2)
    return y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-5) * x["w"]


def softmax_parts(x, visible):
    n, z, _, rows = sums((scores(x) / math.sqrt(x["q"].shape[-1])).exp(), x["v"], visible)
    return n, z, rows
