# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""taylorc's options of a specification's parameters and mask, as text."""
from __future__ import annotations

from typing import Any, Mapping


def setting_of(parameters: Mapping[str, Any] | None) -> str:
    if parameters is not None and not isinstance(parameters, Mapping):
        raise TypeError(f'expected a dict for parameters, such as {{"window": 64}}, but got {parameters!r}')
    return " ".join(f"--set {name}={value}" for name, value in (parameters or {}).items())


def mask_of(mask: str) -> str:
    if mask not in ("", "causal", "bidirectional"):
        raise ValueError(f'expected mask "causal" or "bidirectional", but got {mask!r}')
    return f"--mask={mask}" if mask else ""


def options_of(parameters: Mapping[str, Any] | None, mask: str) -> str:
    return " ".join(x for x in (setting_of(parameters), mask_of(mask)) if x)


def check_options(options: object) -> str:
    """Options as they are, if they are text."""
    if isinstance(options, str):
        return options
    if isinstance(options, Mapping):
        raise TypeError(f"expected taylorc's options as text, such as \"{setting_of(options)}\", but got {options!r}; "
                        f"parameters={dict(options)!r} says the same")
    raise TypeError(f"expected taylorc's options as text, such as \"--set window=5\", but got {options!r}")


def all_options(options: object, parameters: Mapping[str, Any] | None, mask: str) -> str:
    """Options as text, with those of parameters and mask after them."""
    text, more = check_options(options), options_of(parameters, mask)
    return f"{text} {more}" if text and more else text or more
