# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Opponents that compute what our kernels compute: fused softmax attention after the rotation (RoPE), and weights other than the exponential.
Each maker gives a contender (contenders.py) or raises Unavailable with the reason.

Shapes: q [B, H, T, D], k [B, G, T, D], v [B, G, T, E]; tables of the rotation [T, D]."""
import functools
import importlib.util

import torch
import torch.nn.functional as F
from torch.nn.attention import sdpa_kernel

from contenders import BACKENDS, Differentiable
from errors import Unavailable, reason

THETA = 10000.0  # as taylor.rope
FLOOR = 1.0e-8  # weight of a pair whose weight is zero: the logarithm of zero has no gradient


def rotation_tables(t, d, dtype, device):
    """cos and sin of position * theta^(-2 i / d), each channel of a pair with the same angle; in the model's type, as a model keeps them."""
    half = d // 2
    frequency = torch.pow(THETA, -torch.arange(half, dtype=torch.float64) / half)
    angle = torch.outer(torch.arange(t, dtype=torch.float64), frequency)
    angle = torch.cat([angle, angle], -1)
    return angle.cos().to(dtype).to(device), angle.sin().to(dtype).to(device)


def rotate(x, cos, sin):
    """RoPE with pairs of channels i and i + D/2, in the three steps of the Llama model of transformers: swap the halves, negate one, add up."""
    half = x.shape[-1] // 2
    swapped = torch.cat([-x[..., half:], x[..., :half]], -1)
    return x * cos + swapped * sin


def tables_of(problem):
    return rotation_tables(problem.sizes["t"], problem.sizes["d"], problem.dtype, problem.device.torch)


def rotated_softmax(grouped, q, k, v, cos, sin):
    return F.scaled_dot_product_attention(rotate(q, cos, sin), rotate(k, cos, sin), v, is_causal=True, enable_gqa=grouped)


def compiled(function, problem):
    """torch.compile for this shape alone, as one graph or not at all. Saved arrays stay for the next round's backward."""
    if problem.device.name != "cuda":
        raise Unavailable("compiled code is timed on a GPU alone: on a processor FlexAttention has no backward")
    import torch._dynamo.config
    import torch._functorch.config

    torch._functorch.config.donated_buffer = False  # else a second backward of the same forward is refused
    torch._dynamo.config.recompile_limit = 64  # rows share functions, and each has a variant with gradients and one without
    return torch.compile(function, dynamic=False, fullgraph=True)


def rotated_sdpa(problem, name, compile=False):
    """SDPA after the rotation; gradients reach q and k through it."""
    function = functools.partial(rotated_softmax, problem.sizes["g"] != problem.sizes["h"])
    if compile:
        function = compiled(function, problem)
    cos, sin = tables_of(problem)
    return Differentiable(lambda q, k, v: function(q, k, v, cos, sin), [problem.q, problem.k, problem.v], problem.cotangent,
                          lambda: sdpa_kernel(BACKENDS[name]))


# ---- FlexAttention


def flex_module():
    try:
        import torch.nn.attention.flex_attention as module
    except ImportError as error:
        raise Unavailable(reason(error)) from None
    return module


def kernel_options(backend):
    """What makes FlexAttention take the back end `Triton` or `FLASH` (FlashAttention 4, which is another package)."""
    module = flex_module()
    if "BACKEND" not in getattr(getattr(module, "FlexKernelOptions", None), "__annotations__", {}):
        if backend == "FLASH":
            raise Unavailable(f"torch {torch.__version__} cannot choose FlexAttention's back end")
        return None  # Triton is the only one
    try:
        is_there = importlib.util.find_spec("flash_attn.cute") is not None
    except ImportError:
        is_there = False
    if backend == "FLASH" and not is_there:
        raise Unavailable("flash_attn.cute is not installed")
    return {"BACKEND": backend.upper()}


def causal_mask(problem):
    t = problem.sizes["t"]
    try:
        return flex_module().create_block_mask(lambda b, h, i, j: i >= j, None, None, t, t, device=problem.device.torch)
    except Exception as error:  # out of memory for t x t, or no support of the device
        raise Unavailable(reason(error)) from None


