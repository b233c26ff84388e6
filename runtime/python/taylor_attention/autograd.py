# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of the operators, and torch.func's transforms, outside of the operators: this is what costs least.

`Attention` is what autograd and torch.compile take, and has no more than they need: what is saved is no output of it.
Transforms of torch.func want saved tensors among the outputs, and a rule for vmap: `Transformed` has both.
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

import torch

from . import operators

_SECOND = ("taylor: unsupported second derivative of attention(); use eager code where one is needed (taylorc "
           "--emit=torch prints it)")
_HEAD = 3  # arguments of the functions before their tensors

Tensors = Sequence[torch.Tensor]


class Attention(torch.autograd.Function):
    """apply(spec, options, offset, outputs, reads_outputs, *inputs): all outputs. `spec` is a Program's identity, and
    `outputs` their number."""

    @staticmethod
    def forward(ctx: Any, spec: str, options: str, offset: int | None, outputs: int, reads_outputs: bool,
                *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        results = operators.forward(inputs, spec, options, offset, True)
        ctx.save_for_backward(*inputs, *(results if reads_outputs else results[outputs:]))
        ctx.call = spec, options, offset, len(inputs), outputs if reads_outputs else 0
        return tuple(results[:outputs])

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[Any, ...]:
        spec, options, offset, inputs, outputs = ctx.call
        wanted = [i for i, needed in enumerate(ctx.needs_input_grad[_HEAD + 2:]) if needed]
        kept = ctx.saved_tensors
        lists = (kept[:inputs], kept[inputs:inputs + outputs], kept[inputs + outputs:], cotangents)
        if torch.is_grad_enabled() and not torch.compiler.is_compiling():
            gradients = Backward.apply(spec, options, offset, wanted, [len(x) for x in lists],
                                       *(x for some in lists for x in some))
        else:
            gradients = operators.backward(*lists, spec, options, offset, wanted)
        results: list[Any] = [None] * (_HEAD + 2 + inputs)
        for place, gradient in zip(wanted, gradients):
            results[_HEAD + 2 + place] = gradient
        return tuple(results)


# Without torch's own apply(), which looks for transforms each time: attention() has, before it calls this.
apply = super(torch.autograd.Function, Attention).apply


class Transformed(torch.autograd.Function):
    """The same under torch.func: apply(spec, options, offset, save, *inputs) is all outputs and then, if `save`, what is
    saved."""

    @staticmethod
    def forward(spec: str, options: str, offset: int | None, save: bool, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(operators.forward(inputs, spec, options, offset, save))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        spec, options, offset, save, *tensors = inputs
        count = operators.program(spec, options).output_count
        ctx.save_for_backward(*tensors, *output)
        ctx.mark_non_differentiable(*output[count:])
        ctx.call = spec, options, offset, save, len(tensors), count

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[Any, ...]:
        spec, options, offset, save, inputs, outputs = ctx.call
        require_backward(save)
        wanted = [i for i, needed in enumerate(ctx.needs_input_grad[_HEAD + 1:]) if needed]
        kept = ctx.saved_tensors
        counts = [inputs, outputs, len(kept) - inputs - outputs, outputs]
        gradients = Backward.apply(spec, options, offset, wanted, counts, *kept, *cotangents[:outputs])
        results = [None] * (_HEAD + 1 + inputs)
        for place, gradient in zip(wanted, gradients):
            results[_HEAD + 1 + place] = gradient
        return tuple(results)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], spec: str, options: str, offset: int | None, save: bool,
             *inputs: torch.Tensor) -> Any:
        manifest = operators.program(spec, options).manifest(_row(inputs, in_dims[_HEAD + 1:]))
        return _batched(info.batch_size, manifest.inputs[:len(inputs)], in_dims[_HEAD + 1:], inputs,
                        [*manifest.outputs, *(manifest.saved if save else ())],
                        lambda *x: Transformed.apply(spec, options, offset, save, *x))


class Backward(torch.autograd.Function):
    """apply(spec, options, offset, wanted, counts, *tensors): gradients; `counts` are of inputs, outputs, saved tensors
    and cotangents, which follow. A derivative of it is refused, but only when it is taken."""

    @staticmethod
    def forward(spec: str, options: str, offset: int | None, wanted: list[int], counts: list[int],
                *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        lists, begin = [], 0
        for count in counts:
            lists.append(tensors[begin:begin + count])
            begin += count
        return tuple(operators.backward(*lists, spec, options, offset, wanted))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> Any:
        raise RuntimeError(_SECOND)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], spec: str, options: str, offset: int | None, wanted: list[int],
             counts: list[int], *tensors: torch.Tensor) -> Any:
        dims = in_dims[_HEAD + 2:]
        manifest = operators.program(spec, options).manifest(_row(tensors[:counts[0]], dims[:counts[0]]))
        infos = [*manifest.inputs[:counts[0]], *manifest.outputs[:counts[1]], *manifest.saved[:counts[2]],
                 *manifest.outputs[:counts[3]]]
        return _batched(info.batch_size, infos, dims, tensors, [manifest.inputs[i] for i in wanted],
                        lambda *x: Backward.apply(spec, options, offset, wanted, counts, *x))


def _row(tensors: Tensors, dims: Sequence[int | None]) -> list[torch.Tensor]:
    """One row of a mapped call: its dtypes and channels say which kernel serves it, and so what is saved."""
    return [x if dim is None else x.select(dim, 0) if x.shape[dim] else x.new_empty(x.movedim(dim, 0).shape[1:])
            for x, dim in zip(tensors, dims, strict=True)]


def _batched(size: int, infos: Sequence[operators.Tensor], dims: Sequence[int | None], tensors: Tensors,
             results: Sequence[operators.Tensor], call: Callable[..., Tensors]) -> Any:
    """`call` on tensors with one more axis each, at `dims` (None: all share it), and the axis' place in its results.

    The new axis joins the batch. Where a tensor that has it, or a result, has no batch (learned weights, each of which
    has a gradient of its own), one row is computed after the other.
    """
    joins = all(x.batch >= 0 for x in results) and all(dim is None or x.batch >= 0 for x, dim in zip(infos, dims, strict=True))
    if not joins:
        rows = [call(*(x if dim is None else x.select(dim, row) for x, dim in zip(tensors, dims)))
                for row in range(size)]
        return tuple(torch.stack(list(row)) for row in zip(*rows)), (0,) * len(results)
    joined = []
    for info, dim, tensor in zip(infos, dims, tensors, strict=True):
        if info.batch >= 0:
            wide = tensor.unsqueeze(info.batch) if dim is None else tensor.movedim(dim, info.batch)
            if dim is None:
                wide = wide.expand(*wide.shape[:info.batch], size, *wide.shape[info.batch + 1:])
            tensor = wide.flatten(info.batch, info.batch + 1)
        joined.append(tensor)
    outputs = call(*joined)
    return (tuple(x.unflatten(info.batch, (size, x.shape[info.batch] // max(size, 1)))
                  for x, info in zip(outputs, results, strict=True)), tuple(info.batch for info in results))


def require_backward(there: bool) -> None:
    """RuntimeError where a gradient is asked of a kernel without a backward."""
    if not there:
        raise RuntimeError("taylor: unsupported gradient of a kernel without a backward, as --forward-only and "
                           "--form=recurrent make it; call it under torch.no_grad(), or leave that option out")
