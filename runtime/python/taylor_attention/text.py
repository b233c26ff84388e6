# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of formulas and operations, piece by piece, each piece with the line of Python that it comes from."""
from __future__ import annotations

import bisect
import re
import weakref
from dataclasses import dataclass, field
from typing import Iterable, Sequence, Union

from .axes import ROLES, ArrayType
from .formula import PRECEDENCE, PRIMARY, Array, Formula, Leaf, postorder
from .places import Place
from .trace import Trace

WIDTH = 110  # longer lines are broken before the types

# A name in a piece stands for itself; of an array and of a part of a formula it is found at the end.
Atom = Union[str, Array, Formula]
Pieces = list[tuple[Atom, Union[Place, None]]]

# Of a text's lines, counted from 1: where in Python its characters come from, by column from 1 on, ascending.
Places = dict[int, list[tuple[int, Place]]]

# Spaces that become the end of a line where an operation is long.
BREAK = " \n"
NEXT = ",\n"


class Body:
    """Formulas of one operation, laid out: parts that occur more than once are written once, under a name."""

    def __init__(self, roots: Sequence[Formula], named: Sequence[str] = (), share: bool = True) -> None:
        nodes = list(postorder(roots))
        uses: dict[int, int] = {}
        for node in [*roots, *(operand for one in nodes for operand in one.operands)]:
            uses[id(node)] = uses.get(id(node), 0) + 1
        self.bindings: list[tuple[Formula, Pieces]] = []
        self.indices = dict.fromkeys(node.axis for node in nodes if isinstance(node, Leaf) and node.axis)
        laid: dict[int, tuple[Pieces, int]] = {}
        for node in nodes:
            pieces, precedence = _lay(node, laid)
            is_word = isinstance(node, (Leaf, Array))
            if node.operator in named or (share and uses[id(node)] > 1 and not is_word):
                self.bindings.append((node, pieces))
                pieces, precedence = [(node, node.place)], PRIMARY
            laid[id(node)] = pieces, precedence
        self.roots: list[Pieces] = [laid[id(root)][0] for root in roots]
        written = [*(pieces for _, pieces in self.bindings), *self.roots]
        self.arrays = distinct(atom for pieces in written for atom, _ in pieces if isinstance(atom, Array))

    def pieces(self) -> Pieces:
        """Formulas with commas, or `{ name = formula, .. formula }`."""
        if self.bindings:
            return [("{ ", None), *self.binding_pieces(), (NEXT, None), *self.roots[-1], (" }", None)]
        result: Pieces = []
        for root in self.roots:
            result += [*([(", ", None)] if result else []), *root]
        return result

    def binding_pieces(self) -> Pieces:
        result: Pieces = []
        for node, pieces in self.bindings:
            result += [(NEXT, None)] if result else []
            result += [(node, node.place), (" = ", None), *pieces]
        return result


class PairBody(Body):
    """What stands between the name of `taylor.pairwise` and its types: a block, conditions, and sums of its names."""

    def __init__(self, sums: Sequence[PairSum], conditions: Sequence[Formula], chunk: str) -> None:
        super().__init__([one.formula for one in sums], named=("dot", "maximum"))
        self._sums, self._chunk = sums, chunk
        self._conditions = Body(conditions, share=False)
        self.arrays = distinct(atom for atom, _ in self.pieces() if isinstance(atom, Array))

    def pieces(self) -> Pieces:
        result: Pieces = [("{ ", None), *self.binding_pieces(), (" }", None)] if self.bindings else [("{}", None)]
        if self._conditions.roots:
            result += [(BREAK, None), ("visible(", None), *self._conditions.pieces(), (")", None)]
        result += [(self._chunk, None), (BREAK, None), ("-> ", None)]
        for number, (one, root) in enumerate(zip(self._sums, self.roots)):
            result.append((f"{', ' if number else ''}{one.kind}", None))
            if one.kind != "maximum":
                array: Pieces = [(", ", None), (one.array, None)] if one.array is not None else []
                result += [("(", None), *root, *array, (")", None)]
        return result


