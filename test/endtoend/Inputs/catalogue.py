# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every attention of the paper and of its code in plain PyTorch, written from the formulas and not from the specifications or the compiler.

Shapes as in formulas.py; a gate of tokens that reaches queries [B, H, U]; taps of a convolution [heads, c, 4]; `power` [H]. Arguments are named
as in examples/specs. w is the weight, N = sum of w v, Z = sum of w, n the number of visible keys.
"""
import functools
import math

import torch
import torch.nn.functional as F

import formulas
from formulas import Pairs, exponential, mass, numerator, rope

CLIP = 5.0


def unit(x, dim=-1):
    return F.normalize(x, dim=dim, eps=1e-12)


def layer(y, weight, bias):
    return F.layer_norm(y, y.shape[-1:], weight, bias, eps=1e-5)


def rms(y, weight):
    return y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1.1920929e-7) * weight


def gate(logit):
    return torch.sigmoid(logit)[..., None]


def exponentials(q, k, causal, bound=CLIP):
    """Positions, and e^min(s, bound) of visible pairs [B, H, T, U]."""
    p = Pairs(q, k, causal)
    return p, exponential(p, p.score(rope(q, p.t), rope(k, p.u)).clamp(max=bound))


def products(q, k, causal, phi, scale=1.0):
    """Positions, and scale <phi(q), phi(k)> [B, H, T, U] after RoPE."""
    p = Pairs(q, k, causal)
    return p, scale * torch.einsum("bhtd,bhud->bhtu", phi(rope(q, p.t)), p.heads(phi(rope(k, p.u))))


def count(p, x):
    """n [T, 1], 1 for a row that sees no key."""
    return p.safe(p.count[:, None].to(x.dtype))


# ---- Denominators.


def softmax_mass_clamped(q, k, v, causal=True):
    p, w = exponentials(q, k, causal)
    return numerator(p, w, v) / mass(w).clamp(min=1)


def softmax_mass_detached(q, k, v, causal=True):
    p, w = exponentials(q, k, causal)
    return numerator(p, w, v) / mass(w).clamp(min=1).detach()


def softmax_count(q, k, v, causal=True):
    p, w = exponentials(q, k, causal)
    return numerator(p, w, v) / count(p, v)


def softmax_mass_detached_gate(q, k, v, out_gate, causal=True):
    p, w = exponentials(q, k, causal)
    return gate(out_gate) * numerator(p, w, v) / (mass(w).detach() + 1e-4)


def softmax_gate(q, k, v, out_gate, causal=True):
    p, w = exponentials(q, k, causal)
    return gate(out_gate) * numerator(p, w, v)


# ---- Gates. Those with an input gate are those without one, of the values h v.


def input_gated(attention):
    def gated(q, k, v, in_gate, **others):
        return attention(q=q, k=k, v=gate(in_gate) * v, **others)

    return gated


def output_gate_count_layernorm(q, k, v, out_gate, norm_weight, norm_bias, causal=True):
    p, w = exponentials(q, k, causal)
    return p.rows(layer(gate(out_gate) * numerator(p, w, v) / count(p, v), norm_weight, norm_bias))


gates_count_layernorm = input_gated(output_gate_count_layernorm)
gates_count = input_gated(formulas.softmax_count_gate)
input_gate_count_layernorm = input_gated(formulas.softmax_count_layernorm)
input_gate_count = input_gated(softmax_count)


def relu_count_gate(q, k, v, out_gate, causal=True):
    p, s = products(q, k, causal, torch.relu, q.shape[-1] ** -0.5)
    return gate(out_gate) * numerator(p, p.hide(s.clamp(max=CLIP)), v) / count(p, v)


def relu_gate(q, k, v, out_gate, causal=True):
    p, s = products(q, k, causal, torch.relu, q.shape[-1] ** -0.5)
    return gate(out_gate) * numerator(p, p.hide(s.clamp(max=CLIP)), v)


def running_gate(p, mass_gate):
    """The sum of e^gate over the tokens up to each query's, [B, H, T, 1]."""
    return torch.cumsum(mass_gate.exp(), -1)[..., p.t, None]


