# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A `Spec` of a text of the dialect that the compiler has taken, such as a cell of a notebook.

It reads as much as `explain`, `weights` and `plot` need: arguments, parameters, results, and sums over keys. All else of
the text is carried as it stands. Imports no torch.
"""
from __future__ import annotations

import re
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Iterator

from .axes import ArrayType, parse_axes, word
from .operations import numerator_type
from .spec import Argument, Spec
from .sums import Probe
from .text import Text, fresh

_COMMENT = re.compile(r"//[^\n]*")
_TYPE = r"![\w$.]+(?:<[^>]*>)?"
_ALIAS = re.compile(rf"^[ \t]*(![\w$.]+)\s*=\s*({_TYPE})", re.M)
_VALUE = r"%[\w$.#-]+"
_SUM = re.compile(rf"(?P<results>%[\w$.:, %-]+?)\s*=\s*taylor\.(?P<name>recurrences?)\s+(?:\[[^\]]*\]\s*)?"
                  rf"(?P<operands>{_VALUE}\s*,\s*{_VALUE}\s*,\s*{_VALUE})(?P<clauses>.*?)\s*:\s*"
                  rf"(?P<types>{_TYPE}(?:\s*,\s*{_TYPE})*)", re.S)
_PARAMETER = re.compile(r"([A-Za-z_]\w*)\s*(:\s*index)?\s*=\s*([^\s,)]+)")
_OPENING, _CLOSING = "([{<", ")]}>"


class Written(Spec, str):
    """A specification whose text somebody wrote: a Spec, and the text itself."""

    def __new__(cls, text: str, name: str) -> Written:
        return str.__new__(cls, text)

    def __init__(self, text: str, name: str) -> None:
        self.name, self.mlir, self._source = name, text, Text(text, {})
        parts = _Parts.of(text, name)
        self.arguments = tuple(parts.arguments()) if parts else ()
        self.parameters = parts.parameters() if parts else {}
        self.results = tuple(parts.results()) if parts else ()
        self._probe = parts.probe(name) if parts else None

    def __reduce__(self) -> Any:
        return type(self), (self.mlir, self.name)


@dataclass
class _Parts:
    """A text of one specification without its comments, in pieces."""

    above: str  # aliases of types
    signature: str  # within its parentheses
    between: str  # up to the body
    body: str  # within its braces, up to the yield
    values: str  # that are yielded
    types: str  # theirs

    @classmethod
    def of(cls, text: str, name: str) -> _Parts | None:
        """None where the specification stands in MLIR's generic form."""
        text = _COMMENT.sub("", text)
        head = re.search(rf"\btaylor\.spec\s+@(?:{re.escape(word(name))}|{re.escape(name)})\s*(?=\()", text)
        if head is None:
            return None
        end = _closed(text, head.end())
        opening = text.index("{", end)
        inside = text[opening + 1:_closed(text, opening) - 1]
        body, _, yielded = inside.rpartition("taylor.yield")
        values, _, types = yielded.partition(":")
        above = "".join(f"{alias} = {type}\n" for alias, type in _ALIAS.findall(text))
        return cls(above, text[head.end() + 1:end - 1], text[end:opening], body, values.strip(), types.strip())

    def arguments(self) -> Iterator[Argument]:
        for one in _split(self.signature):
            name, _, rest = one.partition(":")
            type, _, source = rest.partition(" from ")
            yield Argument(name.strip().removeprefix("%"), self._type(type), source.strip() or "projection")

    def parameters(self) -> dict[str, int | float]:
        return {name: int(value) if index else float(value) for name, index, value in _PARAMETER.findall(self.between)}

    def results(self) -> Iterator[str]:
        for one in _split(self.values):
            label, _, value = one.rpartition("%")
            yield label.strip().strip('"') or value

    def _type(self, text: str) -> ArrayType:
        full = dict(_ALIAS.findall(self.above)).get(text.strip(), text.strip())
        axes, _, element = full.removeprefix("!taylor.array<[").removesuffix(">").partition("]")
        return ArrayType(parse_axes([one.replace('"', "") for one in axes.split(",") if one.strip()]), element.strip(", ") or "f64")

    def probe(self, name: str) -> Probe | None:
        """What `sums.probed` writes for a traced specification; None where a sum stands in another spelling."""
        sums = list(_SUM.finditer(self.body))
        if len(sums) != len(re.findall(r"\btaylor\.recurrences?\b", self.body)):
            return None
        taken = set(re.findall(r"%([\w$.-]+)", self.signature + self.body))

        def new() -> str:
            taken.add(made := fresh(None, taken))
            return f"%{made}"

        signature, statements, values, types, names = [self.signature], "", [self.values], [self.types], []
        for one in sums:
            given = [x.strip() for x in _split(one["types"])][:3]
            brought = [new() for _ in given]
            signature += [f"{value}: {type}" for value, type in zip(brought, given)]
            own, others = one["operands"], ", ".join(brought)
            result = str(numerator_type([SimpleNamespace(type=self._type(type)) for type in given]))  # type: ignore[misc]
            for line in (f"taylor.{one['name']} {own}{one['clauses']} : {one['types']}",
                         f"taylor.{one['name']} {others}{one['clauses']} : {one['types']}",
                         f"taylor.recurrences {others} weight(s){_of_scores(one['clauses'])} : {', '.join(given)}"):
                values.append(new())
                types.append(result)
                statements += f"  {values[-1]} = {line}\n"
            names.append(re.split(r"[:,]", one["results"])[0].strip().removeprefix("%"))
        text = (f"{self.above}\ntaylor.spec @{word(f'sums of {name}')}({', '.join(signature)}){self.between}{{"
                f"{self.body}\n{statements}  taylor.yield {', '.join(values)} : {', '.join(types)}\n}}\n")
        return Probe(Text(text, {}), tuple(names), len(_split(self.values)))


def _closed(text: str, start: int) -> int:
    """The place after the bracket that closes the one at `start`; of its own kind."""
    kind = text[start] + _CLOSING[_OPENING.index(text[start])]
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == kind[0]) - (text[place] == kind[1])
        if depth == 0:
            return place + 1
    return len(text)


def _split(text: str) -> list[str]:
    """What stands between commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]


def _of_scores(clauses: str) -> str:
    """Those that say the scale (`exponential` says one too) and the mask."""
    kept, place = "", 0
    while found := re.compile(r"\s*([A-Za-z_]\w*)\s*").match(clauses, place):
        place = found.end()
        end = _closed(clauses, place) if clauses[place:place + 1] == "(" else place
        if found[1] == "exponential":
            kept += " scale(rsqrt(size(d)))"
        elif found[1] in ("scale", "causal", "bidirectional"):
            kept += f" {found[1]}{clauses[place:end]}"
        place = end
    return kept
