# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of what a caller hands over as inputs. Imports torch, and loads no library of operators."""
from __future__ import annotations

import operator
from typing import Any

import torch


def tensors(inputs: list[Any]) -> list[torch.Tensor]:
    """The inputs without those that are None at the end; others must be tensors."""
    while len(inputs) > 1 and inputs[-1] is None:
        inputs = inputs[:-1]
    for number, tensor in enumerate(inputs):
        if not isinstance(tensor, torch.Tensor):
            name = "qkv"[number] if number < 3 else f"input {number}"
            raise TypeError(f"expected a tensor for {name}, but got {type(tensor).__name__}")
    return inputs


def dense(name: str, tensor: torch.Tensor) -> None:
    """TypeError of a tensor whose numbers have no strides."""
    if tensor.layout is not torch.strided:
        raise TypeError(f"taylor: unsupported layout {tensor.layout} of '{name}'; write {name}.to_dense()")


def torch_dtype(dtype: object) -> None:
    """TypeError of what is no dtype of torch."""
    if not isinstance(dtype, torch.dtype):
        raise TypeError(f"expected a dtype of torch, such as torch.bfloat16, but got {dtype!r}")


def whole(value: Any, name: str) -> Any:
    """A whole number as Python's int, of numpy or torch too; a number that torch traces stays."""
    if isinstance(value, torch.SymInt):
        return value
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"expected a whole number for {name}, but got {value!r}") from None


def document_numbers(documents: Any) -> torch.Tensor:
    """Numbers of documents as int32."""
    if not isinstance(documents, torch.Tensor) or documents.dtype not in (torch.int32, torch.int64):
        kind = documents.dtype if isinstance(documents, torch.Tensor) else type(documents).__name__
        raise TypeError(f"expected a tensor of int32 or int64 for documents, but got {kind}")
    if documents.dtype == torch.int64 and documents.device.type == "cpu" and not torch.compiler.is_compiling():
        if documents.numel() and not -(2**31) <= documents.min() <= documents.max() < 2**31:
            raise ValueError("expected numbers of documents in the range of int32")
    return documents.to(torch.int32)