def cumulative_mass_gate(q, k, v, mass_gate, causal=True):
    p, w = exponentials(q, k, causal)
    return numerator(p, w, v) / running_gate(p, mass_gate).clamp(min=1)


def cumulative_gate(q, k, v, mass_gate, causal=True):
    p, w = exponentials(q, k, causal)
    return numerator(p, w, v) / (count(p, v) * running_gate(p, mass_gate))


def cumulative_gate_as_coded(q, k, v, mass_gate, causal=True):
    p, w = exponentials(q, k, causal)
    return torch.exp(-mass_gate)[..., None] * numerator(p, w, v) / count(p, v)


def convolved(x, taps):
    """silu of each channel's causal convolution; x [B, heads, tokens, c], taps [heads, c, 4], the last one for the token itself."""
    rows = F.pad(x.transpose(-1, -2).flatten(1, 2), (taps.shape[-1] - 1, 0))
    y = F.conv1d(rows, taps.flatten(0, 1)[:, None], groups=rows.shape[1])
    return F.silu(y.unflatten(1, taps.shape[:2]).transpose(-1, -2))


def conv_gates(q, k, v, q_conv, k_conv, v_conv, **others):
    return gates_count_layernorm(convolved(q, q_conv), convolved(k, k_conv), convolved(v, v_conv), **others)


# ---- Norms.


def softmax_clamped_norm_l2(q, k, v, causal=True):
    p, w = exponentials(q, k, causal)
    return p.rows(unit(numerator(p, w, v)))


def softmax_norm_rms(q, k, v, norm_weight, causal=True):
    p, w = exponentials(q, k, causal)
    return p.rows(rms(numerator(p, w, v), norm_weight))


def softmax_count_rms(q, k, v, norm_weight, causal=True):
    p, w = exponentials(q, k, causal)
    return p.rows(rms(numerator(p, w, v) / count(p, v), norm_weight))


def softmax_count_norm_scaled(q, k, v, causal=True):
    p, w = exponentials(q, k, causal)
    return p.rows(v.shape[-1] * unit(numerator(p, w, v) / count(p, v)))


def softmax_gate_norm_l2(q, k, v, out_gate, causal=True):
    p, w = exponentials(q, k, causal, bound=math.inf)
    return p.rows(unit(gate(out_gate) * numerator(p, w, v) / count(p, v)))


def softmax_norm_l2_gate(q, k, v, out_gate, causal=True):
    return gate(out_gate) * softmax_gate_norm_l2(q, k, v, out_gate, causal)


def relu_norm_l2(q, k, v, causal=True):
    p, s = products(q, k, causal, torch.relu, q.shape[-1] ** -0.5)
    return p.rows(unit(numerator(p, p.hide(s), v)))


def relu_clamped_norm_l2(q, k, v, causal=True):
    p, s = products(q, k, causal, torch.relu, q.shape[-1] ** -0.5)
    return p.rows(unit(numerator(p, p.hide(s.clamp(max=CLIP)), v)))


def relu_norm_rms(q, k, v, norm_weight, causal=True):
    p, s = products(q, k, causal, torch.relu, q.shape[-1] ** -0.5)
    return p.rows(rms(numerator(p, p.hide(s), v), norm_weight))


def relu_count_layernorm(q, k, v, norm_weight, norm_bias, causal=True):
    p, s = products(q, k, causal, torch.relu, q.shape[-1] ** -0.5)
    return p.rows(layer(numerator(p, p.hide(s), v) / count(p, v), norm_weight, norm_bias))


# ---- Linear attention and its higher orders.


def powers(s, order):
    return sum(s**n / float(math.factorial(n)) for n in range(order + 1))


def elu1(x):
    return F.elu(x) + 1


def over_mass(phi, epsilon):
    """w of order 1 or of all orders up to `order`, over its mass + epsilon."""

    def attention(q, k, v, order=None, causal=True):
        p, s = products(q, k, causal, phi)
        w = p.hide(s if order is None else powers(s, order))
        return p.rows(numerator(p, w, v) / p.safe(mass(w) + epsilon))

    return attention


