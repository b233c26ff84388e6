# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""taylorc's options of a specification's parameters and mask, as text."""
from __future__ import annotations

from typing import Any, Mapping


def setting_of(parameters: Mapping[str, Any] | None) -> str:
    return " ".join(f"--set {name}={value}" for name, value in (parameters or {}).items())


def mask_of(mask: str) -> str:
    return f"--mask={mask}" if mask else ""


def options_of(parameters: Mapping[str, Any] | None, mask: str) -> str:
    return " ".join(x for x in (setting_of(parameters), mask_of(mask)) if x)
