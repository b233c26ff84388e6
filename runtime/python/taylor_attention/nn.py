# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`ta.nn.Attention`: an attention layer with the modules that a specification asks for. Imports torch."""
from __future__ import annotations

import math
from typing import Any, Literal, Mapping

import torch

from . import operators
from .calls import Specification, attention, text_of
from .inputs import torch_dtype
from .keywords import checks_keywords, unknown_keyword
from .options import options_of

Initialization = Literal["normal", "uniform"]


def _features(info: operators.Tensor) -> list[str]:
    """The axes of one token's features."""
    return [axis for axis in info.axes if axis not in "btu"]


def _places(info: operators.Tensor) -> list[int]:
    """The axes as places in [b, token, features]: for a permute from there."""
    features = _features(info)
    return [0 if axis == "b" else 1 if axis in "tu" else 2 + features.index(axis) for axis in info.axes]


class Attention(torch.nn.Module):
    """An attention layer: x [B, T, hidden] to [B, T, hidden].

        layer = ta.nn.Attention(softmax_count_gate, hidden=256, heads=4)
        y = layer(x)

    A projected argument `gate` of the specification is a linear layer `gate_proj` of x, with a bias where the
    specification says so; a learned one is a parameter of its own name; `o_proj`, without a bias, follows. These are the
    names that taylor-train's checkpoints have after `model.layers.N.self_attn.`.

    `spec` is what `ta.attention` takes. `heads` are those of queries (axis h); `kv_heads` (g) divides it and is as many
    by default; `head_dim` (d) is hidden / heads by default, `value_dim` (e) is `head_dim`. `parameters` are the
    specification's, by name, `mask` is "causal", "bidirectional" or "" as written.

    Initial values are drawn by taylor-train's rule. "normal": weights have the standard deviation `deviation`, that of
    o_proj is divided by sqrt(2 layers), as 2 `layers` of a model add to its residual stream; biases are 0. "uniform":
    torch.nn.Linear's own. Learned arguments begin as the specification says.
    """

    @checks_keywords("ta.nn.Attention")
    def __init__(self, spec: Specification, hidden: int, heads: int, kv_heads: int | None = None,
                 head_dim: int | None = None, value_dim: int | None = None, *,
                 parameters: Mapping[str, Any] | None = None, mask: str = "",
                 initialization: Initialization = "normal", deviation: float = 0.02, layers: int = 1,
                 device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        text = text_of(spec)
        if dtype is not None:
            torch_dtype(dtype)
        sizes = _sizes(hidden, heads, kv_heads, head_dim, value_dim)
        if initialization not in ("normal", "uniform"):
            raise ValueError(f"expected initialization 'normal' or 'uniform', but got {initialization!r}")
        self.hidden, self.initialization, self.deviation, self.layers = hidden, initialization, deviation, layers
        self.options = options_of(parameters, mask)
        program = operators.program(text, self.options)
        self.specification: str = text if text.endswith(".so") else program.text  # of a file, what it says now
        self._inputs = program.inputs
        self.mask = program.signature.mask
        self.sizes: dict[str, int] = {**program.signature.sizes, **sizes}
        self._output = _one_output(program)
        for info in self._inputs:
            _check(info)
            self._build(info, device, dtype)
        width = math.prod(self.sizes[axis] for axis in _features(self._output))
        self.o_proj = torch.nn.Linear(width, hidden, bias=False, device=device, dtype=dtype)
        self.reset_parameters()

    def _build(self, info: operators.Tensor, device: Any, dtype: Any) -> None:
        shape = [self.sizes[axis] for axis in _features(info)]
        name = f"{info.name}_proj" if info.kind == "projection" else info.name
        if hasattr(self, name):
            raise ValueError(f"unsupported argument name '{info.name}': torch.nn.Module has {name} for something else; "
                             "rename the argument")
        if info.kind == "projection":
            self.add_module(name, torch.nn.Linear(self.hidden, math.prod(shape), info.bias, device=device, dtype=dtype))
        else:
            self.register_parameter(name, torch.nn.Parameter(torch.empty(shape, device=device, dtype=dtype)))

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draws initial values; of a layer that was made on the device "meta", after `to_empty`."""
        for info in self._inputs:
            if info.kind == "projection":
                self._reset(getattr(self, f"{info.name}_proj"), 1.0)
            else:
                _draw(getattr(self, info.name), info)
        self._reset(self.o_proj, 1.0 / math.sqrt(2.0 * self.layers))

    def _reset(self, linear: torch.nn.Linear, gain: float) -> None:
        if self.initialization == "uniform":
            linear.reset_parameters()
            return
        torch.nn.init.normal_(linear.weight, 0.0, self.deviation * gain)
        if linear.bias is not None:
            torch.nn.init.zeros_(linear.bias)

    def forward(self, x: torch.Tensor, documents: torch.Tensor | None = None,
                cu_seqlens: torch.Tensor | None = None, **unknown: Any) -> torch.Tensor:
        """x [B, T, hidden] to [B, T, hidden]; `documents` [B, T] or `cu_seqlens` [N + 1] as in `ta.attention`."""
        for name, value in unknown.items():
            raise unknown_keyword(name, value, "a layer's call", ["x", "documents", "cu_seqlens"])
        output = attention(*self.project(x), spec=self.specification, options=self.options, documents=documents,
                           cu_seqlens=cu_seqlens)
        return self.merge(output)

    def project(self, x: torch.Tensor) -> list[torch.Tensor]:
        """The specification's inputs: projections of x [B, T, hidden], and learned parameters."""
        if x.dim() != 3 or x.shape[-1] != self.hidden:
            raise ValueError(f"expected x [B, T, {self.hidden}], but got shape {list(x.shape)}")
        inputs = []
        for info in self._inputs:
            if info.kind == "projection":
                shape = [self.sizes[axis] for axis in _features(info)]
                projected = getattr(self, f"{info.name}_proj")(x)
                inputs.append(projected.view(x.shape[0], x.shape[1], *shape).permute(_places(info)))
            else:
                inputs.append(getattr(self, info.name))
        return inputs

    def merge(self, output: torch.Tensor) -> torch.Tensor:
        """The specification's output to [B, T, hidden]."""
        order = _places(self._output)
        merged: torch.Tensor = self.o_proj(output.permute([order.index(place) for place in range(len(order))]).flatten(2))
        return merged

    def extra_repr(self) -> str:
        sizes = ", ".join(f"{axis}={self.sizes[axis]}" for axis in ("h", "g", "d", "e"))
        return f"hidden={self.hidden}, {sizes}" + (f", options={self.options!r}" if self.options else "")


def _sizes(hidden: int, heads: int, kv_heads: int | None, head_dim: int | None, value_dim: int | None) -> dict[str, int]:
    for name, size in (("hidden", hidden), ("heads", heads), ("kv_heads", kv_heads), ("head_dim", head_dim),
                       ("value_dim", value_dim)):
        if size is None and name not in ("hidden", "heads"):
            continue
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"expected a whole number for {name}, but got {size!r}")
        if size < 1:
            raise ValueError(f"expected at least 1 for {name}, but got {size}")
    kv_heads = heads if kv_heads is None else kv_heads
    if heads % kv_heads:
        raise ValueError(f"expected a number of key/value heads that divides {heads}, the number of heads, but got {kv_heads}")
    if head_dim is None and hidden % heads:
        raise ValueError(f"requires head_dim where hidden, {hidden}, is no multiple of heads, {heads}")
    d = hidden // heads if head_dim is None else head_dim
    return {"h": heads, "g": kv_heads, "d": d, "e": d if value_dim is None else value_dim}


