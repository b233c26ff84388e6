# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch, numpy and Python offer for arrays and an array of a specification does not: what to
write in its place."""
from __future__ import annotations

NAMES = frozenset((
    "exp", "expm1", "log", "log2", "log1p", "sqrt", "rsqrt", "tanh", "abs", "floor", "sin", "cos", "erf", "sigmoid",
    "softplus", "silu", "gelu", "relu", "elu", "stop", "pow", "minimum", "maximum", "where", "logical_and",
    "logical_or", "logical_not"))  # of functions.py, which are called as in torch
_OF_SEVERAL = frozenset(("pow", "minimum", "maximum", "where", "logical_and", "logical_or"))

_PRODUCT = ("write ta.recurrences(q, k, v) for a sum over keys, or ta.dot(q, k) in the formulas of ta.pairwise; q * k "
            "is by element")
_REDUCED = 'write ta.reduce("sum", x, over="d"); "mean" and "max" are the others, sums over keys are ta.recurrences'
_NORM = 'write ta.normalize("l2", x, epsilon=1e-6); "rms" and "layer" are the others'
_PLACES = ("axes have names and no places, so nothing is moved or reshaped: arrays of a formula meet by the names of "
           "their axes")
_SIZES = 'write ta.size("d") for the size of an axis; the axes of an array x are x.axes'
INDEX = ("axes have names and no places; ta.t, ta.h and ta.index(\"r\") are the indices along them, "
         "ta.where(ta.t < 4, x, y) selects by one, and ta.reduce(\"sum\", x, over=\"d\") sums over an axis")

_ADVICE: dict[str, str] = {}
for _words, _advice in (
        ("matmul mm bmm dot inner vdot einsum tensordot", _PRODUCT),
        ("sum mean amax max nansum prod", _REDUCED),
        ("norm vector_norm layer_norm rms_norm", _NORM),
        ("transpose permute swapaxes swapdims moveaxis movedim reshape view view_as flatten unflatten squeeze "
         "unsqueeze expand expand_dims expand_as broadcast_to repeat repeat_interleave T mT H contiguous rearrange", _PLACES),
        ("shape size dim ndim numel", _SIZES),
        ("cumsum cumulative_sum cummax logcumsumexp", 'write ta.scan("sum", x, over="t"); "max" is the other'),
        ("roll shift", 'write ta.scan("shift", x, over="t", amount=1)'),
        ("softmax log_softmax scaled_dot_product_attention",
         'write n, z = ta.recurrences(q, k, v, sums=("numerator", "mass")) and n / z'),
        ("clamp clip hardtanh", "write ta.minimum(ta.maximum(x, low), high)"),
        ("conv1d convolve", "write ta.convolve(x, taps)"),
        ("to type float half bfloat16 double astype dtype", 'write ta.map(x, dtype="f32")'),
        ("detach", "write ta.stop(x)"), ("absolute fabs", "write ta.abs(x)"), ("power", "write ta.pow(x, y)"),
        ("square", "write x ** 2"), ("reciprocal", "write 1 / x"), ("neg negative", "write -x"),
        ("floor_divide", "write ta.floor(x / y)"), ("remainder fmod mod", "write x - y * ta.floor(x / y)"),
        ("min", 'write -ta.reduce("max", -x, over="d")'), ("normalize", _NORM)):
    _ADVICE.update(dict.fromkeys(_words.split(), _advice))

MATMUL = _PRODUCT
FLOOR_DIVIDE, REMAINDER = _ADVICE["floor_divide"], _ADVICE["remainder"]
LENGTH = _SIZES


def of_name(name: str) -> str:
    """What to write for a function or method of this name."""
    name = name.strip("_")
    if name in NAMES:
        return f"write ta.{name}({'..' if name in _OF_SEVERAL else 'x'})"
    return _ADVICE.get(name, "functions of formulas and arrays are ta's, such as ta.exp(x); dir(ta) has them")


def of_function(module: str, name: str) -> str:
    return f"unsupported {module}.{name} of an array or formula of a specification; {of_name(name)}"


def of_method(kind: str, name: str) -> str:
    """Of an attribute, as Python's AttributeError would say it."""
    return f"unsupported attribute '{name}' of {kind}; {of_name(name)}"


def of_string(value: str, clause: str = "") -> str:
    """Of a string where a formula stands, with a keyword that it was given for."""
    if value in NAMES:
        written = f"{clause}=ta.{value}" if clause else f"ta.{value}"
        return f"expected an array, a formula or a number, but got the string {value!r}; write {written}"
    return (f"expected an array, a formula or a number, but got the string {value!r}; an argument is the variable "
            "itself, an index is ta.t or ta.index(\"r\"), and a parameter is a keyword argument")
