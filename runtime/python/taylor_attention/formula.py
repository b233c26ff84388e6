# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Formulas: scalar work over arrays, indices, sizes and parameters, written with the operators of Python.

A formula computes nothing and is no operation yet. It becomes part of one that takes a formula (`ta.map`, `ta.reduce`,
`ta.scan`, a clause of `ta.recurrences`), or a `taylor.map` of its own where an operation takes an array.
"""
from __future__ import annotations

import math
import numbers
import operator as operators
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NoReturn, TypeGuard, Union

from . import refusals
from .axes import ROLES, ArrayType, Axis
from .places import Place, caller, place_of
from .trace import current

if TYPE_CHECKING:
    from .trace import Trace

# How tightly an operator binds; what is not here is a call.
PRECEDENCE = {"<": 0, "<=": 0, "==": 0, "+": 1, "-": 1, "*": 2, "/": 2, "negate": 3}
PRIMARY = 4

# Python's operators, under the names that numpy has for them.
_UFUNCS = {"add": operators.add, "subtract": operators.sub, "multiply": operators.mul, "divide": operators.truediv,
           "power": operators.pow, "less": operators.lt, "less_equal": operators.le, "greater": operators.gt,
           "greater_equal": operators.ge, "equal": operators.eq, "not_equal": operators.ne}


class Formula:
    """A number, or a condition, for each index of its axes."""

    __slots__ = ("operator", "operands", "place", "__weakref__")

    def __init__(self, operator: str, operands: tuple[Formula, ...] = (), place: Place | None = None) -> None:
        self.operator = operator
        self.operands = operands
        self.place = place

    def __repr__(self) -> str:
        return f"<formula {self.operator} of {len(self.operands)}>"

    def __add__(self, other: Operand) -> Formula:
        return apply("+", self, other)

    def __radd__(self, other: Operand) -> Formula:
        return apply("+", other, self)

    def __sub__(self, other: Operand) -> Formula:
        return apply("-", self, other)

    def __rsub__(self, other: Operand) -> Formula:
        return apply("-", other, self)

    def __mul__(self, other: Operand) -> Formula:
        return apply("*", self, other)

    def __rmul__(self, other: Operand) -> Formula:
        return apply("*", other, self)

    def __truediv__(self, other: Operand) -> Formula:
        return apply("/", self, other)

    def __rtruediv__(self, other: Operand) -> Formula:
        return apply("/", other, self)

    def __pow__(self, other: Operand) -> Formula:
        return apply("pow", self, other)

    def __rpow__(self, other: Operand) -> Formula:
        return apply("pow", other, self)

    def __neg__(self) -> Formula:
        return apply("negate", self)

    def __pos__(self) -> Formula:
        return self

    def __abs__(self) -> Formula:
        return apply("abs", self)

    def __lt__(self, other: Operand) -> Formula:
        return apply("<", self, other)

    def __le__(self, other: Operand) -> Formula:
        return apply("<=", self, other)

    def __gt__(self, other: Operand) -> Formula:
        return apply("<", other, self)

    def __ge__(self, other: Operand) -> Formula:
        return apply("<=", other, self)

    def __eq__(self, other: Operand) -> Formula:  # type: ignore[override]
        return apply("==", self, other)

    def __ne__(self, other: Operand) -> Formula:  # type: ignore[override]
        return apply("not", apply("==", self, other))

    def __and__(self, other: Formula) -> Formula:
        return apply("and", self, other)

    def __rand__(self, other: Formula) -> Formula:
        return apply("and", other, self)

    def __or__(self, other: Formula) -> Formula:
        return apply("or", self, other)

    def __ror__(self, other: Formula) -> Formula:
        return apply("or", other, self)

    def __invert__(self) -> Formula:
        return apply("not", self)

    __hash__ = object.__hash__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **arguments: Any) -> Formula:
        """Operators of numpy's scalars are those of this class; other functions of numpy are refused."""
        if method == "__call__" and ufunc.__name__ in _UFUNCS:
            scalars = (x.item() if not isinstance(x, Formula) and getattr(x, "shape", None) == () else x
                       for x in inputs)
            result: Formula = _UFUNCS[ufunc.__name__](*map(formula, scalars))
            return result
        name = ufunc.__name__ if method == "__call__" else {"add": "sum", "maximum": "max", "minimum": "min"}.get(
            ufunc.__name__, f"{ufunc.__name__}.{method}")
        raise TypeError(refusals.of_function("np", name))

    def __array_function__(self, function: Any, types: object, arguments: object, keywords: object) -> NoReturn:
        raise TypeError(refusals.of_function("np", function.__name__))

    @classmethod
    def __torch_function__(cls, function: Any, types: object, arguments: tuple[object, ...] = (),
                           keywords: object = None) -> NoReturn:
        name, module = function.__name__, getattr(function, "__module__", None) or "torch"
        for one in arguments:
            if not isinstance(one, Formula) and type(one).__module__.startswith("torch"):
                formula(one)  # says that it is none
        module = "F" if module in ("torch.nn.functional", "torch._C._nn") else "torch"
        raise TypeError(refusals.of_function(module, name))

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):  # Python's protocols ask for those
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise AttributeError(refusals.of_method("an array" if isinstance(self, Array) else "a formula", name))

    def __getitem__(self, index: object) -> NoReturn:
        raise TypeError(f"unsupported index of an array; {refusals.INDEX}")

    def __len__(self) -> NoReturn:
        raise TypeError(f"unsupported len() of an array; {refusals.LENGTH}")

    def __matmul__(self, other: object) -> NoReturn:
        raise TypeError(f"unsupported product @ of arrays; {refusals.MATMUL}")

    def __rmatmul__(self, other: object) -> NoReturn:
        self.__matmul__(other)

    def __floordiv__(self, other: object) -> NoReturn:
        raise TypeError(f"unsupported operator // of formulas; {refusals.FLOOR_DIVIDE}")

    def __mod__(self, other: object) -> NoReturn:
        raise TypeError(f"unsupported operator % of formulas; {refusals.REMAINDER}")

    def __bool__(self) -> NoReturn:
        raise TypeError("unsupported truth value of a formula, which is known per token only; write & | ~ for and, "
                        "or, not; (a < b) & (b < c) for a < b < c; ta.where, ta.minimum and ta.maximum for if, min and "
                        "max")

    def __float__(self) -> NoReturn:
        raise TypeError("unsupported conversion of a formula to a number; functions of formulas are ta's: ta.sqrt for "
                        "math.sqrt")

    def __iter__(self) -> NoReturn:
        raise TypeError("unsupported iteration over one array; several sums are asked for by "
                        'ta.recurrences(.., sums=("numerator", "mass"))')


