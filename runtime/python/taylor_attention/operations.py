# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of the dialect, one Python function each.

Where an operation takes an array it takes a formula too, which becomes a `taylor.map` then. Axes are stated in brackets:
[b, h, t, e]. What each operation computes, and what is refused, stands in full in dialect/Taylor/TaylorOps.td.
"""
from __future__ import annotations

from functools import reduce as fold
from typing import Callable, Iterable, Literal, Sequence, Union, overload

from .arguments import Axes
from .axes import ArrayType, Axis, parse_axes, parse_element, real_element, union
from .formula import Array, Formula, Leaf, Operand, Parameter, apply, formula, integer_text, number_text
from .places import Place, caller, place_of
from .text import Body, Part, Region, Statement, Typed, distinct
from .trace import require_trace

Mask = Literal["causal", "bidirectional"]
Sum = Literal["numerator", "mass", "count"]
OfScore = Union[Operand, Callable[[Formula], Operand]]
Orders = Union[Literal["all"], tuple[Union[int, Formula], Union[int, Formula]]]
Arrays = Union[Formula, Sequence[Formula]]


def emit(name: str, parts: Sequence[Part], operands: Sequence[Array], results: Sequence[ArrayType],
         *, arrow: bool = False, place: Place | None = None) -> tuple[Array, ...]:
    """Adds one operation to the specification, at the user's line; `arrow` writes the results' types."""
    trace = require_trace(name)
    frame = caller()
    trace.note(frame)
    place = place or place_of(frame)
    made = tuple(Array(type, trace, place) for type in results)
    trace.statements.append(Statement(name, place, list(parts), list(operands),
                                      tuple(results) if arrow else (), made))
    return made


def as_array(value: object) -> Array:
    """An array as it is; of a formula the result of a `taylor.map`, one for each formula."""
    node = formula(value)
    if isinstance(node, Array):
        return node
    trace = require_trace("map")
    if id(node) not in trace.arrays:
        body = Body([node])
        made, = emit("map", [body], body.arrays, [_join(body)], place=node.place)
        trace.arrays[id(node)] = node, made
    return trace.arrays[id(node)][1]


def _body(x: Operand | Region) -> Body | Region:
    return x if isinstance(x, Region) else Body([formula(x)])


def _join(body: Body | Region, explicit: Iterable[ArrayType] = ()) -> ArrayType:
    types = [array.type for array in body.arrays]
    return union(types, body.indices, real_element(types, explicit))


def _several(arrays: Arrays) -> list[Array]:
    return [as_array(one) for one in (arrays if isinstance(arrays, (tuple, list)) else (arrays,))]


def _local(name: str, words: str, x: Operand | Region, live: Arrays, axes: Axes | None, dtype: str | None,
           result: Callable[[ArrayType], ArrayType], within: Operand | None = None) -> Array:
    """map, reduce and scan: words, a formula, a guard, types, and the result's type where one is given."""
    body, guards, parts = _body(x), _several(live), [words]
    if within is not None:
        parts += ["within(", Typed(as_array(within)), ") "]
    parts.append(body)
    for number, guard in enumerate(guards):
        parts += [", " if number else " live(", guard]
    parts += [")"] if guards else []
    given = [ArrayType((), parse_element(dtype))] if dtype else []
    type = result(_join(body, given))
    if axes is not None:
        type = ArrayType(parse_axes(axes), type.element)
    if given:
        type = ArrayType(type.axes, given[0].element)
    made, = emit(name, parts, [*body.arrays, *guards], [type], arrow=bool(axes is not None or given))
    return made


def _clause(name: str, text: str | None) -> str:
    return "" if text is None else f" {name}({text})"


def _operand_clause(name: str, array: Array | None) -> list[Part]:
    return [] if array is None else [f" {name}(", array, ")"]


def _optional(value: Operand | None) -> Array | None:
    return None if value is None else as_array(value)


def _flags(**flags: bool) -> str:
    return "".join(f" {name}" for name, on in flags.items() if on)


# Local to rows, tokens and channels


