# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `Spec.weights` runs: a specification that yields the sums over keys of another one, each by itself.

It holds the other's operations and results, and after them, of each sum over keys (`taylor.recurrences`,
`taylor.recurrence`),

    row      the sum's numerator, of the arrays that it has
    weights  the same of a query, a key and a value that the caller brings
    scores   the sum of scores times values of these three: scale <q, k>, with no other clause
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from .formula import Array
from .operations import numerator_type
from .text import Part, Statement, Text
from .trace import Trace

KINDS = ("row", "weights", "scores")
_HEAD, _OPERANDS = 0, (1, 3, 5)  # places in a sum's parts: which sums, then query, key and value


@dataclass(frozen=True)
class Probe:
    """The text, and the name of each sum: that of its first result. After `results` of the specification's own come
    the KINDS of each sum in turn."""

    text: Text
    names: tuple[str, ...]
    results: int


@dataclass(frozen=True)
class Probed:
    """Of one sum: its statements, which have one result each, and the arrays that they take from the caller."""

    of: Array
    statements: tuple[Statement, ...]
    brought: tuple[Array, ...]


def probed(trace: Trace) -> list[Probed]:
    return [_probe(one, trace) for one in trace.statements if one.name in ("recurrences", "recurrence")]


def _probe(sum: Statement, trace: Trace) -> Probed:
    old = [part for part in (sum.parts[place] for place in _OPERANDS) if isinstance(part, Array)]
    brought = tuple(Array(array.type, trace, sum.place) for array in old)
    row = [*sum.parts]
    row[_HEAD] = ""
    weights = [*row]
    for place, array in zip(_OPERANDS, brought):
        weights[place] = array
    scores: list[Part] = [*weights[:_OPERANDS[-1] + 1], " weight(s)", *_clauses(sum.parts)]
    others = sum.operands[len(old):]

    def statement(name: str, parts: list[Part], operands: Sequence[Array]) -> Statement:
        result = Array(numerator_type(operands), trace, sum.place)
        return Statement(name, sum.place, parts, list(operands), results=(result,))

    return Probed(sum.results[0], (statement(sum.name, row, sum.operands),
                                   statement(sum.name, weights, [*brought, *others]),
                                   statement("recurrences", scores, brought)), brought)


def _clauses(parts: Sequence[Part]) -> list[Part]:
    """Those that say the scale (`exponential` says one too) and the mask."""
    words = {part: place for place, part in enumerate(parts) if isinstance(part, str)}
    scale: list[Part] = [" scale(rsqrt(size(d)))"] if " exponential" in words else []
    if " scale(" in words:
        place = words[" scale("]
        scale = [*parts[place:place + 3]]
    return scale + [word for word in words if word in (" causal", " bidirectional")]
