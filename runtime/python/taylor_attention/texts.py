# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a specification's text says to whoever reads its words: rotations, and whether queries depend on earlier ones.
Imports no torch."""
from __future__ import annotations

import re
from typing import Iterable

_COMMENT = re.compile(r"//.*")
_OPERATION = re.compile(r"(?<!!)\btaylor\.([^\n]*)")  # and no type
_ROPE_LINE = re.compile(r"^[ \t]*%(?P<result>[\w$.-]+) = taylor\.rope %(?P<operand>[\w$.-]+)"
                        r"(?P<clauses>[^:\n]*):[^\n]*\n", re.M)

_NOT_WORDS = re.compile(r"!taylor\.array<[^>]*>|[%!@][\w$.-]+")  # types and names of values

# Operations of which a query's result needs no earlier query.
_OF_OWN_ROW = re.compile(r"(spec|yield|map|reduce|normalize|rope|recurrences?|align|"
                         r"scan (sum|max|shift\(\d+\))( exclusive| reverse)* over\(u\))(?!\w)")


def _operations(text: str) -> list[str]:
    return _OPERATION.findall(_COMMENT.sub("", text))


def rotates(text: str) -> bool:
    return any(re.match(r"rope\b", one) for one in _operations(text))


def needs_earlier_queries(text: str) -> bool:
    """Whether a query's result may depend on the queries before it: true where that is not plain."""
    return "size(t)" in text or not all(_OF_OWN_ROW.match(one) for one in _operations(text))


def names_axis(text: str, axes: Iterable[str]) -> bool:
    """Whether some operation says one of these words: an index or size in a formula, what a reduction or norm is over."""
    words = _NOT_WORDS.sub(" ", _COMMENT.sub("", text))
    return re.search(rf"\b({'|'.join(axes)})\b", words) is not None


def without_rope(text: str, arguments: Iterable[str]) -> str:
    """The text without its rotations of arguments. ValueError where another value is rotated, or in another way than a
    model's theta says."""
    known = set(arguments)

    def drop(found: re.Match[str]) -> str:
        if found["operand"] not in known:
            raise ValueError(f"unsupported rotation of %{found['operand']}, which is no argument: the model rotates before it; "
                             "use ta.hf.replace(model, spec)")
        if not re.fullmatch(r"\s*(theta\([^()]*\)\s*)?", found["clauses"]):
            raise ValueError(f"unsupported rotation with '{found['clauses'].strip()}': the model's is another; use "
                             "ta.hf.replace(model, spec)")
        renamed[found["result"]] = found["operand"]
        return ""

    renamed: dict[str, str] = {}
    text = _ROPE_LINE.sub(drop, text)
    for result, operand in renamed.items():
        text = re.sub(rf"%{re.escape(result)}(?![\w$.-])", f"%{operand}", text)
    if rotates(text):
        raise ValueError("expected each taylor.rope in one line, as taylor-opt prints it, but got one of several")
    return text
