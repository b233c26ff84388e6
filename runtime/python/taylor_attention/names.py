# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What transformers says of an `attn_implementation` that it does not know: with the names of `ta.hf.register`. Imports
transformers, whose own message lists its own names alone."""
from __future__ import annotations

import difflib
import functools
from typing import Any

from transformers import AttentionInterface, PreTrainedModel

from .saved import INSTEAD, PREFIX

REPLACED = PREFIX + "replaced-"  # what `ta.hf.replace` registers for itself


def _advice(name: str) -> str:
    short = name.removeprefix(PREFIX)
    ours = [one.removeprefix(PREFIX) for one in AttentionInterface().valid_keys()
            if one.startswith(PREFIX) and not one.startswith(REPLACED)]
    near = difflib.get_close_matches(short, ours, 1)
    listed = ", ".join(PREFIX + one for one in ours)
    found = f"expected a name that ta.hf.register has made ({listed})" if ours else "no name is registered in this process"
    meant = f"; did you mean '{PREFIX}{near[0]}'?" if near else ";"
    return f'{found}{meant} ta.hf.register("{short}", spec) makes "{PREFIX}{short}"'


def _with_ours(original: Any) -> Any:
    """PreTrainedModel.get_correct_attn_implementation, which from_pretrained and set_attn_implementation ask."""
    @functools.wraps(original)
    def checked(self: PreTrainedModel, requested_attention: Any = None, *more: Any, **named: Any) -> Any:
        try:
            return original(self, requested_attention, *more, **named)
        except ValueError as error:
            name = requested_attention
            if not isinstance(name, str) or INSTEAD in name or name in ("eager", *AttentionInterface().valid_keys()):
                raise
            if name.startswith(PREFIX):
                raise ValueError(f"unsupported attn_implementation '{name}': {_advice(name)}") from None
            raise ValueError(f"{error} Of taylor_attention: {_advice(name)}.") from None

    return checked


if hasattr(PreTrainedModel, "get_correct_attn_implementation"):
    PreTrainedModel.get_correct_attn_implementation = (  # type: ignore[method-assign]
        _with_ours(PreTrainedModel.get_correct_attn_implementation))
