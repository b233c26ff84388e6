# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`ta.attention`: a specification on tensors. The module has another name than the function, which is the package's."""
from __future__ import annotations

import os
import re
from typing import Any, Literal, Mapping, NoReturn, Union, overload

import torch
from torch.autograd import forward_ad

from . import autograd, operators
from .inputs import dense, document_numbers, tensors, whole
from .keywords import arguments_of, unknown_keyword
from .options import all_options
from .spec import Spec

Specification = Union[str, "os.PathLike[str]", Spec]

_TANGENT = ("taylor: unsupported forward-mode derivative (torch.func.jvp, dual numbers); take the reverse mode "
            "(backward(), torch.autograd.grad)")


def text_of(spec: Any) -> str:
    """What the operators take of a specification: its text, or a path."""
    if isinstance(spec, (str, Spec, os.PathLike)):
        return str(spec)
    if callable(spec):
        raise TypeError(f"expected a specification, but got the function {getattr(spec, '__name__', repr(spec))!r}; "
                        "put @ta.spec above it")
    raise TypeError("expected a specification (of @ta.spec, a path, the text of one or the name of one that ships), "
                    f"but got {spec!r}")


def _documents_of(cu_seqlens: Any, keys: int) -> torch.Tensor:
    """The number of each key's document, [1, U], from where documents begin, [N + 1]."""
    if not isinstance(cu_seqlens, torch.Tensor) or cu_seqlens.dtype not in (torch.int32, torch.int64):
        kind = cu_seqlens.dtype if isinstance(cu_seqlens, torch.Tensor) else type(cu_seqlens).__name__
        raise TypeError(f"expected a tensor of int32 or int64 for cu_seqlens, but got {kind}")
    if cu_seqlens.dim() != 1 or cu_seqlens.shape[0] < 2:
        raise ValueError("expected cu_seqlens of shape [N + 1] for N documents, from 0 to the number of tokens, but "
                         f"got shape {list(cu_seqlens.shape)}")
    if cu_seqlens.device.type == "cpu" and not torch.compiler.is_compiling() and not _is_wrapped(cu_seqlens):
        first, last = int(cu_seqlens[0]), int(cu_seqlens[-1])
        if first != 0 or last != keys:
            raise ValueError(f"expected cu_seqlens from 0 to {keys}, the number of keys, but got {first} to {last}")
        if (cu_seqlens.diff() < 0).any():
            raise ValueError("expected cu_seqlens that never fall, but got " + _shown(cu_seqlens))
    places = torch.arange(keys, device=cu_seqlens.device, dtype=cu_seqlens.dtype)
    return torch.searchsorted(cu_seqlens[1:].contiguous(), places, right=True).to(torch.int32)[None]


def _is_wrapped(tensor: torch.Tensor) -> bool:
    """Whether a transform or a tracer hides the numbers."""
    return type(tensor) is not torch.Tensor or torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def _shown(numbers: torch.Tensor) -> str:
    some = numbers[:8].tolist()
    return f"[{', '.join(map(str, some))}{', ..' if len(numbers) > len(some) else ''}]"


@torch.compiler.assume_constant_result
def _key_axes(spec: str, options: str) -> tuple[str, int, int, int]:
    """The first input over keys: its name, its place among the inputs, and those of its axes b and u."""
    for number, info in enumerate(operators.program(spec, options).inputs):
        if "b" in info.axes and "u" in info.axes and info.name != "documents":
            return info.name, number, info.batch, info.axes.index("u")
    raise ValueError("unsupported cu_seqlens of a specification without an input over the axes b and u")


def _packed(inputs: list[torch.Tensor], cu_seqlens: Any, spec: str, options: str) -> torch.Tensor:
    """Documents of one packed sequence, whose batch is 1."""
    name, number, batch, keys = _key_axes(spec, options)
    if number >= len(inputs) or inputs[number].dim() <= max(batch, keys):
        return torch.zeros(1, 0, dtype=torch.int32)  # the call's own message says what is missing
    shape = inputs[number].shape
    if shape[batch] != 1:
        raise ValueError(f"expected a batch of 1 of {name} with cu_seqlens, one sequence in which documents are "
                         f"packed, but got {shape[batch]}; give documents=, whose rows may differ")
    return _documents_of(cu_seqlens, shape[keys])


