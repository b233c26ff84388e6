# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Docstrings of this project, which are plain text, as what Sphinx reads: reStructuredText.

A paragraph that is indented is code. Lines `name: text`, with indented lines that go on, are a list. `code` has one
backquote. All else is text, in which no character means anything."""
import re

ITEM = re.compile(r"^`?([\w., *]+?)`?: (.*)$")


def escape(text):
    """A line of text, with its code as code."""
    pieces = re.split(r"(`[^`]+`)", text)
    return "".join(f"``{piece[1:-1].strip()}``" if piece.startswith("`") else re.sub(r"([\\*|_`])", r"\\\1", piece) for piece in pieces)


def is_list(lines):
    return bool(ITEM.match(lines[0])) and all(line.startswith(" ") or ITEM.match(line) for line in lines) and len(ITEM.match(lines[0])[1].split()) <= 3


def to_rst(lines):
    """The lines of a docstring as those of reStructuredText."""
    result, paragraphs = [], re.split(r"\n(?:[ ]*\n)+", "\n".join(lines).strip("\n"))
    for paragraph in paragraphs:
        part = paragraph.split("\n")
        if all(line.startswith("    ") for line in part):
            result += ["::", "", *part]
        elif is_list(part):
            # An item that goes on is one line.
            for line in re.sub(r"\n[ ]+", " ", paragraph).split("\n"):
                name, text = ITEM.match(line).groups()
                result.append(f"* ``{name}``: {escape(text)}")
        else:
            # Code may lie on two lines.
            result += escape(" ".join(line.strip() for line in part)).split("\n")
        result.append("")
    return result


def process(app, what, name, obj, options, lines):
    lines[:] = to_rst(lines)
