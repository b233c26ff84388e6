# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of the dialect, one Python function each.

Axes are stated in brackets: [b, h, t, e]. An operation that takes an array takes a formula too, which becomes a
`taylor.map` first. Every check is the compiler's: `ta.translate` shows its messages at the line of the call. Formulas
in full, and what is refused, stand in the .td files of dialect/Taylor.
"""
from __future__ import annotations

from functools import reduce as fold
from typing import Callable, Iterable, Literal, Sequence, Union, overload

from .arguments import Axes
from .axes import ArrayType, Axis, parse_axes, parse_element, real_element, union
from .formula import Array, Formula, Leaf, Operand, Parameter, apply, formula, integer_text, number_text
from .keywords import checks_keywords
from .places import Place, caller, place_of
from .refusals import of_string as _refused_string
from .text import Body, Part, Region, Statement, Typed, distinct
from .trace import require_trace

Mask = Literal["causal", "bidirectional"]
Sum = Literal["numerator", "mass", "count"]
OfScore = Union[Operand, Callable[[Formula], Operand]]
Orders = Union[Literal["all"], tuple[Union[int, Formula], Union[int, Formula]]]
Arrays = Union[Formula, Sequence[Formula]]
Sums = Union[tuple[Sum, ...], list[Sum]]
SumOrState = Literal["numerator", "mass", "count", "state"]
SumsOrState = Union[tuple[SumOrState, ...], list[SumOrState]]


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
    body, guards = _body(x), _several(live)
    parts: list[Part] = [words]
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


def conditions_of(visible: Arrays) -> list[Formula]:
    return [formula(one) for one in (visible if isinstance(visible, (tuple, list)) else (visible,))]


def _clause(name: str, text: str | None) -> str:
    return "" if text is None else f" {name}({text})"


def _operand_clause(name: str, array: Array | None) -> list[Part]:
    return [] if array is None else [f" {name}(", array, ")"]


def _optional(value: Operand | None) -> Array | None:
    return None if value is None else as_array(value)


def _flags(**flags: bool) -> str:
    return "".join(f" {name}" for name, on in flags.items() if on)


# Local to rows, tokens and channels


@checks_keywords("ta.map")
def map(x: Operand | Region, *, live: Arrays = (), axes: Axes | None = None, dtype: str | None = None) -> Array:
    """An array of a formula, with the axes of its arrays and of its indices.

    A formula becomes an array by itself where one is needed. Write `ta.map` for one of these:

    * The formula ends here. What depends on empty sums alone is 0 at the end of an operation.
    * `axes` adds axes that no array of the formula has: `ta.map(-rate * ta.u, axes="h u")`.
    * `dtype` is the type that the array is stored in.
    * `live` guards it: where one of these counts is 0, the result is 0 and the formula does not run.
    """
    return _local("map", "", x, live, axes, dtype, lambda joined: joined)


@checks_keywords("ta.reduce")
def reduce(kind: Literal["sum", "mean", "max"], x: Operand | Region, *, over: Axes, live: Arrays = (),
           axes: Axes | None = None, dtype: str | None = None) -> Array:
    """The sum, mean or maximum of a formula over axes, which the result lacks.

    `over` names channels, heads and free axes: "d", "h e". "group" turns h into g. Sums over tokens are
    `ta.recurrences` and `ta.scan`. `live`, `axes` and `dtype` are those of `ta.map`.
    """
    names = [axis.name for axis in parse_axes(over)]

    def reduced(joined: ArrayType) -> ArrayType:
        left = joined.without(names)
        return left.renamed("h", "g") if "group" in names else left

    words = f"{kind} over({', '.join(str(Axis(name)) for name in names)}) "
    return _local("reduce", words, x, live, axes, dtype, reduced)


@checks_keywords("ta.scan")
def scan(kind: Literal["sum", "max", "shift"], x: Operand | Region, *, over: Literal["t", "u"],
         amount: int | None = None, exclusive: bool = False, reverse: bool = False, within: Operand | None = None,
         axes: Axes | None = None, dtype: str | None = None) -> Array:
    """A running sum or maximum of a formula over tokens, or a shift by `amount` tokens. The axes stay.

    y[u] = sum of x[j] over j <= u, or over j < u (`exclusive`), or from the end (`reverse`). A shift is
    y[u] = x[u - amount], 0 before the start. `within` [b, u] numbers the documents, ascending: tokens of other
    documents do not count. A maximum has no derivative: write ta.exp(x - ta.stop(m)).
    """
    if kind == "shift" and amount is None:
        raise TypeError("requires amount=.., the number of tokens, of a shift")
    count = "" if amount is None else f"({integer_text(amount, 'amount')})"
    words = f"{kind}{count}{_flags(exclusive=exclusive, reverse=reverse)} over({over}) "
    return _local("scan", words, x, (), axes, dtype, lambda joined: joined, within)


@checks_keywords("ta.align")
def align(x: Operand, to: Literal["t", "u"]) -> Array:
    """A key array at query positions, y[t] = x[offset + t] (`to="t"`, u becomes t), or back (`to="u"`)."""
    array = as_array(x)
    made, = emit("align", [array, f" to {to}"], [array], [array.type.renamed("u" if to == "t" else "t", to)])
    return made


@checks_keywords("ta.normalize")
def normalize(kind: Literal["l2", "rms", "layer"], x: Operand, *, epsilon: float, over: str | None = None,
              weight: Operand | None = None, bias: Operand | None = None) -> Array:
    """A norm over channels. The axes stay.

        "l2"     x / max(|x|, epsilon)
        "rms"    x / sqrt(mean(x^2) + epsilon), times weight, plus bias
        "layer"  the same of x - mean(x)

    `over` is e, unless another axis is named (d, h, g or a free one). `weight` and `bias` are arrays such as [e] or
    [h, e]. `epsilon` is in units of x ("l2") or of x^2 ("rms", "layer").
    """
    array, scale, shift = as_array(x), _optional(weight), _optional(bias)
    operands = [one for one in (array, scale, shift) if one is not None]
    types = [one.type for one in operands]
    parts: list[Part] = [f"{kind}{_clause('over', over and str(Axis(over)))} ", array,
                         *_operand_clause("weight", scale), *_operand_clause("bias", shift),
                         _clause("epsilon", number_text(epsilon, "a number for epsilon"))]
    made, = emit("normalize", parts, operands, [union(types, element=real_element(types))])
    return made


@checks_keywords("ta.rope")
def rope(x: Operand, *, at: Operand | None = None, theta: float | None = None,
         layout: Literal["half", "interleaved"] | None = None, offset: int | None = None,
         inverse: bool = False) -> Array:
    """Rotary positions: turns pairs of channels by p theta^(-2 i / d) radians. The axes stay.

    Su et al., RoFormer, equation 34, with p the position of the token and i the number of the pair. `theta` is 10000 by
    default. `layout` "half" (the default) pairs channel i with i + d/2, as Llama does, "interleaved" 2 i with 2 i + 1.
    `offset` is added to positions, in tokens; `at` [b, t] or [b, u] replaces them. `inverse` turns back.
    """
    array, positions = as_array(x), _optional(at)
    parts: list[Part] = [array]
    if positions is not None:
        parts += [" at ", positions]
    parts.append(_clause("theta", None if theta is None else number_text(theta, "a number for theta"))
                 + _clause("layout", layout)
                 + _clause("offset", None if offset is None else integer_text(offset, "offset"))
                 + _flags(inverse=inverse))
    made, = emit("rope", parts, [one for one in (array, positions) if one is not None], [array.type.computed()])
    return made


@checks_keywords("ta.convolve")
def convolve(x: Operand, taps: Operand, *, within: Operand | None = None, reverse: bool = False) -> Array:
    """A causal convolution over tokens, each channel by itself. The axes stay.

    y[t] = sum over j of taps[j] x[t - J + 1 + j]. The J taps, at most 64, are the free axis of `taps` that x lacks:
    [h, d, j = 4]. `within` is that of `ta.scan`. `reverse` is the adjoint, from the end.
    """
    array, weights, documents = as_array(x), as_array(taps), _optional(within)
    parts: list[Part] = [array, ", ", weights]
    if documents is not None:
        parts += [" within(", Typed(documents), ")"]
    made, = emit("convolve", [*parts, _flags(reverse=reverse)], [array, weights], [array.type.computed()])
    return made


@checks_keywords("ta.gated_sum")
def gated_sum(x: Operand, gates: Operand, *, within: Operand | None = None, reverse: bool = False) -> Array:
    """A running sum over tokens that gates fade, each channel by itself. The axes stay.

    y[t] = gates[t] y[t - 1] + x[t], y before the start 0. `gates` has axes of x; without the token axis it is a constant,
    and with (1 - gates) x for x the sum is a moving average. `within` is that of `ta.scan`. `reverse` is the adjoint.
    """
    array, factors, documents = as_array(x), as_array(gates), _optional(within)
    parts: list[Part] = [array, ", ", factors]
    if documents is not None:
        parts += [" within(", Typed(documents), ")"]
    made, = emit("gated_sum", [*parts, _flags(reverse=reverse)], [array, factors], [array.type.computed()])
    return made


def region(text: str, *arrays: Formula) -> Region:
    """The text of an MLIR region in place of a formula, for what no function of formulas says.

    An operation of MLIR without a derivative in dialect/Taylor has none here.

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
def recurrences(q: Operand, k: Operand, v: Operand, *, sums: Sums, orders: Orders | None = ...,
                coefficients: Literal["factorial"] | Sequence[float] | None = ..., weight: OfScore | None = ...,
                scale: Operand | None = ..., score: OfScore | None = ..., decay: Operand | None = ..., mask: Mask = ...,
                visible: Arrays = ...) -> tuple[Array, ...]: ...


