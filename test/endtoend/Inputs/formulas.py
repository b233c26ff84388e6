# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions in plain PyTorch, written from their formulas (Vaswani et al.; the paper and its code) and not from the compiler.

Shapes: q [B, H, T, d]; k [B, G, U, d]; v [B, G, U, e]; a gate of queries [B, H, T], of keys [B, G, U]; learned [e] or [H].
Query t stands at position U - T + t. A row that sees no key is 0. Every function returns [B, H, T, e].
"""
import math

import torch


class Pairs:
    """Positions, masks and group heads of one call."""

    def __init__(self, q, k, causal):
        self.T, self.U, self.groups = q.shape[2], k.shape[2], q.shape[1] // k.shape[1]
        self.t = torch.arange(self.T) + self.U - self.T
        self.u = torch.arange(self.U)
        self.visible = self.u[None, :] <= self.t[:, None] if causal else torch.ones(self.T, self.U, dtype=torch.bool)
        self.count = self.visible.sum(-1)  # [T]
        self.live = self.count > 0

    def heads(self, x):
        """Key/value heads repeated for the query heads that share them."""
        return x.repeat_interleave(self.groups, dim=1)

    def score(self, q, k):
        return torch.einsum("bhtd,bhud->bhtu", q, self.heads(k)) / math.sqrt(q.shape[-1])

    def hide(self, weight):
        return weight.where(self.visible, torch.zeros((), dtype=weight.dtype))

    def rows(self, o):
        """Rows without a key are 0, also in the gradients of whatever made them."""
        return o.where(self.live[:, None], torch.zeros((), dtype=o.dtype))

    def safe(self, x):
        """A divisor of rows [.., T, 1] that is 1 where there is no key."""
        return x.where(self.live[:, None], torch.ones((), dtype=x.dtype))


def rope(x, position, theta=10000.0):
    """Su et al., RoFormer; channel i turns with channel i + d/2."""
    half = x.shape[-1] // 2
    angle = position[:, None].double() / theta ** (torch.arange(half).double() / half)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def exponential(p, s):
    """e^s of visible pairs."""
    return p.hide(torch.exp(s.masked_fill(~p.visible, 0.0)))


def numerator(p, w, v):
    return torch.einsum("bhtu,bhue->bhte", w, p.heads(v))


def mass(w):
    return w.sum(-1, keepdim=True)


def softmax(q, k, v, causal=True):
    p = Pairs(q, k, causal)
    s = p.score(rope(q, p.t), rope(k, p.u)).masked_fill(~p.visible, -math.inf)
    s = s.where(p.live[:, None], torch.zeros((), dtype=s.dtype))
    return p.rows(numerator(p, s.softmax(-1), v))


def softmax_norm_l2(q, k, v, causal=True):
    p = Pairs(q, k, causal)
    n = numerator(p, exponential(p, p.score(rope(q, p.t), rope(k, p.u))), v)
    return p.rows(torch.nn.functional.normalize(n, dim=-1))


def clipped(q, k, v, causal, use_rope=True):
    """N and n of e^min(s, 5)."""
    p = Pairs(q, k, causal)
    if use_rope:
        q, k = rope(q, p.t), rope(k, p.u)
    n = numerator(p, exponential(p, p.score(q, k).clamp(max=5)), v)
    return p, n, p.safe(p.count[:, None].to(q.dtype))


def softmax_count_gate(q, k, v, out_gate, causal=True):
    p, n, count = clipped(q, k, v, causal)
    return p.rows(torch.sigmoid(out_gate)[..., None] * n / count)


def softmax_count_layernorm(q, k, v, norm_weight, norm_bias, causal=True):
    p, n, count = clipped(q, k, v, causal)
    return p.rows(torch.nn.functional.layer_norm(n / count, n.shape[-1:], norm_weight, norm_bias, eps=1e-5))


def linear_relu(q, k, v, causal=True):
    p = Pairs(q, k, causal)
    w = p.hide(torch.einsum("bhtd,bhud->bhtu", rope(q, p.t).relu(), p.heads(rope(k, p.u).relu())))
    return p.rows(numerator(p, w, v) / (mass(w) + 1e-8))


def decay_gates(q, k, v, out_gate, in_gate, decay_gate, norm_weight, norm_bias, causal=True):
    p = Pairs(q, k, causal)
    D = torch.cumsum(torch.nn.functional.pad(decay_gate, (1, 0))[..., :-1], dim=-1) / 1024  # shifted right by one
    D = p.heads(D)
    s = p.score(q, k).clamp(max=5) + D[..., p.t.clamp(min=0), None] - D[..., None, :]
    n = numerator(p, exponential(p, s), torch.sigmoid(in_gate)[..., None] * v)
    y = torch.sigmoid(out_gate)[..., None] * n / p.safe(p.count[:, None].to(q.dtype))
    return p.rows(torch.nn.functional.layer_norm(y, n.shape[-1:], norm_weight, norm_bias, eps=1e-5))


def softmax_taylor(q, k, v, order=10, causal=True):
    p = Pairs(q, k, causal)
    s = p.score(rope(q, p.t), rope(k, p.u))
    w = p.hide(sum(s**n / math.factorial(n) for n in range(order + 1)))
    return p.rows(numerator(p, w, v) / p.safe(mass(w)))


# ---- The same for attentions that have no file in examples/specs: test/endtoend/Inputs/*.mlir, test/passes/Inputs/*.mlir, test/dialect/hard-specs.mlir.


def softplus_square(q, k, v, out_gate, norm_weight, causal=True):
    p = Pairs(q, k, causal)
    w = p.hide(torch.nn.functional.softplus(p.score(rope(q, p.t), rope(k, p.u))) ** 2)
    n = numerator(p, w, v)
    y = n * torch.rsqrt((n * n).mean(-1, keepdim=True) + 1e-6) * norm_weight
    return p.rows(torch.sigmoid(out_gate)[..., None] * y)


def softmax_mass_detached_gate(q, k, v, out_gate, causal=True):
    p = Pairs(q, k, causal)
    w = exponential(p, p.score(rope(q, p.t), rope(k, p.u)).clamp(max=5))
    return p.rows(torch.sigmoid(out_gate)[..., None] * numerator(p, w, v) / (mass(w).detach() + 1e-4))


def linear_cosine_as_coded(q, k, v, p_, causal=True):
    p = Pairs(q, k, causal)
    unit = lambda x: torch.nn.functional.normalize(x, dim=1)
    w = p.hide(torch.einsum("bhtd,bhud->bhtu", unit(rope(q, p.t)), p.heads(unit(rope(k, p.u)))))
    values = p.heads(v) / (p.u[:, None] + 1.0).to(v.dtype) ** torch.sigmoid(p_)[:, None, None]
    return p.rows(torch.einsum("bhtu,bhue->bhte", w, values))


def conv_gates(q, k, v, a, i, cq, ck, cv, w, b, causal=True):
    def convolve(x, taps):  # x [B, heads, tokens, c], taps [heads, c, 4]: the past only
        rows = x.permute(0, 1, 3, 2).flatten(1, 2)
        y = torch.nn.functional.conv1d(torch.nn.functional.pad(rows, (3, 0)), taps.flatten(0, 1)[:, None], groups=rows.shape[1])
        return torch.nn.functional.silu(y.unflatten(1, x.shape[1::2]).permute(0, 1, 3, 2))

    p = Pairs(q, k, causal)
    q, k, v = convolve(q, cq), convolve(k, ck), convolve(v, cv)
    weight = exponential(p, p.score(rope(q, p.t), rope(k, p.u)).clamp(max=5))
    n = torch.einsum("bhtu,bhue->bhte", weight, torch.sigmoid(i)[..., None] * p.heads(v))
    y = torch.sigmoid(a)[..., None] * n / p.safe(p.count[:, None].to(q.dtype))
    return p.rows(torch.nn.functional.layer_norm(y, n.shape[-1:], w, b, eps=1e-5))


def sigmoid_bias(q, k, v, causal=True):
    p = Pairs(q, k, causal)
    return numerator(p, p.hide(torch.sigmoid(p.score(rope(q, p.t), rope(k, p.u)) - math.log(p.U))), v)


def alibi(q, k, v, causal=True):
    p = Pairs(q, k, causal)
    H = q.shape[1]
    slope = 2.0 ** (-8.0 * (torch.arange(H) + 1) / H)
    s = p.score(q, k) - (slope[:, None, None] * (p.t[:, None] - p.u)).to(q.dtype)
    w = exponential(p, s)
    return p.rows(numerator(p, w, v) / p.safe(mass(w)))


def window_documents(q, k, v, dq, dk, window=1024, causal=True):
    p = Pairs(q, k, causal)
    near = p.t[:, None] - p.u < window
    visible = p.visible & near & (dq[:, None, :, None] == dk[:, None, None, :])  # [B, 1, T, U]
    s = p.score(rope(q, p.t), rope(k, p.u))
    w = torch.where(visible, torch.exp(s), torch.zeros((), dtype=s.dtype))
    z = mass(w)
    live = visible.any(-1, keepdim=True)
    return torch.where(live, numerator(p, w, v) / torch.where(live, z, torch.ones((), dtype=z.dtype)), torch.zeros((), dtype=z.dtype))


def running_maximum(q, k, v, f, a, causal=True):
    p = Pairs(q, k, causal)
    before = lambda x, i: x[..., :i].amax(-1) if i else torch.full_like(x[..., 0], -math.inf)
    loudest = torch.stack([before(f, u + 1) for u in range(p.U)], -1).detach()
    earlier = torch.stack([before(a, t) for t in range(p.T)], -1).detach()
    w = exponential(p, p.score(q, k))
    return p.rows(numerator(p, w, torch.exp(f - loudest)[..., None] * v) / p.safe(mass(w) + torch.exp(earlier - a)[..., None]))


def differential(q1, k1, q2, k2, v, l, w, causal=True):
    y = softmax(q1, k1, v, causal) - l[:, None, None] * softmax(q2, k2, v, causal)
    p = Pairs(q1, k1, causal)
    return p.rows(y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-5) * w)


# name of the specification: function, inputs after q, k and v with their axes ("e": learned)
SPECIFICATIONS = {
    "softmax": (softmax, {}),
    "softmax-norm-l2": (softmax_norm_l2, {}),
    "softmax-count-gate": (softmax_count_gate, {"out_gate": "bht"}),
    "softmax-count-layernorm": (softmax_count_layernorm, {"norm_weight": "e", "norm_bias": "e"}),
    "linear-relu": (linear_relu, {}),
    "decay-gates": (decay_gates, {"out_gate": "bht", "in_gate": "bgu", "decay_gate": "bgu", "norm_weight": "e", "norm_bias": "e"}),
    "softmax-taylor": (softmax_taylor, {}),
}
CAUSAL_ONLY = {"decay-gates"}


def make_inputs(name, sizes, dtype=torch.float64, seed=0, more=None):
    """Random inputs by name, in the order of the specification; `sizes` by axis."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda axes: torch.randn([sizes[a] for a in axes], generator=generator, dtype=torch.float64)
    inputs = {"q": draw("bhtd"), "k": draw("bgud"), "v": draw("bgue")}
    for key, axes in (SPECIFICATIONS[name][1] if more is None else more).items():
        x = draw(axes)
        if key == "norm_weight":
            x = 1 + 0.2 * x
        if key == "decay_gate":
            x = 64 * x  # divided by 1024 in the formula: decays that matter within the test's few tokens
        inputs[key] = x
    return {key: x.to(dtype).requires_grad_() for key, x in inputs.items()}


def gradients(o, inputs, cotangent):
    return torch.autograd.grad(o, list(inputs.values()), cotangent, allow_unused=True)
