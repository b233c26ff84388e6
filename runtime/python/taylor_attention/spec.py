# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`@ta.spec`: a Python function over arrays with named axes, traced to the text of a `taylor.spec`."""
from __future__ import annotations

import functools
import inspect
import numbers
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Callable, Mapping, Union, overload

from .arguments import Source, default_source
from .axes import ArrayType, Axis, quoted, word
from .formula import Array, Formula, Parameter, is_number, number_text
from .keywords import arguments_of, checks_keywords, unknown_keyword
from .operations import as_array
from .options import all_options
from .places import Place, Signature, code_of, signature_places
from .text import Names, Places, Region, Statement, Text, Writer, know
from .sums import Probe, probed
from .trace import Trace

if TYPE_CHECKING:
    from .pages import Page
    from .weights import Weights

Parameters = dict[str, Union[int, float]]
LONG = 110  # a signature that is longer has one argument a line


@dataclass(frozen=True)
class Argument:
    """An array that a specification takes."""

    name: str
    type: ArrayType
    source: str  # as the dialect writes it, such as `projection(bias)`

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.type.axes


class Spec:
    """One attention, as text of the dialect; what `@ta.spec` makes of a function.

    `mlir` is the text that caches, checkpoints and papers carry, the one definition. Nothing is compiled until
    `ta.attention`, `explain` or `weights` asks for it.
    """

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        code = code_of(function)
        functools.update_wrapper(self, function)  # type: ignore[arg-type]
        self.name: str = name or function.__name__
        places = signature_places(function)
        trace = Trace(self.name, code)
        arrays, sources, self.parameters = _signature(function, trace, places)
        values: dict[str | None, Formula] = {array.name: array for array in arrays}
        values.update({name: Parameter(name) for name in self.parameters})
        names = Names(trace)
        for array in arrays:
            names.give(array, array.name)
        with trace:
            results = _results(_call(function, values))
        self.arguments = tuple(Argument(array.name or "", array.type, source.text or "projection")
                               for array, source in zip(arrays, sources))
        self._write(trace, names, places, sources, results)

    def _write(self, trace: Trace, names: Names, places: Signature, sources: list[Source],
               results: list[tuple[Array, str | None]]) -> None:
        of_formula = {id(array): node for node, array in trace.arrays.values()}
        made = [(array, trace.variable(array) or trace.variable(of_formula.get(id(array), array)))
                for statement in trace.statements for array in statement.results]
        # A result without a variable is `o`; the yield writes the name where a value has another.
        wanted = {id(array): name for array, name in made if name}
        chosen = []
        for number, (array, name) in enumerate(results):
            name = name or wanted.get(id(array)) or array.name or ("o" if len(results) == 1 else f"o{number}")
            wanted.setdefault(id(array), name)
            chosen.append(name)
        for statement in trace.statements:
            for part in statement.parts:
                names.taken.update(part.names if isinstance(part, Region) else ())
        for array, _ in made:
            names.give(array, wanted.get(id(array)))
        self.results: tuple[str, ...] = tuple(chosen)
        arguments = list(zip(self.arguments, (one.text for one in sources)))
        yields = list(zip((array for array, _ in results), chosen))
        writer = self._text(self.name, names, places, arguments, trace.statements, yields,
                            trace.returned or places.definition)
        lines = inspect.cleandoc(self.__doc__ or "").splitlines()
        comment = "".join(f"// {line}".rstrip() + "\n" for line in lines)
        self._source = _finished(comment, writer, places.definition)
        self.mlir: str = self._source.mlir
        self._probe: Probe | None = self._write_probe(trace, names, places, arguments, yields)

    def _write_probe(self, trace: Trace, names: Names, places: Signature,
                     arguments: list[tuple[Argument, str]], yields: list[tuple[Array, str]]) -> Probe:
        probes = probed(trace)
        brought = [array for one in probes for array in one.brought]
        statements = [statement for one in probes for statement in one.statements]
        for array in [*brought, *(statement.results[0] for statement in statements)]:
            names.give(array, None)
        arguments = arguments + [(Argument(names.of[id(array)], array.type, "projection"), "") for array in brought]
        yields = yields + [(one.results[0], names.of[id(one.results[0])]) for one in statements]
        writer = self._text(f"sums of {self.name}", names, places, arguments, [*trace.statements, *statements], yields,
                            places.definition)
        return Probe(_finished("", writer, places.definition), tuple(names.of[id(one.of)] for one in probes),
                     len(self.results))

    def _text(self, name: str, names: Names, places: Signature, arguments: list[tuple[Argument, str]],
              statements: list[Statement], yields: list[tuple[Array, str]], end: Place) -> Writer:
        """Writes a specification, without what stands above it; an argument stands with the text of its source."""
        sizes = [axis.name for argument, _ in arguments for axis in argument.axes]
        writer = Writer(names, [*self.parameters, *sizes])
        self._head(writer, name, places, arguments)
        for statement in statements:
            writer.statement(statement)
        parts: list[Any] = []
        for array, result in yields:
            label = "" if names.of[id(array)] == result else f"{quoted(result)} "
            parts += [f"{', ' if parts else ''}{label}", array]
        writer.statement(Statement("yield", end, parts, [array for array, _ in yields]))
        writer.write("}\n", places.definition)
        return writer

    def _head(self, writer: Writer, name: str, places: Signature, given: list[tuple[Argument, str]]) -> None:
        opening = f"taylor.spec @{word(name)}("
        arguments = [f"%{one.name}: {writer.type(one.type, places.of(one.name))}{source and ' from '}{source}"
                     for one, source in given]
        parameters = {name: f"{name} : index = {value}" if isinstance(value, int) else f"{name} = {number_text(value)}"
                      for name, value in self.parameters.items()}
        is_long = len(opening + ", ".join([*arguments, *parameters.values()])) > LONG
        separator = ",\n" + " " * len(opening) if is_long else ", "
        writer.write(opening, places.definition)
        for number, ((one, _), text) in enumerate(zip(given, arguments)):
            writer.write(separator if number else "")
            writer.write(text, places.of(one.name))
        writer.write(")", places.definition)
        for number, (name, text) in enumerate(parameters.items()):
            writer.write(", " if number else "\n    parameters(" if is_long else " parameters(")
            writer.write(text, places.of(name))
        writer.write((")" if self.parameters else "") + " {\n", places.definition)

    @checks_keywords("Spec.explain")
    def explain(self, path: str | os.PathLike[str] | None = None, *, options: str = "",
                parameters: Mapping[str, Any] | None = None, mask: str = "") -> Page:
        """The compiler's page of all levels of this specification side by side, as a file of HTML.

        It is written to `path`, else to a temporary file. `options` are taylorc's: "--target=sm_90 --head-dim=128";
        `parameters` and `mask` are those of `ta.attention`. A notebook shows the page; `.open()` opens
        it in a browser. Needs taylorc, and no torch.
        """
        from .pages import explain

        return explain(self, path, all_options(options, parameters, mask))

    def weights(self, *, scores: tuple[float, float] = (-6.0, 6.0), points: int = 241, keys: int = 128,
                heads: int = 4, head_dim: int = 64, score: float = 1.0, options: str = "",
                parameters: Mapping[str, Any] | None = None, mask: str = "", **values: float) -> list[Weights]:
        """The weights of each sum over keys, computed by the specification itself in f64: needs torch.

        Of each sum: its weight w(s) at `points` scores within `scores`, for one key at its query's own position; and
        the weights of `keys` keys for the last query of as many, [heads, keys], where all queries and keys are the same
        vector, whose score with itself is `score`.

        Learned parameters have their initial values (of a distribution the mean), projections such as gates are 1.0,
        what the caller brings is 0. `decay_gate=-3.0` gives an argument another value. `parameters`,
        such as {"order": 4}, `mask` and `options` are those of `ta.attention`.
        """
        for name in values:
            self._check_value(name, values[name])
        from .weights import weights

        return weights(self, self._probe, scores, points, keys, heads, head_dim, score,
                       all_options(options, parameters, mask), values)

    def _check_value(self, name: str, value: Any) -> None:
        """Of a keyword argument of `weights` that is none of its own."""
        names = [one.name for one in self.arguments]
        if name in names:
            return
        if name in self.parameters:
            raise TypeError(f"unsupported keyword argument {name!r}, a parameter of {self.name}; write "
                            f"parameters={{{name!r}: {value!r}}}")
        raise unknown_keyword(name, value, f"{self.name}.weights", [*names, *arguments_of(self.weights)])

    def plot(self, **arguments: Any) -> Any:
        """A matplotlib figure of `weights(..)`, which takes the arguments: w(s), and the weights of a row of keys."""
        from .plot import figure

        return figure(self, lambda: self.weights(**arguments))

    def place(self, line: int, column: int = 1) -> Place | None:
        """Where in Python a place of `mlir` comes from, both counted from 1; None of comments and blank lines."""
        return self._source.place(line, column)

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles go without the function: the text says all."""
        return {name: value for name, value in self.__dict__.items() if name != "__wrapped__"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._source = know(self._source, new=False)
        if self._probe is not None:
            self._probe = replace(self._probe, text=know(self._probe.text, new=False))

    def __str__(self) -> str:
        return self.mlir

    def __repr__(self) -> str:
        return f"<ta.spec {self.name}({', '.join([one.name for one in self.arguments] + list(self.parameters))})>"


def _finished(comment: str, writer: Writer, definition: Place) -> Text:
    """The text with its comment and aliases above it, and where its lines come from."""
    above = comment + "".join(f"{alias} = {text}\n" for alias, text in writer.aliases.items()) + "\n"
    found: Places = {line + above.count("\n"): spans for line, spans in writer.places.items()}
    for line, place in enumerate(writer.alias_places, comment.count("\n") + 1):
        found[line] = [(1, place or definition)]
    return know(Text(above + "\n".join(writer.lines), found))


def _signature(function: Callable[..., Any], trace: Trace,
               places: Signature) -> tuple[list[Array], list[Source], Parameters]:
    """Arguments and their sources; parameters: keyword-only numbers, an int for an index, a float for a real one."""
    arrays: list[Array] = []
    sources: list[Source] = []
    parameters: Parameters = {}
    for name, argument in inspect.signature(function).parameters.items():
        where = f"'{name}' of {trace.name}"
        if not name.isascii():
            raise ValueError(f"expected a name of ASCII letters, but got argument {where}")
        if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            raise TypeError(f"unsupported argument *{where}: a specification has one argument for each array")
        default = None if argument.default is argument.empty else argument.default
        source = default_source(name) if argument.default is argument.empty else default
        if isinstance(source, Source):
            arrays.append(Array(source.type, trace, places.of(name), name))
            sources.append(source)
        elif argument.kind is argument.KEYWORD_ONLY and is_number(default):
            parameters[name] = int(default) if isinstance(default, numbers.Integral) else float(default)
        elif argument.kind is argument.KEYWORD_ONLY:
            got = "none" if argument.default is argument.empty else repr(default)
            raise TypeError(f"requires a number as the default of parameter {where}, an integer for an index, but got "
                            f"{got}")
        elif argument.default is argument.empty:
            raise TypeError(f"requires axes of argument {where}, which is not q, k or v: write "
                            f'{name}=ta.projection("b h t"), ta.parameter("h", "zeros") or ta.input("b t")')
        else:
            raise TypeError("expected ta.projection(..), ta.parameter(..) or ta.input(..) as the default of argument "
                            f"{where}, but got {default!r}; a number that is set when compiling stands after a *, as "
                            f"in def {trace.name}(q, k, v, *, {name}={default!r})")
    return arrays, sources, parameters


def _call(function: Callable[..., Any], values: Mapping[str | None, Formula]) -> Any:
    positional, keywords = [], {}
    for name, argument in inspect.signature(function).parameters.items():
        if argument.kind is argument.POSITIONAL_ONLY:
            positional.append(values[name])
        else:
            keywords[name] = values[name]
    try:
        return function(*positional, **keywords)
    except UnboundLocalError as error:
        message = (f"{error}; a value is read after it is made: a state over tokens is a sum (ta.recurrences, with "
                   "decay=.. where it forgets) or a scan (ta.scan)")
        raise UnboundLocalError(message).with_traceback(error.__traceback__) from None


def _results(returned: Any) -> list[tuple[Array, str | None]]:
    """The arrays returned, and the name of each where the function says it."""
    if returned is None:
        raise TypeError("requires a result: the function under @ta.spec returns None; end it with return")
    if isinstance(returned, dict):
        for name in returned:
            if not isinstance(name, str):
                raise TypeError(f"expected the names of results, but got {name!r}")
        return [(as_array(value), name) for name, value in returned.items()]
    several = returned if isinstance(returned, (tuple, list)) else (returned,)
    return [(as_array(value), None) for value in several]


@overload
def spec(function: Callable[..., Any], /) -> Spec: ...


@overload
def spec(*, name: str) -> Callable[[Callable[..., Any]], Spec]: ...


@checks_keywords("ta.spec")
def spec(function: Callable[..., Any] | None = None, /, *, name: str | None = None) -> Any:
    """Traces a function over arrays to a specification, once, when the function is defined.

        @ta.spec
        def softmax(q, k, v):
            n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"))
            return n / z

        print(softmax.mlir)

    Arguments are arrays. q, k and v (and q1, k2, ..) are [b, h, t, d], [b, g, u, d] and [b, g, u, e]. The default of
    any other argument says its axes, and where a model gets it: `ta.projection`, `ta.parameter`, `ta.input`.
    Keyword-only numbers are parameters that are set when compiling; an integer is an index.

    Results are what the function returns: one array or formula, a tuple of them, or a dict that names them. Without a
    dict their names are those of their variables; a single result without a variable is `o`.

    `name` is the specification's; by default it is the function's. A mistake that has no text (a string for an array,
    an argument without axes) raises a TypeError or a ValueError. All others are the compiler's to find.
    """
    if function is not None:
        return Spec(function)
    return functools.partial(Spec, name=name)