@checks_keywords("ta.recurrences")
def recurrences(q: Operand, k: Operand, v: Operand, *, sums: Sum | Sums = "numerator",
                orders: Orders | None = None, coefficients: Literal["factorial"] | Sequence[float] | None = None,
                weight: OfScore | None = None, scale: Operand | None = None, score: OfScore | None = None,
                decay: Operand | None = None, mask: Mask = "causal", visible: Arrays = ()) -> Array | tuple[Array, ...]:
    """Sums over the visible keys of each query (the paper, section 3.1).

    q [b, h, t, d], k [b, g, u, d] and v [b, g, u, e] give, with the weight w = f(score(scale <q, k>)),

        "numerator"  [b, h, t, e]  the sum of w v
        "mass"       [b, h, t]     the sum of w
        "count"      [b, h, t]     the number of visible keys

    One sum is one array; a tuple or list of sums gives a tuple of arrays. Without `orders` and `weight`, f is e^x and
    the scale is 1 / sqrt(d).

    orders: the orders of a series, `(0, n)` from and to, or "all". An end may be an index parameter.
    coefficients: of the series, from the first order on; by default 1 / n!.
    weight: f itself, as a function of the score: `ta.softplus`, `lambda s: ta.relu(s) ** 2`.
    scale: a formula of sizes and parameters; 1 by default with `orders` or `weight`.
    score: what f is a function of: `lambda s: ta.minimum(s, 5.0)`. It may read arrays without channels,
        ta.t, ta.u and ta.h.
    decay: [b, g, u], a running sum of logarithms. w is multiplied by exp(decay[t] - decay[u]).
    mask: "causal" or "bidirectional".
    visible: one more condition or several; all must hold: `ta.t - ta.u < window`.
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
        if isinstance(one, str):
            raise TypeError(_refused_string(one, name))
        if one is not None:
            body = Body([formula(one(Leaf("s")) if callable(one) else one)])
            parts += [f" {name}(", body, ")"]
            extras += body.arrays
    if decay is not None:
        operands.append(as_array(decay))
        parts += _operand_clause("decay", operands[-1])
    parts.append(f" {mask}")
    if conditions := conditions_of(visible):
        body = Body(conditions)
        if body.bindings and len(conditions) > 1:  # names belong to one formula
            body = Body([fold(lambda x, y: apply("and", x, y), conditions)])
        parts += [" visible(", body, ")"]
        extras += body.arrays
    made = emit("recurrences", parts, [*operands, *distinct(extras)], _sums(operands, words))
    return made[0] if isinstance(sums, str) else made


@overload
def recurrence(q: Operand, k: Operand, v: Operand, *, order: int, sums: SumOrState = ...,
               coefficient: float | None = ..., scale: Operand | None = ..., decay: Operand | None = ...,
               state: Operand | None = ..., mask: Mask = ...) -> Array: ...


@overload
def recurrence(q: Operand, k: Operand, v: Operand, *, order: int, sums: SumsOrState,
               coefficient: float | None = ..., scale: Operand | None = ..., decay: Operand | None = ...,
               state: Operand | None = ..., mask: Mask = ...) -> tuple[Array, ...]: ...


@checks_keywords("ta.recurrence")
def recurrence(q: Operand, k: Operand, v: Operand, *, order: int, sums: SumOrState | SumsOrState = "numerator",
               coefficient: float | None = None, scale: Operand | None = None, decay: Operand | None = None,
               state: Operand | None = None, mask: Mask = "causal") -> Array | tuple[Array, ...]:
    """One recurrence, of order n, with its state of d^n features (the paper, equation 3 for n = 1).

    Sums are those of `ta.recurrences`, and "state" [b, g, e, f], the state after the last key. `state` is one to begin
    from. `coefficient` multiplies, `scale` is a formula of sizes and parameters.
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


def numerator_type(operands: Sequence[Array]) -> ArrayType:
    """The type of a numerator; `operands` begin with query, key and value."""
    return _sums(operands, ["numerator"])[0]


def _orders(orders: object) -> str:
    def bound(one: object) -> str:
        return one.text if isinstance(one, Parameter) else integer_text(one, "orders, or an index parameter")

    if isinstance(orders, (tuple, list)):
        return " to ".join(bound(one) for one in orders)
    return orders if isinstance(orders, str) else bound(orders)
