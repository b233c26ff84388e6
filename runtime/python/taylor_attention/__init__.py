# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions in Python: a spelling of the `taylor` dialect, one to one.

    import taylor_attention as ta

    @ta.spec
    def softmax_norm_l2(q, k, v):
        n = ta.recurrences(ta.rope(q), ta.rope(k), v)
        return ta.normalize("l2", n, epsilon=1e-12)

    print(softmax_norm_l2.mlir)

Axes: b batch, h query head, g key/value head, t query token, u key token, lag position of a query less that of a key, d
channel of a score, e channel of a value, f feature of a state; others are free and carry their size.
"""
from typing import TYPE_CHECKING

from .arguments import Initial, Source, normal, parameter, projection, uniform
from .arguments import input as input
from .axes import ArrayType, Axis
from .files import specifications, version
from .formula import Array, Formula, index, lag, size
from .formula import b as b, d as d, e as e, f as f, g as g, h as h, t as t, u as u
from .functions import (call, cos, elu, erf, exp, expm1, floor, gelu, log, log1p, log2, logical_and, logical_not,
                        logical_or, maximum, minimum, relu, rsqrt, sigmoid, silu, sin, softplus, sqrt, stop, tanh,
                        where)
from .functions import abs as abs, pow as pow
from .messages import translate
from .operations import align, convolve, gated_sum, normalize, recurrence, recurrences, reduce, region, rope, scan
from .operations import map as map
from .pairs import columns, diagonals, dot, maxima, pairwise, rows, running_maximum, total
from .places import Place
from .spec import Argument, Spec, spec

if TYPE_CHECKING:
    from . import hf as hf, nn as nn
    from .calls import attention as attention
    from .decoder import Decoder as Decoder

_TORCH = {"attention": "calls", "Decoder": "decoder"}  # what imports torch, when it is asked for, and from where
_TORCH_MODULES = ("nn", "hf")
_LETTERS = ("b", "d", "e", "f", "g", "h", "t", "u", "abs", "input", "map", "pow")  # not by `import *`


def __getattr__(name: str) -> object:
    if name == "__version__":
        return version()
    if name not in _TORCH and name not in _TORCH_MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_advice(name)}")
    import importlib
    if name in _TORCH_MODULES:
        try:
            return importlib.import_module(f".{name}", __name__)
        except ModuleNotFoundError as error:
            if error.name != "transformers":
                raise
            raise ImportError("requires transformers for ta.hf: pip install transformers") from None
    value = getattr(importlib.import_module(f".{_TORCH[name]}", __name__), name)
    globals()[name] = value
    return value


def _advice(name: str) -> str:
    """What to write in place of a name that is not there."""
    import difflib
    if name == "softmax":
        return ("; a softmax is a sum of exponentials over its mass: "
                "n, z = ta.recurrences(q, k, v, sums=('numerator', 'mass')), then n / z")
    near = difflib.get_close_matches(name, [*__all__, *_TORCH, *_TORCH_MODULES], 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def __dir__() -> list[str]:
    from importlib.util import find_spec
    found = [name for name in (*_TORCH, *_TORCH_MODULES) if find_spec("torch") and (name != "hf" or find_spec("transformers"))]
    return sorted([*__all__, *_LETTERS, *found, "__version__", "load_ipython_extension"])


def load_ipython_extension(shell: object) -> None:
    """`%load_ext taylor_attention` in a notebook: cells of `%%taylor`."""
    from .notebook import load
    load(shell)


# `from taylor_attention import *` leaves the names of Python's own functions alone, and single letters.
__all__ = [
    "Argument", "Array", "ArrayType", "Axis", "Formula", "Initial", "Place", "Source", "Spec",
    "align", "call", "columns", "convolve", "cos", "diagonals", "dot", "elu", "erf", "exp", "expm1", "floor", "gated_sum",
    "gelu", "index", "lag", "log", "log1p", "log2", "logical_and", "logical_not", "logical_or", "maxima", "maximum", "minimum",
    "normal", "normalize", "pairwise", "parameter", "projection", "recurrence", "recurrences", "reduce", "region",
    "relu", "rope", "rows", "rsqrt", "running_maximum", "scan", "sigmoid", "silu", "sin", "size", "softplus",
    "spec", "specifications", "sqrt", "stop", "tanh", "total", "translate", "uniform", "where",
]