@dataclass(frozen=True)
class PairSum:
    """One output of `ta.pairwise`."""

    kind: str
    formula: Formula
    array: Array | None
    type: ArrayType


def _lay(node: Formula, laid: dict[int, tuple[Pieces, int]]) -> tuple[Pieces, int]:
    """The pieces of a node whose operands are laid out, and how tightly its outermost operator binds."""
    if isinstance(node, Leaf):
        return [(node.text, None)], PRIMARY
    if isinstance(node, Array):
        return [(node, None)], PRIMARY
    own = PRECEDENCE.get(node.operator, PRIMARY)

    def operand(number: int, least: int) -> Pieces:
        pieces, precedence = laid[id(node.operands[number])]
        if len(pieces) == 1:  # a word has the place of the operator that reads it
            pieces = [(pieces[0][0], pieces[0][1] or node.place)]
        return pieces if precedence >= least else [("(", node.place), *pieces, (")", node.place)]

    if own == PRIMARY:
        pieces: Pieces = [(f"{node.operator}(", node.place)]
        for number in range(len(node.operands)):
            pieces += [(", ", node.place)] if number else []
            pieces += operand(number, 0)
        return [*pieces, (")", node.place)], own
    if node.operator == "negate":
        return [("-", node.place), *operand(0, own + 1)], own
    # Equal operators associate to the left; comparisons do not associate.
    left = operand(0, own + (own == 0))
    return [*left, (f" {node.operator} ", node.place), *operand(1, own + 1)], own


def distinct(arrays: Iterable[Array]) -> list[Array]:
    return list({id(array): array for array in arrays}.values())


@dataclass(frozen=True)
class Typed:
    """An operand whose type stands with it: `%D : type`."""

    array: Array


@dataclass(frozen=True)
class Region:
    """The text of an MLIR region, for what no formula says; made by `ta.region`."""

    text: str
    arrays: tuple[Array, ...]
    indices: tuple[str, ...] = ()

    @property
    def names(self) -> set[str]:
        """Of its values, which a specification's may not have."""
        return set(re.findall(r"%([\w$.-]+)", self.text))

    def pieces(self) -> Pieces:
        operands: Pieces = []
        for array in self.arrays:
            operands += [(", " if operands else "region(", None), (array, None)]
        return [*(operands or [("region(", None)]), (f") {{ {self.text} }}", None)]


Part = Union[str, Array, Body, Region, Typed]


@dataclass
class Statement:
    """One operation: what stands between its name and its types, and what has types in which order."""

    name: str
    place: Place
    parts: list[Part]
    operands: list[Array]
    types: tuple[ArrayType, ...] = ()  # after an arrow
    results: tuple[Array, ...] = ()


@dataclass
class Names:
    """Names of values, given once: a variable's, else x0, x1, .."""

    trace: Trace
    taken: set[str] = field(default_factory=set)
    of: dict[int, str] = field(default_factory=dict)

    def give(self, value: Formula, wanted: str | None) -> None:
        if id(value) not in self.of:
            name = fresh(wanted, self.taken)
            self.taken.add(name)
            self.of[id(value)] = name


def fresh(wanted: str | None, taken: set[str]) -> str:
    """A name that is free: the one wanted, with a number after it where it is taken."""
    prefix, number = (f"{wanted}_", 1) if wanted else ("x", 0)
    if wanted and wanted not in taken:
        return wanted
    while f"{prefix}{number}" in taken:
        number += 1
    return f"{prefix}{number}"


@dataclass(frozen=True)
class Text:
    """A specification's text, and where its lines come from."""

    mlir: str
    places: Places

    def place(self, line: int, column: int = 1) -> Place | None:
        spans = self.places.get(line)
        if not spans:
            return None
        return spans[max(bisect.bisect_right([start for start, _ in spans], column) - 1, 0)][1]