@torch.compiler.assume_constant_result
def _constants(spec: str, options: str) -> tuple[str, tuple[bool, ...], bool, int, bool, bool]:
    """Of a program, for the tracer: its identity, which inputs autocast casts, whether inputs may be missing, the number
    of outputs, whether the backward reads them, and whether there is a backward."""
    program = operators.program(spec, options)
    return (program.identity, tuple(_is_cast(x) for x in program.inputs), program.takes_optional, program.output_count,
            program.reads_outputs, program.is_differentiable)


def _is_autocast(device: str) -> bool:
    return device != "meta" and torch.is_autocast_enabled(device)


def _is_cast(info: operators.Tensor) -> bool:
    return info.kind != "parameter" and info.dtype != torch.int32 and not info.is_state


def _autocast(inputs: list[torch.Tensor], casts: Any, device: str) -> list[torch.Tensor]:
    """The kernel's dtype is autocast's, whatever the inputs came in; f64 stays, as in torch's own operators."""
    dtype = torch.get_autocast_dtype(device)
    return [x.to(dtype) if cast and x.is_floating_point() and x.dtype != torch.float64 and x.device.type == device
            else x for x, cast in zip(inputs, casts)] + inputs[len(casts):]


def _refuse_tangents(inputs: list[torch.Tensor]) -> None:
    for tensor in inputs:
        if forward_ad.unpack_dual(tensor).tangent is not None:
            raise RuntimeError(_TANGENT)


def _needs_gradient(inputs: list[torch.Tensor]) -> bool:
    if torch.is_grad_enabled():
        for tensor in inputs:
            if tensor.requires_grad:
                return True
    return False


def _traced(inputs: list[torch.Tensor], spec: str, options: str, offset: int | None) -> Any:
    """What torch.compile and torch.export see: no more than tensors and constants."""
    if torch._C._are_functorch_transforms_active():
        raise RuntimeError("taylor: unsupported transform of torch.func inside torch.compile; apply it outside: "
                           "torch.func.grad(f) without torch.compile")
    identity, casts, takes_optional, outputs, reads_outputs, is_differentiable = _constants(spec, options)
    device = inputs[0].device.type
    if _is_autocast(device):
        inputs = _autocast(inputs, casts, device)
    if takes_optional and len(inputs) < len(casts):
        raise RuntimeError(f"taylor: expected {len(casts)} inputs under torch.compile, states among them, but got "
                           f"{len(inputs)}; give zeros")
    if _needs_gradient(inputs):
        autograd.require_backward(is_differentiable)
        return autograd.Attention.apply(identity, options, offset, outputs, reads_outputs, *inputs)
    return operators.forward(inputs, identity, options, offset, False)


def _run(inputs: list[torch.Tensor], spec: str, options: str, offset: int | None) -> Any:
    program = operators.program(spec, options)
    if forward_ad._current_level >= 0:
        _refuse_tangents(inputs)
    if torch._C._is_any_autocast_enabled() and inputs:
        device = inputs[0].device.type
        if _is_autocast(device):
            inputs = _autocast(inputs, [_is_cast(x) for x in program.inputs], device)
    if program.takes_optional:
        inputs = program.complete(inputs)
    if torch._C._are_functorch_transforms_active():
        save = program.is_differentiable and torch.is_grad_enabled()
        return autograd.Transformed.apply(program.identity, options, offset, save, *inputs)[:program.output_count]
    if _needs_gradient(inputs):
        if not program.is_differentiable:
            autograd.require_backward(False)
        return autograd.apply(program.identity, options, offset, program.output_count, program.reads_outputs, *inputs)
    return operators.forward(inputs, program.identity, options, offset, False)


_PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))


def _run_on_shares(inputs: list[torch.Tensor], text: str, options: str, offset: int | None) -> Any:
    """Where some inputs are of other classes than torch's own: DTensors, each process its share of them."""
    if not any(hasattr(x, "device_mesh") for x in inputs):
        return _run(inputs, text, options, offset)
    from . import sharded
    return sharded.attention(lambda shares: _run(shares, text, options, offset), operators.program(text, options),
                             inputs)


def _refuse_keyword(name: str, value: Any, text: str, options: str) -> NoReturn:
    """An input or a parameter of the specification, or what nothing has."""
    names = [x.name for x in operators.program(text, options).inputs]
    if name in names:
        place = names.index(name)
        where = f"after {names[place - 1]}" if place else "first"
        raise TypeError(f"unsupported input {name!r} by name; give it {where}: "
                        f"its inputs are {', '.join(names)}")
    if re.search(rf"\bparameters\([^)]*\b{re.escape(name)}\s*[:=]", operators.program(text, options).text):
        raise TypeError(f"unsupported keyword argument {name!r}, a parameter of the specification; write "
                        f"parameters={{{name!r}: {value!r}}}")
    raise unknown_keyword(name, value, "ta.attention", [one for one in arguments_of(attention) if one not in "qkv"])


