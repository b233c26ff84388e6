# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`taylor.pairwise`: a function of all visible pairs, summed into rows, columns, diagonals or numbers.

All sums over keys become it. It is written by hand where a sum has two inner products, or goes into keys.
"""
from __future__ import annotations

from typing import overload

from .arguments import Axes
from .axes import ArrayType, parse_axes, parse_element
from .formula import Array, Formula, Operand, apply, formula, integer_text
from .keywords import checks_keywords
from .operations import Arrays, as_array, conditions_of, emit
from .text import PairBody, PairSum


def dot(row: Operand, column: Operand) -> Formula:
    """The inner product of a query array and a key array over their channel, in the formulas of `ta.pairwise` alone."""
    return apply("dot", as_array(row), as_array(column))


def running_maximum(x: Operand, floor: Operand | None = None) -> Formula:
    """The maximum of x over the visible keys of each row, at least `floor`. One at most; no gradient passes."""
    return apply("maximum", x) if floor is None else apply("maximum", x, floor)


@checks_keywords("ta.rows")
def rows(x: Operand, array: Operand | None = None, *, axes: Axes, dtype: str = "f64") -> PairSum:
    """y[t] = sum_u x, or with a key array y[t, c] = sum_u x array[u, c]."""
    return _sum("rows", x, array, axes, dtype)


@checks_keywords("ta.columns")
def columns(x: Operand, array: Operand | None = None, *, axes: Axes, dtype: str = "f64") -> PairSum:
    """y[u] = sum_t x, or with a query array y[u, c] = sum_t x array[t, c]."""
    return _sum("columns", x, array, axes, dtype)


@checks_keywords("ta.diagonals")
def diagonals(x: Operand, *, axes: Axes, dtype: str = "f64") -> PairSum:
    """y[lag] = sum of x over the pairs whose positions differ by lag."""
    return _sum("diagonals", x, None, axes, dtype)


@checks_keywords("ta.total")
def total(x: Operand, *, axes: Axes, dtype: str = "f64") -> PairSum:
    """The sum of x over all visible pairs."""
    return _sum("total", x, None, axes, dtype)


@checks_keywords("ta.maxima")
def maxima(maximum: Formula, *, axes: Axes, dtype: str = "f64") -> PairSum:
    """The running maximum itself."""
    return _sum("maximum", maximum, None, axes, dtype)


def _sum(kind: str, x: Operand, array: Operand | None, axes: Axes, dtype: str) -> PairSum:
    type = ArrayType(parse_axes(axes), parse_element(dtype))
    return PairSum(kind, formula(x), None if array is None else as_array(array), type)


@overload
def pairwise(one: PairSum, /, *, visible: Arrays = ..., chunk: int | None = ...) -> Array: ...


@overload
def pairwise(*sums: PairSum, visible: Arrays = ..., chunk: int | None = ...) -> tuple[Array, ...]: ...


@checks_keywords("ta.pairwise")
def pairwise(*sums: PairSum, visible: Arrays = (), chunk: int | None = None) -> Array | tuple[Array, ...]:
    """Sums over the visible pairs (t, u) of formulas.

    The formulas read `ta.dot`, arrays without channels, positions and parameters. Each sum names the axes that stay;
    every other of b, h, t and u is summed, and h into its group where g is named. All pairs are visible unless
    `visible` says otherwise: a causal sum has `visible=ta.u <= ta.t`. `chunk` leaves the pairs of one chunk of so many
    queries.

        w = ta.exp(ta.dot(q, k) * ta.rsqrt(ta.size("d")))
        n, z = ta.pairwise(ta.rows(w, v, axes="b h t e"), ta.rows(w, axes="b h t"), visible=ta.u <= ta.t)
    """
    for one in sums:
        if not isinstance(one, PairSum):
            raise TypeError("expected ta.rows(..), ta.columns(..), ta.diagonals(..), ta.total(..) or ta.maxima(..), "
                            f"but got {one!r}")
    words = "" if chunk is None else f" chunk({integer_text(chunk, 'chunk')})"
    body = PairBody(sums, conditions_of(visible), words)
    made = emit("pairwise", [body], body.arrays, [one.type for one in sums], arrow=True)
    return made[0] if len(sums) == 1 else made
