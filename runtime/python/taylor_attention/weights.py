# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`Spec.weights`: the weights of sums over keys, by running the specification. Imports torch."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Mapping

import torch

from . import operators
from .calls import attention
from .sums import KINDS, Probe

if TYPE_CHECKING:
    from .spec import Spec

_ROW, _WEIGHTS, _SCORES = range(len(KINDS))


@dataclass(frozen=True)
class Weights:
    """The weights of one sum over keys, f64.

    `name` is the sum's in the text; `scores` [points] and `of_scores` [points] are s and w(s); `row` [heads, keys] is
    what the last of as many queries as keys gives to each key.
    """

    name: str
    scores: torch.Tensor
    of_scores: torch.Tensor
    row: torch.Tensor


class _Runner:
    """The specification of sums on arguments that are chosen one by one, by the axes that they vary along."""

    def __init__(self, spec: Spec, probe: Probe, sizes: dict[str, int], options: str,
                 values: Mapping[str, float]) -> None:
        self.sums = len(probe.names)
        self._text = probe.text.mlir
        self._options = " ".join(x for x in (options, "--forward-only") if x)
        self.program = operators.program(self._text, self._options)
        signature = self.program.signature
        fixed = {axis: size for axis, size in signature.sizes.items() if axis not in ("d", "e")}
        self.sizes = {**sizes, **fixed}
        self._own, self._skipped = len(spec.arguments), probe.results
        self._values = values

    def run(self, sizes: Mapping[str, int], query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
            q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> list[torch.Tensor]:
        """The KINDS of each sum in turn. The first three are the specification's own arrays with a channel, [d], [d] and
        [u, e]; the last three are what each sum is given by itself, [d], [b, d] and [e]."""
        every = {**self.sizes, **sizes}
        brought = ((q, "c"), (k, "bc"), (v, "c"))
        inputs = []
        for number, info in enumerate(self.program.inputs):
            if number >= self._own:
                tensor, axes = brought[(number - self._own) % len(brought)]
            elif info.name in self._values:
                tensor, axes = torch.tensor(float(self._values[info.name])), ""
            elif info.kind != "projection" or not info.channel:
                tensor, axes = torch.tensor(_initial(info)), ""
            elif "t" in info.axes:
                tensor, axes = query, "c"
            else:
                tensor, axes = (value, "uc") if info.channel == "e" else (key, "c")
            inputs.append(_spread(tensor, axes, info, every))
        return attention(*inputs, spec=self._text, options=self._options, all_outputs=True)[self._skipped:]


def _initial(info: operators.Tensor) -> float:
    """Of a learned parameter the initial value, of a distribution its mean; 1 of a projection, 0 of what is brought."""
    if info.kind == "projection":
        return 1.0
    return info.constant if info.kind == "parameter" else 0.0


def _spread(tensor: torch.Tensor, axes: str, info: operators.Tensor, sizes: Mapping[str, int]) -> torch.Tensor:
    """A tensor that varies along `axes` (c: the channel) as the input is laid out."""
    own = ["c" if axis == info.channel else axis for axis in info.axes]
    shape = [tensor.shape[axes.index(axis)] if axis in axes else 1 for axis in own]
    ordered = tensor.permute([axes.index(axis) for axis in own if axis in axes])
    dtype = torch.int32 if info.dtype == torch.int32 else torch.float64
    return ordered.reshape(shape).expand([sizes[axis] for axis in info.axes]).to(dtype)


def weights(spec: Spec, probe: Probe | None, scores: tuple[float, float], points: int, keys: int, heads: int, head_dim: int,
            score: float, options: str, values: Mapping[str, float]) -> list[Weights]:
    """`Spec.weights`."""
    if probe is None:
        raise ValueError(f"unsupported spelling of a sum over keys in {spec.name}; write it as taylor-opt prints it: "
                         "%n = taylor.recurrences %q, %k, %v exponential causal : !q, !k, !v")
    if not probe.names:
        raise ValueError(f"requires a sum over keys (ta.recurrences, ta.recurrence) in {spec.name}: of ta.pairwise the "
                         "weights are what its formulas say")
    if len(scores) != 2 or not scores[0] < scores[1]:
        raise ValueError(f"expected two scores, the least first, but got {scores!r}")
    for name, number in (("points", points), ("keys", keys), ("heads", heads), ("head_dim", head_dim)):
        if number < 1:
            raise ValueError(f"expected at least 1 for {name}, but got {number}")
    with torch.no_grad():
        sizes = {"b": 1, "h": heads, "g": heads, "t": 1, "u": 1, "d": head_dim, "e": head_dim}
        runner = _Runner(spec, probe, sizes, options, values)
        at = torch.linspace(scores[0], scores[1], points, dtype=torch.float64)
        scales = _scales(runner)
        of_scores = [_of_scores(runner, number, at, scale) for number, scale in enumerate(scales)]
        rows = [_row(runner, number, keys, score, scale) for number, scale in enumerate(scales)]
    return [Weights(*one) for one in zip(probe.names, [at] * runner.sums, of_scores, rows)]


def _unit(size: int) -> torch.Tensor:
    return torch.nn.functional.one_hot(torch.tensor(0), size).double()


def _scales(runner: _Runner) -> list[float]:
    """Of each sum, the score of a query and a key whose product is 1."""
    d, e = runner.sizes["d"], runner.sizes["e"]
    ones = torch.ones(1, e, dtype=torch.float64)
    results = runner.run({}, _unit(d), _unit(d), ones, _unit(d), _unit(d)[None], ones[0])
    found = [results[len(KINDS) * number + _SCORES].flatten()[0].item() for number in range(runner.sums)]
    for scale in found:
        if scale == 0 or not math.isfinite(scale):
            raise ValueError(f"expected a scale of scores that is a number other than 0, but got {scale}")
    return found


def _of_scores(runner: _Runner, number: int, scores: torch.Tensor, scale: float) -> torch.Tensor:
    d, e = runner.sizes["d"], runner.sizes["e"]
    key = _unit(d) * (scores / scale)[:, None]
    ones = torch.ones(1, e, dtype=torch.float64)
    results = runner.run({"b": len(scores)}, _unit(d), _unit(d), ones, _unit(d), key, ones[0])
    return results[len(KINDS) * number + _WEIGHTS].flatten(1)[:, 0].clone()


def _row(runner: _Runner, number: int, keys: int, score: float, scale: float) -> torch.Tensor:
    """Values are rows of the identity, as many keys at a time as there are channels."""
    d, e = runner.sizes["d"], runner.sizes["e"]
    vector = torch.full((d,), math.sqrt(abs(score / scale) / d), dtype=torch.float64)
    key = -vector if score / scale < 0 else vector
    parts: list[torch.Tensor] = []
    for begin in range(0, keys, e):
        value = torch.eye(keys, dtype=torch.float64)[:, begin:begin + e]
        value = torch.nn.functional.pad(value, (0, e - value.shape[1]))
        results = runner.run({"t": keys, "u": keys}, vector, key, value, vector, key[None], torch.ones(e).double())
        parts.append(results[len(KINDS) * number + _ROW][0, :, -1, :])
    return torch.cat(parts, -1)[:, :keys].clone()