def map(x: Operand | Region, *, live: Arrays = (), axes: Axes | None = None, dtype: str | None = None) -> Array:
    """An array of a formula: the union of its arrays' axes and of its indices' axes.

    A formula becomes an array by itself where one is needed. Written out, `ta.map` ends a formula here (what depends on
    empty sums alone is 0 at the end of an operation), names axes that no array of it has (`axes="h u"`), stores it in
    another type (`dtype`), or guards it: where a count of `live` is 0 the result is 0 and the formula does not run.
    """
    return _local("map", "", x, live, axes, dtype, lambda joined: joined)


def reduce(kind: Literal["sum", "mean", "max"], x: Operand | Region, *, over: Axes, live: Arrays = (),
           axes: Axes | None = None, dtype: str | None = None) -> Array:
    """A formula, then its sum, mean or maximum over axes ("d", "h e"), which the result lacks.

    Over channels, heads and free axes; `over="group"` reduces h into g. Sums over tokens are recurrences and scans.
    """
    names = [axis.name for axis in parse_axes(over)]

    def reduced(joined: ArrayType) -> ArrayType:
        left = joined.without(names)
        return left.renamed("h", "g") if "group" in names else left

    return _local("reduce", f"{kind} over({', '.join(str(Axis(name)) for name in names)}) ", x, live, axes, dtype, reduced)


def scan(kind: Literal["sum", "max", "shift"], x: Operand | Region, *, over: Literal["t", "u"], amount: int | None = None,
         exclusive: bool = False, reverse: bool = False, within: Operand | None = None,
         axes: Axes | None = None, dtype: str | None = None) -> Array:
    """A running sum or maximum of a formula over tokens, or a shift by `amount` tokens; axes stay.

    Up to each token and with it, or without it (`exclusive`); from the end with `reverse`. `within` [b, u] (or t) numbers
    the documents, ascending: tokens of others do not count. A maximum has no derivative: write ta.exp(x - ta.stop(m)).
    """
    if kind == "shift" and amount is None:
        raise TypeError("requires amount=.., the number of tokens, of a shift")
    count = "" if amount is None else f"({integer_text(amount, 'amount')})"
    words = f"{kind}{count}{_flags(exclusive=exclusive, reverse=reverse)} over({over}) "
    return _local("scan", words, x, (), axes, dtype, lambda joined: joined, within)


def align(x: Operand, to: Literal["t", "u"]) -> Array:
    """A key array read at query positions (`to="t"`: u becomes t, y[t] = x[offset + t]), or back."""
    array = as_array(x)
    made, = emit("align", [array, f" to {to}"], [array], [array.type.renamed("u" if to == "t" else "t", to)])
    return made


def normalize(kind: Literal["l2", "rms", "layer"], x: Operand, *, epsilon: float, over: str | None = None,
              weight: Operand | None = None, bias: Operand | None = None) -> Array:
    """A norm over e, or over the axis named (d, h, g, a free one); axes stay.

    l2: x / max(|x|, epsilon); rms: x / sqrt(mean(x^2) + epsilon); layer: the same of x - mean(x). `weight` and `bias`,
    often [e] or [h, e], multiply and add.
    """
    array, scale, shift = as_array(x), _optional(weight), _optional(bias)
    operands = [one for one in (array, scale, shift) if one is not None]
    types = [one.type for one in operands]
    parts = [f"{kind}{_clause('over', over and str(Axis(over)))} ", array, *_operand_clause("weight", scale),
             *_operand_clause("bias", shift), _clause("epsilon", number_text(epsilon, "a number for epsilon"))]
    made, = emit("normalize", parts, operands, [union(types, element=real_element(types))])
    return made


