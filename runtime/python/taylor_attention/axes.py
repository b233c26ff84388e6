# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Axes of arrays: their order, and which ones a result has.

This is the dialect's rule (dialect/Taylor/Axes.cpp) without its checks. What contradicts it gets some type here and a
message of the compiler later.
"""
from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Iterable, Sequence

ROLES = ("b", "h", "g", "t", "u", "lag", "d", "e", "f")
RUNTIME = ROLES[:6]  # their sizes are known when a kernel is called, and never written
ELEMENTS = ("f64", "f32", "bf16", "f16", "i32")


def quoted(text: str) -> str:
    """A string as MLIR reads it."""
    def escaped(letter: str) -> str:
        plain = letter.isascii() and letter.isprintable() and letter not in '"\\'
        return letter if plain else "".join(f"\\{byte:02X}" for byte in letter.encode())

    return f'"{"".join(map(escaped, text))}"'


def word(name: str) -> str:
    """A name, in quotes where it is more than letters and digits."""
    return name if re.fullmatch(r"[A-Za-z_][\w$.]*", name, re.ASCII) else quoted(name)


@dataclass(frozen=True)
class Axis:
    """A named axis. A free axis (no role's name) has its size; so may d, e and f."""

    name: str
    size: int | None = None

    def __str__(self) -> str:
        name = word(self.name)
        return name if self.size is None else f"{name} = {self.size}"


@dataclass(frozen=True)
class ArrayType:
    """The type of an array: axes in order, and the type of an element."""

    axes: tuple[Axis, ...]
    element: str = "f64"

    def __str__(self) -> str:
        element = "" if self.element == "f64" else f", {self.element}"
        return f"!taylor.array<[{', '.join(map(str, self.axes))}]{element}>"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    @property
    def alias(self) -> str:
        """A short name, such as `bhtd` or `bt_i32`; types of different sizes may share it."""
        letters = re.sub(r"\W", "", "".join(self.names), flags=re.ASCII) or "scalar"
        letters = letters if letters[0].isalpha() else f"_{letters}"
        return letters if self.element == "f64" else f"{letters}_{self.element}"

    def without(self, names: Iterable[str]) -> ArrayType:
        gone = set(names)
        return replace(self, axes=tuple(axis for axis in self.axes if axis.name not in gone))

    def renamed(self, old: str, new: str) -> ArrayType:
        axes = tuple(replace(axis, name=new) if axis.name == old else axis for axis in self.axes)
        return replace(self, axes=axes)

    def computed(self) -> ArrayType:
        """The type in which it is computed with: 16 bits are f32."""
        return replace(self, element="f32" if self.element in ("f32", "bf16", "f16") else self.element)

    @property
    def channel(self) -> str | None:
        """The one axis that is d, e or free; None where there are none or more."""
        channels = [name for name in self.names if name not in RUNTIME and name != "f"]
        return channels[0] if len(channels) == 1 else None


def parse_axes(axes: str | Iterable[str]) -> tuple[Axis, ...]:
    """`"b h t d"`, `"h d j=4"`, or the same as a sequence, in which a name may have spaces."""
    if isinstance(axes, str):
        words: Sequence[str] = re.sub(r"\s*=\s*", "=", axes.replace(",", " ")).split()
    else:
        try:
            words = list(axes)
        except TypeError:
            words = [axes]  # type: ignore[list-item]
        for word in words:
            if not isinstance(word, str):
                raise TypeError(f'expected the names of axes, such as "b h t d", but got {axes!r}')
    result = []
    for word in words:
        name, equals, size = (part.strip() for part in word.partition("="))
        if not name or (equals and not re.fullmatch(r"-?\d+", size)):
            raise ValueError(f'expected axes such as "b h t d" or "h d j=4", but got {word!r}')
        result.append(Axis(name, int(size) if equals else None))
    return tuple(result)


def parse_element(dtype: str) -> str:
    if dtype not in ELEMENTS:
        raise ValueError(f"expected dtype {', '.join(ELEMENTS[:-1])} or {ELEMENTS[-1]}, but got {dtype!r}")
    return dtype


def union(types: Iterable[ArrayType], extra: Iterable[str] = (), element: str = "f64") -> ArrayType:
    """The axes of all, by name: roles in their order, then free axes in order of appearance.

    Where g meets h, a group's number is read at its heads, and h stays.
    """
    sizes: dict[str, int | None] = {}
    for array in types:
        for axis in array.axes:
            if sizes.get(axis.name) is None:
                sizes[axis.name] = axis.size
    for name in extra:
        sizes.setdefault(name, None)
    if "h" in sizes:
        sizes.pop("g", None)
    names = [role for role in ROLES if role in sizes] + [name for name in sizes if name not in ROLES]
    return ArrayType(tuple(Axis(name, sizes[name]) for name in names), element)


def real_element(types: Iterable[ArrayType], otherwise: Iterable[ArrayType] = ()) -> str:
    """The type that real numbers of these arrays are computed in: f64, or f32 where all reals are narrower."""
    elements = [array.element for array in types if array.element != "i32"]
    elements = elements or [array.element for array in otherwise if array.element != "i32"]
    return "f32" if elements and "f64" not in elements else "f64"
