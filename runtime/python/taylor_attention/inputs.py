# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of what a caller hands over as inputs. Imports torch, and loads no library of operators."""
from __future__ import annotations

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


def document_numbers(documents: Any) -> torch.Tensor:
    """Numbers of documents as int32."""
    if not isinstance(documents, torch.Tensor) or documents.dtype not in (torch.int32, torch.int64):
        kind = documents.dtype if isinstance(documents, torch.Tensor) else type(documents).__name__
        raise TypeError(f"expected a tensor of int32 or int64 for documents, but got {kind}")
    if documents.dtype == torch.int64 and documents.device.type == "cpu" and not torch.compiler.is_compiling():
        if documents.numel() and not -(2**31) <= documents.min() <= documents.max() < 2**31:
            raise ValueError("expected numbers of documents in the range of int32")
    return documents.to(torch.int32)
