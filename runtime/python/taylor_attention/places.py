# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Places in the user's Python: where a value was written, and where a function's arguments stand."""
from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from types import CodeType, FrameType, FunctionType
from typing import Any, Callable, NamedTuple

PACKAGE = __name__.rpartition(".")[0]


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int


def caller() -> FrameType:
    """The innermost frame that does not belong to this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__package__") == PACKAGE:
        frame = frame.f_back
    return frame


def place_of(frame: FrameType) -> Place:
    return Place(frame.f_code.co_filename, frame.f_lineno)


class Signature(NamedTuple):
    """Where a function's `def` stands, and each of its arguments."""

    definition: Place
    arguments: dict[str, Place]

    def of(self, name: str) -> Place:
        return self.arguments.get(name, self.definition)


def code_of(function: Callable[..., Any]) -> CodeType:
    if not isinstance(function, FunctionType):
        raise TypeError(f"expected a function under @ta.spec, but got {type(function).__name__}")
    return function.__code__


def signature_places(function: Callable[..., Any]) -> Signature:
    """Read from the source; without one (`exec`) all of it stands at the first line that the code knows."""
    code = code_of(function)
    first = code.co_firstlineno
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):
        return Signature(Place(code.co_filename, first), {})
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            # A decorated function's source begins at its first decorator.
            lines = {a.arg: Place(code.co_filename, first + a.lineno - 1)
                     for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
            return Signature(Place(code.co_filename, first + node.lineno - 1), lines)
    return Signature(Place(code.co_filename, first), {})
