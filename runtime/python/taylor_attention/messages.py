# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler's messages about a traced specification, at the lines of Python that wrote it."""
from __future__ import annotations

import linecache
import re

from .spec import Spec
from .text import Text, written

_HEAD = re.compile(r"(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+): (?P<rest>(?:error|warning|note|remark): .*)")


def at_python(message: str, text: str) -> str:
    """`translate` for the specification that wrote `text`, if `@ta.spec` wrote it; else the message as it is."""
    known = written(text)
    return message if known is None else translate(message, known)


def translate(message: str, spec: Spec | Text) -> str:
    """What `taylorc` says about `spec.mlir`, with `user.py:LINE` for its places and the user's line for the text's.

    Only places change, the words are the compiler's. What stands at no line of Python stays.
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
        result.append(f"{place.file}:{place.line}: {head['rest']}")
        # The text's line and a caret below it.
        quoted = text[int(head["line"]) - 1]
        if number < len(lines) and lines[number].rstrip() == quoted.rstrip():
            number += 1
            if number < len(lines) and re.fullmatch(r"\s*\^~*", lines[number]):
                number += 1
            if source := linecache.getline(place.file, place.line).rstrip():
                result.append(f"  {source.strip()}")
    return "\n".join(result)