def _one_output(program: operators.Program) -> operators.Tensor:
    outputs = program.signature.outputs
    if len(outputs) != 1:
        raise ValueError(f"unsupported specification with {len(outputs)} results ({', '.join(x.name for x in outputs)}): "
                         "a layer has one; call ta.attention with all_outputs=True")
    _check_projected(outputs[0], "the result")
    return outputs[0]


def _check(info: operators.Tensor) -> None:
    """What a layer cannot build is refused, in taylor-train's words."""
    if info.kind == "projection":
        if info.name == "o":
            raise ValueError("unsupported argument name 'o': o_proj follows the attention; rename the argument")
        _check_projected(info, f"argument '{info.name}'")
    elif info.kind != "parameter":
        raise ValueError(f"unsupported source 'input' of argument '{info.name}': a layer has nothing to bring for it; "
                         "call ta.attention, or write ta.projection(..) or ta.parameter(..)")


def _check_projected(info: operators.Tensor, what: str) -> None:
    if info.axes.count("b") != 1 or sum(axis in "tu" for axis in info.axes) != 1:
        raise ValueError(f"requires {what} of the specification to have the axes b and t or u once each, but it has "
                         f"[{', '.join(info.axes)}]: a layer projects a hidden state of every token")


def _draw(parameter: torch.Tensor, info: operators.Tensor) -> None:
    initial = info.initial
    if initial["kind"] == "uniform":
        torch.nn.init.uniform_(parameter, initial["low"], initial["high"])
    elif initial["kind"] == "normal":
        torch.nn.init.normal_(parameter, initial["mean"], initial["deviation"])
    else:
        torch.nn.init.constant_(parameter, info.constant)