_written: weakref.WeakValueDictionary[str, Text] = weakref.WeakValueDictionary()


def know(text: Text, new: bool = True) -> Text:
    """Remembers a text, so that messages about it stand at its lines. Returns the one that is known of these words,
    which copies share; a new one takes its place."""
    if new:
        _written[text.mlir] = text
    return _written.setdefault(text.mlir, text)


def written(mlir: str) -> Text | None:
    """What is known of a text: None of one that `@ta.spec` did not write, or whose specifications are gone."""
    return _written.get(mlir)


class Writer:
    """The text of a specification, and where each of its characters comes from."""

    def __init__(self, names: Names, reserved: Iterable[str]) -> None:
        self.names = names
        self.reserved = {*ROLES, *reserved}  # what a part of a formula is not called, nor any word of the formula
        self.lines: list[str] = [""]
        self.places: Places = {}
        self.aliases: dict[str, str] = {}  # alias: type
        self.alias_places: list[Place | None] = []  # where an array of the type was made

    def write(self, text: str, place: Place | None = None) -> None:
        for number, line in enumerate(text.split("\n")):
            if number:
                self.lines.append("")
            if place and line:
                self.places.setdefault(len(self.lines), []).append((len(self.lines[-1]) + 1, place))
            self.lines[-1] += line

    def type(self, type: ArrayType, place: Place | None) -> str:
        """`!bhtd`, defined above; a second type of that name gets a number."""
        text, alias, number = str(type), f"!{type.alias}", 0
        while self.aliases.get(alias, text) != text:
            number += 1
            alias = f"!{type.alias}_{number}"
        if alias not in self.aliases:
            self.aliases[alias] = text
            self.alias_places.append(place)
        return alias

    def statement(self, statement: Statement) -> None:
        results = ", ".join(f"%{self.names.of[id(result)]}" for result in statement.results)
        self.write(f"  {results} = taylor.{statement.name} " if results else f"  taylor.{statement.name} ",
                   statement.place)
        for part in statement.parts:
            self._part(part, statement.place)
        types = ", ".join(self.type(array.type, array.place) for array in statement.operands)
        types = f" : {types}" if types else " :" if statement.name == "pairwise" else ""
        if statement.types:
            types += f" -> {', '.join(self.type(type, statement.place) for type in statement.types)}"
        if types and len(self.lines[-1]) + len(types) > WIDTH:
            types = f"\n      {types}"
        self.write(f"{types}\n", statement.place)

    def _part(self, part: Part, place: Place) -> None:
        if isinstance(part, str):
            self.write(part, place)
        elif isinstance(part, Array):
            self.write(f"%{self.names.of[id(part)]}", place)
        elif isinstance(part, Typed):
            self.write(f"%{self.names.of[id(part.array)]} : {self.type(part.array.type, part.array.place)}", place)
        else:
            self.pieces(part.pieces(), part.bindings if isinstance(part, Body) else [], place)

    def pieces(self, pieces: Pieces, bindings: Sequence[tuple[Formula, Pieces]], place: Place) -> None:
        words = {word for atom, _ in pieces if isinstance(atom, str) for word in re.findall(r"[A-Za-z_]\w*", atom)}
        hidden = self.reserved | words
        taken = set(hidden)
        local: dict[int, str] = {}
        for node, _ in bindings:
            wanted = self.names.trace.variable(node)
            local[id(node)] = fresh(wanted if wanted not in hidden else None, taken)
            taken.add(local[id(node)])
        texts = [atom if isinstance(atom, str) else local.get(id(atom)) or f"%{self.names.of[id(atom)]}"
                 for atom, _ in pieces]
        column = len(self.lines[-1])
        is_long = column + sum(map(len, texts)) > WIDTH
        for text, (_, own) in zip(texts, pieces):
            if text == NEXT:
                text = f",\n{' ' * (column + 2)}" if is_long else ", "
            elif text == BREAK:
                text = f"\n{' ' * column}" if is_long else " "
            self.write(text, own or place)