def flex_attend(attention, settings, features, q, k, v, mask, tables):
    """FlexAttention of q and k after the rotation (where there are tables) and the map `features` (where there is one)."""
    if tables is not None:
        q, k = rotate(q, *tables), rotate(k, *tables)
    if features is not None:
        q, k = features(q), features(k)
    return attention(q, k, v, block_mask=mask, **settings)


def flex(problem, backend, rotated=False, score=None, scale=None, features=None, attention=None):
    """The rotation, the features and the attention, compiled as one function. `attention` replaces FlexAttention, uncompiled, where it is given."""
    settings = {"score_mod": score, "scale": scale, "enable_gqa": problem.sizes["g"] != problem.sizes["h"], "kernel_options": kernel_options(backend)}
    function = functools.partial(flex_attend, attention or flex_module().flex_attention, settings, features)
    if not attention:
        function = compiled(function, problem)
    mask, tables = causal_mask(problem), tables_of(problem) if rotated else None
    return Differentiable(lambda q, k, v: function(q, k, v, mask, tables), [problem.q, problem.k, problem.v], problem.cotangent)


# ---- Weights that are not the exponential
#
# FlexAttention gives sum(exp(m(s)) v) / sum(exp(m(s))) for a map m of the scores. With m = log w it gives sum(w v) / sum(w), for weights w > 0.
# The trick is that of attention-gym (mods/activation.py), which wants sum(w v): it adds an offset to w to make it positive, multiplies by
# exp(lse), and subtracts the offset times the sum of visible values. Our two specifications divide by their mass, so none of that is needed:
# an even series is positive, and products of relu are zero at least, so that FLOOR makes them positive. All pairs are visited.


def log_series(order):
    """log of the exponential's series up to an even order, by Horner's rule."""

    def score_mod(score, b, h, i, j):
        total = score * (1.0 / order) + 1.0
        for n in range(order - 1, 0, -1):
            total = total * (score * (1.0 / n)) + 1.0
        return torch.log(total)

    return score_mod


def log_product(score, b, h, i, j):
    """log of a product that is zero at least."""
    return torch.log(score + FLOOR)


def flex_series(problem, backend, order=10, attention=None):
    """softmax-taylor of an even order."""
    return flex(problem, backend, rotated=True, score=log_series(order), attention=attention)


def flex_relu(problem, backend, attention=None):
    """linear-relu by all pairs: work of T x T, which a sum of order 1 does not need."""
    return flex(problem, backend, rotated=True, score=log_product, scale=1.0, features=torch.relu, attention=attention)


def chunked_relu(problem):
    """linear-relu in chunks, in Triton."""
    try:
        import linear_triton
    except ImportError as error:
        raise Unavailable(reason(error)) from None
    linear_triton.require(problem)
    cos, sin = tables_of(problem)
    return Differentiable(lambda q, k, v: linear_triton.linear_relu(q, k, v, cos, sin), [problem.q, problem.k, problem.v], problem.cotangent)


# ---- The rows


def by_backend(suffix, maker):
    return [(f"FlexAttention ({backend}){suffix}", functools.partial(maker, backend=backend)) for backend in ("FLASH", "Triton")]


# The specification that a row computes, if it is one, and titles with makers: of the titles, best first, the first that runs is timed, and the
# reasons of those before it are said.
ROWS = [
    ("softmax", [("SDPA flash + rotation", functools.partial(rotated_sdpa, name="SDPA flash"))]),
    ("softmax", [("SDPA cuDNN + rotation", functools.partial(rotated_sdpa, name="SDPA cuDNN"))]),
    ("linear-relu", [("linear-relu, chunks in Triton", chunked_relu)]),
    ("softmax", [(f"{name} + rotation, compiled", functools.partial(rotated_sdpa, name=name, compile=True)) for name in ("SDPA cuDNN", "SDPA flash")]),
    (None, by_backend("", flex)),
    ("softmax", by_backend(" + rotation", functools.partial(flex, rotated=True))),
    ("softmax-taylor", by_backend(", softmax-taylor", flex_series)),
    ("linear-relu", by_backend(", linear-relu", flex_relu)),
]
COMPILED = {title for _, row in ROWS for title, _ in row if title.endswith("compiled") or title.startswith("FlexAttention")}  # takes long to make