def rope(x: Operand, *, at: Operand | None = None, theta: float | None = None,
         layout: Literal["half", "interleaved"] | None = None, offset: int | None = None, inverse: bool = False) -> Array:
    """Rotary positions: pairs of channels of d turn by p theta^(-2 i / d) radians, p the token's position; axes stay.

    Su et al., RoFormer, equation 34. Base `theta` 10000 by default; `layout` "half" pairs channel i with i + d/2 (Llama),
    "interleaved" 2 i with 2 i + 1; `offset` is added to positions; `at` [b, t] (or u) gives others.
    """
    array, positions = as_array(x), _optional(at)
    parts: list[Part] = [array, *([] if positions is None else [" at ", positions])]
    parts.append(_clause("theta", None if theta is None else number_text(theta, "a number for theta"))
                 + _clause("layout", layout)
                 + _clause("offset", None if offset is None else integer_text(offset, "offset")) + _flags(inverse=inverse))
    made, = emit("rope", parts, [one for one in (array, positions) if one is not None], [array.type.computed()])
    return made


def convolve(x: Operand, taps: Operand, *, within: Operand | None = None, reverse: bool = False) -> Array:
    """A causal convolution over tokens, each channel by itself: y[t] = sum_j taps[j] x[t - J + 1 + j]; axes stay.

    `taps` has one free axis that x lacks, such as [h, d, j = 4], at most 64 long. `within` as in `ta.scan`; `reverse`
    is the adjoint, from the end.
    """
    array, weights, documents = as_array(x), as_array(taps), _optional(within)
    parts: list[Part] = [array, ", ", weights]
    if documents is not None:
        parts += [" within(", Typed(documents), ")"]
    made, = emit("convolve", [*parts, _flags(reverse=reverse)], [array, weights], [array.type.computed()])
    return made


def region(text: str, *arrays: Formula) -> Region:
    """The text of an MLIR region in place of a formula, for what no function of formulas says; no gradient is derived
    where MLIR's operation has none.

    `ta.map(ta.region("^bb0(%a: f64): %y = math.ceil %a : f64  taylor.yield %y : f64", x))`
    """
    if not isinstance(text, str):
        raise TypeError(f"expected the text of a region, but got {text!r}")
    return Region(text, tuple(as_array(array) for array in arrays))


# Sums over keys


@overload
def recurrences(q: Operand, k: Operand, v: Operand, *, sums: Sum = ..., orders: Orders | None = ...,
                coefficients: Literal["factorial"] | Sequence[float] | None = ..., weight: OfScore | None = ...,
                scale: Operand | None = ..., score: OfScore | None = ..., decay: Operand | None = ..., mask: Mask = ...,
                visible: Arrays = ...) -> Array: ...


@overload
def recurrences(q: Operand, k: Operand, v: Operand, *, sums: Sequence[Sum], orders: Orders | None = ...,
                coefficients: Literal["factorial"] | Sequence[float] | None = ..., weight: OfScore | None = ...,
                scale: Operand | None = ..., score: OfScore | None = ..., decay: Operand | None = ..., mask: Mask = ...,
                visible: Arrays = ...) -> tuple[Array, ...]: ...


