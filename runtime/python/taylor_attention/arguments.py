# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of a specification, as defaults of a Python function's arguments: axes, and where a model gets them."""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterable, Literal, Union

from .axes import ArrayType, parse_axes, parse_element
from .formula import number_text
from .keywords import checks_keywords

Axes = Union[str, Iterable[str]]

# Those of an argument without a default, by the letter of its name: q, q1, q2, ..
DEFAULTS = {"q": "b h t d", "k": "b g u d", "v": "b g u e"}


@dataclass(frozen=True)
class Source:
    """An argument: its type, and where a model gets it."""

    type: ArrayType
    text: str


@dataclass(frozen=True)
class Initial:
    """The distribution that a learned parameter starts from."""

    text: str


@checks_keywords("ta.uniform")
def uniform(low: float, high: float) -> Initial:
    """Between two numbers."""
    return Initial(f"uniform({number_text(low)}, {number_text(high)})")


@checks_keywords("ta.normal")
def normal(mean: float, deviation: float) -> Initial:
    """The normal distribution, by its mean and standard deviation."""
    return Initial(f"normal({number_text(mean)}, {number_text(deviation)})")


@checks_keywords("ta.projection")
def projection(axes: Axes, *, bias: bool = False, dtype: str = "f64") -> Source:
    """A projection of the hidden state: one feature per index of the axes other than b, t and u.

    `axes` has a token axis: "b h t" is one number per token and head. A model calls the module NAME_proj.
    """
    return Source(_type(axes, dtype), f"projection{'(bias)' if bias else ''}")


@checks_keywords("ta.parameter")
def parameter(axes: Axes, init: Union[Initial, float, Literal["zeros", "ones"]], *, dtype: str = "f64") -> Source:
    """A learned array without batch and tokens: "h" is one number per head, "h r=64" a table.

    `init`: "zeros", "ones", a number, `ta.uniform(low, high)` or `ta.normal(mean, deviation)`.
    """
    if isinstance(init, Initial):
        text = init.text
    elif isinstance(init, str):
        text = init
    else:
        text = f"constant({number_text(init, 'zeros, ones, a number, ta.uniform(..) or ta.normal(..) as init')})"
    return Source(_type(axes, dtype), f"parameter({text})")


@checks_keywords("ta.input")
def input(axes: Axes, *, dtype: str = "f64") -> Source:
    """What the caller brings, such as numbers of documents: `ta.input("b t", dtype="i32")`."""
    return Source(_type(axes, dtype), "input")


def _type(axes: Axes, dtype: str) -> ArrayType:
    return ArrayType(parse_axes(axes), parse_element(dtype))


def default_source(name: str) -> Source | None:
    """Of an argument that is named q, k or v, perhaps with a number."""
    letter = re.fullmatch(r"([qkv])\d*", name)
    return Source(_type(DEFAULTS[letter[1]], "f64"), "") if letter else None
