# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler's messages about a traced specification: at the lines of Python that wrote it, and in Python's words
where the compiler advises what to write in the dialect's."""
from __future__ import annotations

import linecache
import re

from .spec import Spec
from .text import Text, written

_HEAD = re.compile(r"(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+): (?P<rest>(?:error|warning|note|remark): .*)")

# What the compiler says of a specification, and how a user of Python would write what it advises.
_WORDS = tuple((re.compile(pattern), words) for pattern, words in (
    (r"custom op 'taylor\.recurrences' expected a clause \([^)]*\), but got",
     'expected mask="causal" or mask="bidirectional", but got'),
    (r"custom op 'taylor\.recurrence' expected causal or bidirectional, but got",
     'expected mask="causal" or mask="bidirectional", but got'),
    (r"such as t - u < 8\.0, but got", "such as visible=ta.t - ta.u < 16, but got"),
    (r"expected orders\(all\) or orders\(a to b\), but got '([\w-]+)' alone",
     r'expected orders="all" or orders=(0, \1), from and to, but got \1 alone'),
    (r"expected orders\(all\) or orders\(a to b\), but got",
     'expected orders="all" or orders=(0, 2), from and to, but got'),
    (r"expected orders\(a to b\) with a <= b, but got (\S+) to (\S+)",
     r"expected orders=(a, b) with a <= b, but got orders=(\1, \2)"),
    (r"custom op 'taylor\.recurrences' expected exponential alone: it stands for .*",
     'requires orders or weight beside scale or coefficients: write orders="all", coefficients="factorial", scale=0.1, '
     "or score=lambda s: s * tau with what is learned"),
    (r"multiply the score: score\((?:%[\w$.-]+) \* s\)", "multiply the score: score=lambda s: s * tau"),
    (r"scan a gate over u: %D = taylor\.scan sum over\(u\) %f",
     'write decay=ta.scan("sum", f, over="u") of a gate f over u, such as f=ta.projection("b g u")'),
    (r"name another with over\(\.\.\)", "name another with over=.."),
))
_BOTH = "unsupported array with both t and u: no T x U buffer is ever materialised; "
_QUERY_FIRST = "ta.recurrences takes the query first, (q, k, v): q over t, k and v over u, but got {}"
_BIAS = ("unsupported argument '{}' with both t and u: no T x U buffer is ever materialised; write a bias as a formula"
         ', score=lambda s: s - 0.5 * (ta.t - ta.u), which reads arrays over t or over u too, or a table of lags: '
         'score=lambda s: s + ta.reduce("sum", ta.where(ta.index("r") == ta.lag, table, 0.0), over="r") of '
         'table=ta.parameter("h r=64", "zeros")')
_ALIGN = _BOTH + ('write ta.align(x, to="t") for a key array at queries, or ta.align(x, to="u") for a query array at keys'
                  "; products of queries and keys are ta.recurrences(q, k, v)")
_ALIAS = re.compile(r"(![\w$.]+) = !taylor\.array<(\[[^\]]*\])")
_SUM = re.compile(r"^ +%[^=\n]+ = taylor\.recurrences? .*(?:\n {5,}.*)*", re.M)


def _in_python(said: str, spec: Spec | Text, line: int) -> str:
    """A message's words, where they advise what to write."""
    if _BOTH in said:
        return said[:said.index(_BOTH)] + _of_both(spec, line)
    for pattern, words in _WORDS:
        said = pattern.sub(words, said)
    return said


def _of_both(spec: Spec | Text, line: int) -> str:
    """Of a type with t and u, which is refused where the text defines its name: what made an array of this type."""
    types = dict(_ALIAS.findall(spec.mlir))
    alias = _ALIAS.match(spec.mlir.split("\n")[line - 1])
    if alias and (argument := re.search(rf"%([\w$.-]+): {re.escape(alias[1])}(?![\w$.])", spec.mlir)):
        return _BIAS.format(argument[1])
    for made in _SUM.finditer(spec.mlir):
        number = spec.mlir.count("\n", 0, made.start()) + 1
        given = [types.get(one.strip(), "") for one in made[0].rpartition(" : ")[2].split(",")][:3]
        over = [re.findall(r"\w+", one) for one in given]
        if spec.place(number) == spec.place(line) and ("u" in over[0] or any("t" in one for one in over[1:])):
            return "unsupported order of arrays: " + _QUERY_FIRST.format(", ".join(given[:-1]) + " and " + given[-1])
    return _ALIGN


# What taylorc says of words that are none of its options.
_OPTION = re.compile(r"expected one specification, but got '[^']*' and '([^']*)'")


def _of_option(found: re.Match[str]) -> str:
    word = found[1]
    setting = re.fullmatch(r"([A-Za-z_]\w*)=(\S+)", word)
    such = f"--set {word}" if setting else "--set window=5"
    also = f"; parameters={{{setting[1]!r}: {setting[2]}}} says the same" if setting else ""
    return f"expected taylorc's options as text, such as \"{such}\", but got {word!r}{also}"


def at_python(message: str, text: str) -> str:
    """`translate` for the specification that wrote `text`, if `@ta.spec` wrote it; else the message as it is, except of
    options."""
    message = _OPTION.sub(_of_option, message)
    known = written(text)
    return message if known is None else translate(message, known)


def translate(message: str, spec: Spec | Text) -> str:
    """What `taylorc` says about `spec.mlir`, with `user.py:LINE` for its places and the user's line for the text's.

    Places change, and words that advise what to write: the rest is the compiler's. What stands at no line of Python
    stays.
    """
    lines, result = message.split("\n"), []
    number = 0
    text = spec.mlir.split("\n")
    while number < len(lines):
        head = _HEAD.fullmatch(lines[number])
        number += 1
        place = spec.place(int(head["line"]), int(head["column"])) if head else None
        if head is None or place is None:
            result.append(lines[number - 1])
            continue
        result.append(f"{place.file}:{place.line}: {_in_python(head['rest'], spec, int(head['line']))}")
        # The text's line and a caret below it.
        quoted = text[int(head["line"]) - 1]
        if number < len(lines) and lines[number].rstrip() == quoted.rstrip():
            number += 1
            if number < len(lines) and re.fullmatch(r"\s*\^~*", lines[number]):
                number += 1
            if source := linecache.getline(place.file, place.line).rstrip():
                result.append(f"  {source.strip()}")
    return "\n".join(result)
