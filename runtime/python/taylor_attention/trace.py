# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a traced function has done so far: its operations, and the names that its variables give to values."""
from __future__ import annotations

import contextvars
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from .places import Place, place_of

if TYPE_CHECKING:
    from .formula import Array, Formula
    from .text import Statement

MOST = 16  # values of a tuple or list that get names

_current: contextvars.ContextVar[Trace | None] = contextvars.ContextVar("taylor_attention.trace", default=None)


class Trace:
    """One run of a function under `@ta.spec`; used as a context, in which it is the current one."""

    def __init__(self, name: str, code: CodeType) -> None:
        self.name = name
        self.statements: list[Statement] = []
        self.arrays: dict[int, tuple[Formula, Array]] = {}  # of formulas that became one, so that each does once
        self.returned: Place | None = None  # the line that the function returned from
        self._code = code
        self._frames: dict[int, FrameType] = {}
        self._own: dict[int, str] = {}  # names of the function's own variables
        self._other: dict[int, str] = {}  # names in functions that it calls
        self._kept: list[Any] = []  # what has a name stays alive, so that no other value gets its id

    def __enter__(self) -> Trace:
        self._token = _current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)
        # The variables of a frame that is held are readable after it has returned.
        for frame in self._frames.values():
            self._read(frame)
            if frame.f_code is self._code:
                self.returned = place_of(frame)
        self._frames.clear()

    def note(self, frame: FrameType) -> None:
        """Remembers the names that a user's frame gives to values now; what it returns with is read at the end."""
        if frame.f_locals is not frame.f_globals:  # a module's variables may be many, and are none of the function's
            self._frames[id(frame)] = frame
            self._read(frame)

    def _read(self, frame: FrameType) -> None:
        from .formula import Formula

        names = self._own if frame.f_code is self._code else self._other
        for name, value in list(frame.f_locals.items()):
            several = isinstance(value, (tuple, list)) and len(value) <= MOST
            for number, one in enumerate(value if several else (value,)):
                if isinstance(one, Formula) and id(one) not in names:
                    names[id(one)] = f"{name}_{number}" if several else name
                    self._kept.append(one)

    def variable(self, value: Formula) -> str | None:
        """The name of the variable that first held a value, if it is one that the dialect can write."""
        name = self._own.get(id(value)) or self._other.get(id(value))
        return name if name and name.isascii() and name.isidentifier() else None


def current() -> Trace | None:
    return _current.get()


def require_trace(what: str) -> Trace:
    trace = _current.get()
    if trace is None:
        raise RuntimeError(f"expected ta.{what}(..) in a function under @ta.spec, but no function is traced; "
                           "formulas without arrays may be written anywhere, operations may not")
    return trace