Operand = Union[Formula, float]


class Leaf(Formula):
    """A number, an index, a size, a parameter, the score: what the dialect writes as one word."""

    __slots__ = ("text", "axis")

    def __init__(self, text: str, axis: str | None = None) -> None:
        super().__init__("leaf")
        self.text = text
        self.axis = axis  # of an index, which gives its axis to the result

    def __repr__(self) -> str:
        return f"<formula {self.text}>"


class Parameter(Leaf):
    """A number of the specification that is free until compilation."""

    __slots__ = ()


class Array(Formula):
    """A value of the specification with named axes: an argument, or a result of an operation."""

    __slots__ = ("type", "trace", "name")

    def __init__(self, type: ArrayType, trace: Trace, place: Place | None, name: str | None = None) -> None:
        super().__init__("array", place=place)
        self.type = type
        self.trace = trace
        self.name = name  # of an argument; a result's is found when the function has returned

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Its axes, in order."""
        return self.type.axes

    def __repr__(self) -> str:
        return f"<array {self.name or ''}[{', '.join(map(str, self.axes))}]>"


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a real number, of Python or of numpy; True and False are none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def number_text(value: object, what: str = "a number") -> str:
    """A number as the dialect reads it, to the last digit: with a point before an exponent."""
    if not is_number(value):
        raise TypeError(f"expected {what}, but got {value!r}")
    number = float(value)
    if math.isnan(number):
        raise ValueError(f"expected {what}, but got nan")
    if math.isinf(number):
        return "infinity()" if number > 0 else "-infinity()"
    text = repr(number)
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}e{int(power)}" if exponent else text


def integer_text(value: object, what: str) -> str:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"expected an integer for {what}, but got {value!r}")
    return str(int(value))


def formula(value: object) -> Formula:
    """A formula of what stands in one: itself, or a number."""
    if isinstance(value, Formula):
        if isinstance(value, Array) and value.trace is not current():
            raise ValueError(f"expected an array of this specification, but got {value!r} of '{value.trace.name}'; "
                             "what several specifications share is a Python function of arrays")
        return value
    if isinstance(value, str):
        raise TypeError(refusals.of_string(value))
    if not is_number(value):
        raise TypeError(f"expected an array, a formula or a number, but got {_kind(value)}")
    return Leaf(number_text(value))


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}; n, z = ta.recurrences(.., sums=(\"numerator\", \"mass\")) takes one apart"
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        kind += ('; what a call brings is an argument of the specification, such as x=ta.input("b h t"), and what is '
                 'learned x=ta.parameter("h", "zeros")')
    return kind


def apply(operator: str, *operands: object) -> Formula:
    """An operator or a call, at the line of the user's code that wrote it."""
    frame = caller()
    node = Formula(operator, tuple(formula(operand) for operand in operands), place_of(frame))
    if trace := current():
        trace.note(frame)
    return node


def postorder(roots: Iterable[Formula]) -> Iterator[Formula]:
    """Each formula below these once, operands first, left to right; without recursion, since formulas may be deep."""
    seen: set[int] = set()
    for root in roots:
        open_nodes: list[tuple[Formula, bool]] = [(root, False)]
        while open_nodes:
            node, done = open_nodes.pop()
            if done:
                yield node
            elif id(node) not in seen:
                seen.add(id(node))
                open_nodes.append((node, True))
                open_nodes.extend((operand, False) for operand in reversed(node.operands))


def index(axis: str) -> Formula:
    """The index along an axis: for t and u the position of the token, for lag that of a query less that of a key.

    Other axes count from 0. `ta.b`, `ta.h`, .. are those of the named axes; a free one is known where an array has it.
    """
    if not isinstance(axis, str):
        raise TypeError(f'expected the name of an axis, such as "r", but got {axis!r}')
    return Leaf(axis, axis=axis)


def size(axis: str | Formula) -> Formula:
    """The size of an axis: `ta.size("d")` or `ta.size(ta.d)`."""
    if isinstance(axis, Leaf) and axis.axis:
        return Leaf(f"size({axis.axis})")
    if not isinstance(axis, str):
        raise TypeError(f'expected the name of an axis, such as "d", but got {axis!r}')
    return Leaf(f"size({axis})")


b, h, g, t, u, lag, d, e, f = map(index, ROLES)
