# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`ta.attention` on DTensors: shards of the batch and of heads, which need nothing of each other. Imports torch."""
from __future__ import annotations

from typing import Any, Callable, Sequence

import torch
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor.experimental import local_map

from . import operators, texts

Placement = Any  # of torch.distributed.tensor

_WORDS = {"b": ("b",), "h": ("h", "g", "group")}  # by which an operation would see other shards
_WAY_OUT = "x.redistribute(placements=..) to shards of the batch or of heads, or x.full_tensor()"


def over_shards(call: Callable[..., tuple[torch.Tensor, ...]], inputs: Sequence[torch.Tensor],
                program: operators.Program) -> tuple[torch.Tensor, ...]:
    """`call` on each process' own batch or heads. Inputs that are sharded otherwise than the first one is, in its axes b
    or h, are redistributed; learned parameters' gradients are sums over shards (Partial) where they are replicated."""
    infos = program.inputs[:len(inputs)]
    mesh = inputs[0].device_mesh  # type: ignore[attr-defined]
    given = [_as_dtensor(x, info, mesh) for x, info in zip(inputs, infos)]
    axes = [_axis(placement, infos[0]) for placement in given[0].placements]
    for axis, size in zip(axes, mesh.shape):
        _check(axis, size, given, infos, program)
    outputs = program.signature.outputs
    placed = [[_placement(info, axis) for axis in axes] for info in infos]
    gradients = [[Partial() if axis and isinstance(placement, Replicate) else placement
                  for placement, axis in zip(one, axes)] for one in placed]
    run = local_map(call, out_placements=tuple([_placement(info, axis) for axis in axes] for info in outputs),
                    in_placements=tuple(placed), in_grad_placements=tuple(gradients), device_mesh=mesh,
                    redistribute_inputs=True)
    results: tuple[torch.Tensor, ...] = run(*given)
    return results


def _as_dtensor(tensor: torch.Tensor, info: operators.Tensor, mesh: Any) -> Any:
    if isinstance(tensor, DTensor):
        if tensor.device_mesh != mesh:
            raise ValueError(f"expected the device mesh of the first input for '{info.name}', but got {tensor.device_mesh}")
        return tensor
    if tensor.is_floating_point():
        raise TypeError(f"expected a DTensor for '{info.name}', as the first input is one, but got {type(tensor).__name__}; "
                        "distribute_tensor(..) makes one")
    return DTensor.from_local(tensor, mesh, [Replicate()] * mesh.ndim)  # documents, which every process has


def _axis(placement: Placement, info: operators.Tensor) -> str | None:
    """The axis that a dimension of the mesh divides: b, h or None."""
    if isinstance(placement, Replicate):
        return None
    name = info.axes[placement.dim] if type(placement) is Shard else str(placement)
    if name not in ("b", "h"):
        raise ValueError(f"unsupported placement of '{info.name}' [{', '.join(info.axes)}], {placement}: tokens and channels "
                         f"depend on each other; {_WAY_OUT}")
    return name


def _placement(info: operators.Tensor, axis: str | None) -> Placement:
    for name in {"b": "b", "h": "hg"}.get(axis or "", ""):
        if name in info.axes:
            return Shard(info.axes.index(name))
    return Replicate()


def _check(axis: str | None, shards: int, inputs: Sequence[Any], infos: Sequence[operators.Tensor],
           program: operators.Program) -> None:
    if axis is None:
        return
    if texts.names_axis(program.text, _WORDS[axis]):
        raise ValueError(f"unsupported shards of axis {axis}: the specification has the axis in a formula or a reduction, and a "
                         f"shard does not see the others; {_WAY_OUT}")
    for tensor, info in zip(inputs, infos):
        placement = _placement(info, axis)
        if isinstance(placement, Shard) and tensor.shape[placement.dim] % shards:
            raise ValueError(f"expected a size of axis {info.axes[placement.dim]} of '{info.name}' that {shards} shards divide, "
                             f"but got {tensor.shape[placement.dim]}; {_WAY_OUT}")