def cosine(q, k, v, power, order=None, causal=True):
    p, s = products(q, k, causal, unit)
    w = p.hide(s if order is None else powers(s, order))
    return numerator(p, w, v) / count(p, v) ** torch.sigmoid(power)[:, None, None]


def linear_cosine_as_coded(q, k, v, power, causal=True):
    p, s = products(q, k, causal, functools.partial(unit, dim=1))
    position = (p.u + 1.0).to(v.dtype)
    return torch.einsum("bhtu,bhue->bhte", p.hide(s), p.heads(v) / (position ** torch.sigmoid(power)[:, None])[..., None])


def softmax_taylor_as_coded(q, k, v, order, causal=True):
    p = Pairs(q, k, causal)
    return numerator(p, p.hide(powers(p.score(rope(q, p.t), rope(k, p.u)), order)), v)


# Rows by the plots of the paper: name of the specification, function. `order` of a series, where it is one, is the specification's default.
CATALOGUE = {
    "denominators": {
        "softmax": formulas.softmax,
        "softmax-mass-clamped": softmax_mass_clamped,
        "softmax-mass-detached": softmax_mass_detached,
        "softmax-count": softmax_count,
        "softmax-mass-detached-gate": softmax_mass_detached_gate,
        "softmax-gate": softmax_gate,
        "softmax-count-gate": formulas.softmax_count_gate,
    },
    "gates": {
        "gates-count-layernorm": gates_count_layernorm,
        "gates-count": gates_count,
        "output-gate-count-layernorm": output_gate_count_layernorm,
        "input-gate-count-layernorm": input_gate_count_layernorm,
        "input-gate-count": input_gate_count,
        "relu-count-gate": relu_count_gate,
        "relu-gate": relu_gate,
        "cumulative-mass-gate": cumulative_mass_gate,
        "cumulative-gate": cumulative_gate,
        "cumulative-gate-as-coded": cumulative_gate_as_coded,
        "decay-gates": formulas.decay_gates,
        "conv-gates": conv_gates,
    },
    "norms": {
        "softmax-norm-l2": formulas.softmax_norm_l2,
        "softmax-clamped-norm-l2": softmax_clamped_norm_l2,
        "softmax-norm-rms": softmax_norm_rms,
        "softmax-count-rms": softmax_count_rms,
        "softmax-count-layernorm": formulas.softmax_count_layernorm,
        "softmax-count-norm-scaled": softmax_count_norm_scaled,
        "softmax-gate-norm-l2": softmax_gate_norm_l2,
        "softmax-norm-l2-gate": softmax_norm_l2_gate,
        "relu-norm-l2": relu_norm_l2,
        "relu-clamped-norm-l2": relu_clamped_norm_l2,
        "relu-norm-rms": relu_norm_rms,
        "relu-count-layernorm": relu_count_layernorm,
    },
    "linear": {
        "linear-elu": over_mass(elu1, 0),
        "linear-relu": formulas.linear_relu,
        "linear-cosine": cosine,
        "linear-cosine-as-coded": linear_cosine_as_coded,
        "softmax-taylor": formulas.softmax_taylor,
        "softmax-taylor-as-coded": softmax_taylor_as_coded,
        "elu-taylor": over_mass(elu1, 0),
        "relu-taylor": over_mass(torch.relu, 1e-8),
        "cosine-taylor": cosine,
    },
}
ORDERS = {"softmax-taylor": 10, "softmax-taylor-as-coded": 79, "elu-taylor": 10, "relu-taylor": 10, "cosine-taylor": 10}
# Read running sums of keys at the queries' positions, which must be those of tokens already there.
CAUSAL_ONLY = {"cumulative-mass-gate", "cumulative-gate", "decay-gates"}
NORMS_OVER_HEADS = {"linear-cosine-as-coded"}
# Finite sums of powers of one inner product, which have all forms; series with few orders (a low --set=order).
STATES = ["relu-norm-l2", "relu-norm-rms", "relu-count-layernorm", "linear-elu", "linear-relu", "linear-cosine", "linear-cosine-as-coded", *ORDERS]
