# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of formulas, under the names that they have in torch and numpy.

Each takes numbers and formulas and gives a formula; units are those of its argument's formula. What they are at the
edges, and their derivatives, is said in dialect/Taylor/README.md ("Formulas").
"""
from __future__ import annotations

from .formula import Formula, Operand, apply


def call(name: str, *arguments: Operand) -> Formula:
    """The dialect's function of this name, for one that this module does not have."""
    if not isinstance(name, str) or not name.isidentifier():
        raise TypeError(f'expected the name of a function, such as "exp", but got {name!r}')
    return apply(name, *arguments)


def exp(x: Operand) -> Formula:
    """e^x"""
    return apply("exp", x)


def expm1(x: Operand) -> Formula:
    """e^x - 1, with all digits near 0"""
    return apply("expm1", x)


def log(x: Operand) -> Formula:
    """The natural logarithm."""
    return apply("log", x)


def log2(x: Operand) -> Formula:
    """The logarithm to base 2; exact for powers of two."""
    return apply("log2", x)


def log1p(x: Operand) -> Formula:
    """log(1 + x), with all digits near 0"""
    return apply("log1p", x)


def sqrt(x: Operand) -> Formula:
    """The square root."""
    return apply("sqrt", x)


def rsqrt(x: Operand) -> Formula:
    """1 / sqrt(x)"""
    return apply("rsqrt", x)


def tanh(x: Operand) -> Formula:
    """The hyperbolic tangent."""
    return apply("tanh", x)


def abs(x: Operand) -> Formula:
    """|x|; Python's own `abs` of a formula is the same."""
    return apply("abs", x)


def floor(x: Operand) -> Formula:
    """The largest whole number that is at most x; its gradient is 0."""
    return apply("floor", x)


def sin(x: Operand) -> Formula:
    """The sine of x in radians; right up to |x| = 2^50."""
    return apply("sin", x)


def cos(x: Operand) -> Formula:
    """The cosine of x in radians; right up to |x| = 2^50."""
    return apply("cos", x)


def erf(x: Operand) -> Formula:
    """The error function."""
    return apply("erf", x)


def sigmoid(x: Operand) -> Formula:
    """1 / (1 + e^-x)"""
    return apply("sigmoid", x)


def softplus(x: Operand) -> Formula:
    """log(1 + e^x)"""
    return apply("softplus", x)


def silu(x: Operand) -> Formula:
    """x sigmoid(x)"""
    return apply("silu", x)


def gelu(x: Operand) -> Formula:
    """x times the normal distribution's function of x, not its approximation by tanh."""
    return apply("gelu", x)


def relu(x: Operand) -> Formula:
    """x where it is above 0, else 0; its derivative at 0 is 0."""
    return apply("relu", x)


def elu(x: Operand) -> Formula:
    """x where it is above 0, else e^x - 1"""
    return apply("elu", x)


def stop(x: Operand) -> Formula:
    """x, a constant to the derivative (torch's `detach`)."""
    return apply("stop", x)


def pow(x: Operand, y: Operand) -> Formula:
    """x^y, also written x ** y."""
    return apply("pow", x, y)


def minimum(x: Operand, y: Operand) -> Formula:
    """The smaller of two; with a constant the gradient is torch's `clamp`'s, else half to each at ties."""
    return apply("min", x, y)


def maximum(x: Operand, y: Operand) -> Formula:
    """The larger of two; with a constant the gradient is torch's `clamp`'s, else half to each at ties."""
    return apply("max", x, y)


def where(condition: Formula, x: Operand, y: Operand) -> Formula:
    """x where a condition holds, else y: the dialect's `select`."""
    return apply("select", condition, x, y)


def logical_and(x: Formula, y: Formula) -> Formula:
    """Of conditions, also written x & y."""
    return apply("and", x, y)


def logical_or(x: Formula, y: Formula) -> Formula:
    """Of conditions, also written x | y."""
    return apply("or", x, y)


def logical_not(x: Formula) -> Formula:
    """Of a condition, also written ~x."""
    return apply("not", x)
