# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`ta.attention` on DTensors: batch and heads may be sharded over a mesh; tokens and channels may not.

Each process runs the kernel on its share. An input that is whole on every process is cut where the others are sharded;
one without that axis stays whole, and its gradient is the sum over processes.
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

import torch
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard

from . import operators, texts

_HEADS = ("h", "g")
_WORDS = {"b": "batch", "h": "heads"}


def _groups(axis: str) -> str:
    """The axis that is cut with this one: query heads and key/value heads go together."""
    return "h" if axis in _HEADS else axis


def _refuse_mixing(program: operators.Program, axis: str) -> None:
    """Where a formula reads an axis (its index, its size, a reduction over it), a share does not have what it reads."""
    text = program.identity.replace(operators.LINE_END, "\n")
    if "taylor.spec" not in text:
        raise RuntimeError("taylor: unsupported DTensor for an artifact; give the specification that it was compiled "
                           "from")
    names = (*_HEADS, "group") if axis == "h" else (axis,)
    if "taylor.pairwise" in text or texts.names_axis(text, names):
        raise RuntimeError(f"taylor: unsupported DTensor sharded over {_WORDS[axis]}: the specification computes across "
                           f"them ({' or '.join(_HEADS if axis == 'h' else axis)} in a formula or a reduction); redistribute to Replicate() there")


def _sharded_axis(info: operators.Tensor, placement: Placement) -> str | None:
    """The axis that a placement of one mesh dimension cuts; None of a whole tensor, or a sum that is still to be done."""
    if not isinstance(placement, Shard):
        return None
    axis = info.axes[placement.dim % len(info.axes)]
    if _groups(axis) not in _WORDS:
        raise RuntimeError(f"taylor: unsupported placement {placement!r} of '{info.name}', whose axis is {axis}: batch and "
                           "heads can be sharded; redistribute it to Replicate()")
    return _groups(axis)


def _cut(infos: Sequence[operators.Tensor], inputs: Sequence[DTensor]) -> list[str | None]:
    """For each dimension of the mesh the axis that it shards, or None."""
    result: list[str | None] = []
    for dimension in range(inputs[0].device_mesh.ndim):
        found = {axis for info, x in zip(infos, inputs) if (axis := _sharded_axis(info, x.placements[dimension]))}
        if len(found) > 1:
            raise RuntimeError("taylor: unsupported placements: one dimension of the mesh shards batch and heads; "
                               "redistribute some of the inputs")
        result.append(next(iter(found), None))
    return result


def _place(info: operators.Tensor, axis: str | None, size: int, sizes: Sequence[int]) -> Placement:
    """How one mesh dimension, of this size, holds a tensor where it cuts `axis`."""
    for place, name in enumerate(info.axes):
        if axis is None or _groups(name) != axis:
            continue
        if name == "g" and sizes[place] == 1:  # all query heads share it
            return Replicate()
        if sizes[place] % size:
            raise RuntimeError(f"taylor: expected a size of axis {name} of '{info.name}' that {size} processes divide, but "
                               f"got {sizes[place]}")
        return Shard(place)
    return Replicate()


def attention(call: Callable[[list[torch.Tensor]], Any], program: operators.Program,
              inputs: list[Any]) -> list[DTensor]:
    """`call`, which takes tensors and gives a list of them, on each process's share of the inputs."""
    mesh = next(x.device_mesh for x in inputs if isinstance(x, DTensor))
    # Numbers of documents, which every process has, may be a tensor.
    inputs = [x if isinstance(x, DTensor) or x.is_floating_point()
              else DTensor.from_local(x, mesh, [Replicate()] * mesh.ndim, run_check=False) for x in inputs]
    if not all(isinstance(x, DTensor) and x.device_mesh == mesh for x in inputs):
        raise RuntimeError("taylor: expected all inputs as DTensors of one mesh, but some are not; distribute_tensor(x, "
                           "mesh, [Replicate()]) makes one of a tensor that every process has")
    cut = _cut(program.inputs, inputs)
    for axis in filter(None, cut):
        _refuse_mixing(program, axis)
    shares = []
    for info, x in zip(program.inputs, inputs):
        placements = [_place(info, axis, mesh.size(i), x.shape) for i, axis in enumerate(cut)]
        # Of an input that each process has whole, each computes the share of the gradient that its rows give.
        gradient = [Partial() if axis and not isinstance(y, Shard) else y for axis, y in zip(cut, placements)]
        shares.append(x.redistribute(mesh, placements).to_local(grad_placements=gradient))
    results = []
    for info, share in zip(program.signature.outputs, call(shares)):
        axes = [_groups(axis) for axis in info.axes]
        for axis in filter(None, cut):
            if axis not in axes:
                raise RuntimeError(f"taylor: unsupported DTensor sharded over {_WORDS[axis]}: output '{info.name}' has no "
                                   f"axis {axis}; redistribute to Replicate() there")
        placements = [Shard(axes.index(axis)) if axis else Replicate() for axis in cut]
        results.append(DTensor.from_local(share, mesh, placements, run_check=False))
    return results