def _explained(error: RuntimeError, inputs: list[torch.Tensor], text: str, options: str) -> Exception:
    """An error of the operators, with a way out."""
    if isinstance(error, NotImplementedError):  # of torch, which has no such operator
        for info, tensor in zip(operators.program(text, options).inputs, inputs):
            dense(info.name, tensor)
    return operators.explained(error, text)


@overload
def attention(q: torch.Tensor, k: torch.Tensor | None = ..., v: torch.Tensor | None = ..., *more: torch.Tensor | None,
              spec: Specification, options: str = ..., parameters: Mapping[str, Any] | None = ..., mask: str = ...,
              offset: int | None = ..., documents: torch.Tensor | None = ..., cu_seqlens: torch.Tensor | None = ...,
              all_outputs: Literal[False] = ...) -> torch.Tensor: ...


@overload
def attention(q: torch.Tensor, k: torch.Tensor | None = ..., v: torch.Tensor | None = ..., *more: torch.Tensor | None,
              spec: Specification, options: str = ..., parameters: Mapping[str, Any] | None = ..., mask: str = ...,
              offset: int | None = ..., documents: torch.Tensor | None = ..., cu_seqlens: torch.Tensor | None = ...,
              all_outputs: Literal[True]) -> list[torch.Tensor]: ...


def attention(q: Any, k: Any = None, v: Any = None, *more: Any, spec: Specification, options: str = "",
              parameters: Mapping[str, Any] | None = None, mask: str = "", offset: int | None = None,
              documents: Any = None, cu_seqlens: Any = None, all_outputs: bool = False, **unknown: Any) -> Any:
    """Fused attention from a specification, differentiable, on tensors of the processor or of a GPU.

    q [B, H, T, d], k [B, G, U, d] and v [B, G, U, e] in any strides, f32, bf16, f16 or f64; the result is [B, H, T, e],
    laid out as q. Further inputs of a specification (gates, learned weights) follow v in its order; one of fewer inputs
    is given as many.

    `spec` is a `@ta.spec`, the path of a .mlir file, its text, or the name of one that ships ("softmax").
    `parameters` are the specification's, by name: {"order": 6}. `mask` is "causal", "bidirectional" or "" as written.
    `options` are taylorc's, as text: "--form=chunked"; parameters and mask join them. `offset` is the
    position of query 0 among the keys, U - T by default.

    `documents`, integers [B, U], is the number of each key's document in a packed sequence, never decreasing along U:
    each is attended to by itself. `cu_seqlens`, int32 or int64 [N + 1], says the same of one packed sequence (B = 1) of N
    documents by the places where they begin, from 0 to U, as FlashAttention's functions of that name take it.

    DTensors may be sharded over batch and heads; tokens and channels are whole on each process.

    A specification with several outputs gives its first; with `all_outputs=True` the result is a list of them all.
    """
    inputs = tensors([q, k, v, *more])
    if type(spec) is not str and not isinstance(spec, Spec) and torch.compiler.is_compiling():
        raise TypeError("taylor: unsupported path object under torch.compile; give str(path)")
    text = spec if type(spec) is str else text_of(spec)
    if options or parameters is not None or mask:
        options = all_options(options, parameters, mask)
    if unknown:
        _refuse_keyword(*next(iter(unknown.items())), text, options)
    if offset is not None and type(offset) is not int:
        offset = whole(offset, "offset")
    if cu_seqlens is not None:
        if documents is not None:
            raise TypeError("expected documents or cu_seqlens, but got both")
        documents = _packed(inputs, cu_seqlens, text, options)
    if documents is not None:
        inputs.append(document_numbers(documents))
        options += " --documents"
    if torch.compiler.is_compiling():
        if type(inputs[0]).__name__ == "DTensor":
            raise TypeError("taylor: unsupported DTensor under torch.compile; compile what works on local tensors")
        outputs = _traced(inputs, text, options, offset)
    else:
        try:
            outputs = (_run if _PLAIN.issuperset(map(type, inputs)) else _run_on_shares)(inputs, text, options, offset)
        except RuntimeError as error:
            raise _explained(error, inputs, text, options) from None
    return list(outputs) if all_outputs else outputs[0]