def recurrences(q: Operand, k: Operand, v: Operand, *, sums: Sum | Sequence[Sum] = "numerator",
                orders: Orders | None = None, coefficients: Literal["factorial"] | Sequence[float] | None = None,
                weight: OfScore | None = None, scale: Operand | None = None, score: OfScore | None = None,
                decay: Operand | None = None, mask: Mask = "causal", visible: Arrays = ()) -> Array | tuple[Array, ...]:
    """Sums over the visible keys of each query, of weights f(score(scale <q, k>)): the paper's section 3.1.

    q [b, h, t, d], k [b, g, u, d], v [b, g, u, e]. One sum gives one array, a sequence of sums a tuple:

        "numerator"  [b, h, t, e]  sum of w v
        "mass"       [b, h, t]     sum of w
        "count"      [b, h, t]     number of visible keys

    f is e^x with scale 1 / sqrt(d) where neither `orders` nor `weight` is given. `orders=(0, n)` is a series, from and to;
    "all" the whole one; c[n] is 1 / n! or `coefficients`. `weight` is any function of the score, `score` what it is a
    function of: both take the score s, as in `score=lambda s: ta.minimum(s, 5.0)`, and read arrays without channels, ta.t,
    ta.u and ta.h. `scale` is a formula of sizes and parameters. `decay` [b, g, u] is a running sum of logarithms, w times
    exp(decay[t] - decay[u]). `mask` is "causal" or "bidirectional"; `visible`, one condition or several, hides more.
    """
    words = [sums] if isinstance(sums, str) else list(sums)
    parts, operands = _query_key_value(words, q, k, v)
    extras: list[Array] = []
    if orders is None and weight is None:
        parts.append(" exponential")
    if orders is not None:
        parts.append(_clause("orders", _orders(orders)))
    if coefficients is not None:
        numbers = coefficients if isinstance(coefficients, str) else ", ".join(number_text(one) for one in coefficients)
        parts.append(_clause("coefficients", numbers))
    for name, one in (("weight", weight), ("scale", scale), ("score", score)):
        if one is not None:
            body = Body([formula(one(Leaf("s")) if callable(one) else one)])
            parts += [f" {name}(", body, ")"]
            extras += body.arrays
    if decay is not None:
        operands.append(as_array(decay))
        parts += _operand_clause("decay", operands[-1])
    parts.append(f" {mask}")
    if conditions := [formula(one) for one in (visible if isinstance(visible, (tuple, list)) else (visible,))]:
        body = Body(conditions)
        if body.bindings and len(conditions) > 1:  # names belong to one formula
            body = Body([fold(lambda x, y: apply("and", x, y), conditions)])
        parts += [" visible(", body, ")"]
        extras += body.arrays
    made = emit("recurrences", parts, [*operands, *distinct(extras)], _sums(operands, words))
    return made[0] if isinstance(sums, str) else made


def recurrence(q: Operand, k: Operand, v: Operand, *, order: int, sums: str | Sequence[str] = "numerator",
               coefficient: float | None = None, scale: Operand | None = None, decay: Operand | None = None,
               state: Operand | None = None, mask: Mask = "causal") -> Array | tuple[Array, ...]:
    """One recurrence, of one order n, with its state of d^n features (the paper, equation 3 for n = 1).

    Sums as of `ta.recurrences`, and "state" [b, g, e, f], which is there after the last key; `state` is one to begin from.
    """
    words = [sums] if isinstance(sums, str) else list(sums)
    parts, operands = _query_key_value(words, q, k, v)
    parts.append(f" order({integer_text(order, 'order')})")
    if coefficient is not None:
        parts.append(_clause("coefficient", number_text(coefficient, "a number for coefficient")))
    if scale is not None:
        parts += [" scale(", Body([formula(scale)], share=False), ")"]
    for name, one in (("decay", decay), ("state", state)):
        if one is not None:
            operands.append(as_array(one))
            parts += _operand_clause(name, operands[-1])
    made = emit("recurrence", [*parts, f" {mask}"], operands, _sums(operands, words))
    return made[0] if isinstance(sums, str) else made


def _query_key_value(words: Sequence[str], q: Operand, k: Operand, v: Operand) -> tuple[list[Part], list[Array]]:
    query, key, value = (as_array(one) for one in (q, k, v))
    head = "" if list(words) == ["numerator"] else f"[{', '.join(words)}] "
    return [head, query, ", ", key, ", ", value], [query, key, value]


def _sums(operands: Sequence[Array], words: Sequence[str]) -> list[ArrayType]:
    query, key, value = (one.type for one in operands[:3])
    element = real_element([query, key])
    rows, columns = query.without([query.channel or ""]), key.without([query.channel or "", "u"])
    values = value.without(["u"])
    numerator = union([rows, columns, values], element=element)
    row, state = numerator.without([value.channel or ""]), union([columns, values], ["f"], element)
    return [{"mass": row, "count": row, "state": state}.get(word, numerator) for word in words]


def _orders(orders: object) -> str:
    def bound(one: object) -> str:
        return one.text if isinstance(one, Parameter) else integer_text(one, "orders, or an index parameter")

    if isinstance(orders, (tuple, list)):
        return " to ".join(bound(one) for one in orders)
    return orders if isinstance(orders, str) else bound(orders)
