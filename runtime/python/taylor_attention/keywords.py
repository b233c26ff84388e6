# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keyword arguments that a function does not have: one message, with the nearest one that it has."""
from __future__ import annotations

import difflib
import functools
import inspect
from typing import Any, Callable, Iterable, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., Any])

# What others call it, and the name here.
_ELSEWHERE = {"causal": "mask", "is_causal": "mask", "window": "visible", "window_size": "visible", "sliding_window": "visible",
              "embed_dim": "hidden", "hidden_size": "hidden", "dim": "hidden", "torch_dtype": "dtype"}
# What the argument's value is then.
_VALUES = {"mask": ": mask='causal' or mask='bidirectional'", "visible": ": visible=ta.t - ta.u < 3, of a window of 3 keys"}
# What others have as an argument, and where it is here.
_PLACES = {"scale": "; a factor of scores is scale= of ta.recurrences, in a specification",
           "softmax_scale": "; a factor of scores is scale= of ta.recurrences, in a specification",
           "dropout_p": "; no weight is dropped here",
           "device": "; all is done on the device of the tensors that are given"}


def unknown_keyword(name: str, value: Any, what: str, known: Iterable[str]) -> TypeError:
    """The error of a keyword argument; `what` is the function as a user calls it, `known` are the arguments that it has."""
    names = list(known)
    near = [_ELSEWHERE[name]] if _ELSEWHERE.get(name) in names else difflib.get_close_matches(name, names, 1)
    if not near and "visible" in names and difflib.get_close_matches(name, ["window"], 1):
        near = ["visible"]
    listed = ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)
    advice = ""
    if near:
        advice = f"; did you mean '{near[0]}'{_VALUES.get(near[0], '')}?"
    elif name in _PLACES:
        advice = _PLACES[name]
    elif "parameters" in names:
        advice = f"; a parameter of the specification is given as parameters={{{name!r}: {value!r}}}"
    return TypeError(f"unsupported keyword argument {name!r} of {what}, which has {listed}{advice}")


def arguments_of(function: Callable[..., Any]) -> list[str]:
    """The names that a caller may write."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [one.name for one in inspect.signature(function).parameters.values() if one.kind in kinds and one.name != "self"]


def checks_keywords(what: str) -> Callable[[_Function], _Function]:
    """Of a public function, which a user calls as `what`: refuses keyword arguments that it does not have."""
    def of(function: _Function) -> _Function:
        known = arguments_of(function)
        names = frozenset(known)

        @functools.wraps(function)
        def checked(*arguments: Any, **keywords: Any) -> Any:
            if not names.issuperset(keywords):
                name = next(one for one in keywords if one not in names)
                raise unknown_keyword(name, keywords[name], what, known)
            return function(*arguments, **keywords)

        return cast(_Function, checked)

    return of
