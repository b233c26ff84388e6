# RUN: %python %s %source_dir
"""Lines of prose in Markdown, and in the descriptions of .td files, end at 100 columns (README.md: readme.py), except where one word, a link
or a piece of code is wider than that by itself."""
import os
import pathlib
import re
import sys
import textwrap

root, width = pathlib.Path(sys.argv[1]), 100
WORD = re.compile(r"(?:`[^`]*`|!?\[[^\]]*\]\([^)]*\)|\S)+")  # neither code nor a link is broken


def prose(text):
    """Numbers and lines, without code, tables, headings and pictures."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*```", line):
            fenced = not fenced
        elif not fenced and not re.match(r"\s*\|[ -]|    |#|!\[|<", line):
            yield number, line


def wide(text, width=width):
    return [number for number, line in prose(text) if len(line) > width and len(WORD.findall(re.sub(r"^(\* |- |\d+\. )", "", line))) > 1]


def wide_in_descriptions(text):
    """The same of a .td file, whose descriptions are Markdown, indented by 4."""
    found = []
    for description in re.finditer(r"let description = \[\{\n(.*?)\n *\}\]", text, re.S):
        before = text[:description.start(1)].count("\n")
        found += [before + number for number in wide(textwrap.dedent(description.group(1)), width - 4)]
    return found


if __name__ == "__main__":
    words = "word " * 30
    assert wide(f"{words}\n\n| {words} |\n\n    {words}\n\n```\n{words}\n```\n\n* `{words}`\n\n* [{words}](a), {words}\n") == [1, 13]
    assert wide_in_descriptions(f"let description = [{{\n    {words}\n\n    ```\n    {words}\n    ```\n  }}];\n  // {words}\n") == [2]
    readers = {".md": wide, ".td": wide_in_descriptions}
    found, pages = [], 0
    for folder, names, files in os.walk(root):
        if pathlib.Path(folder) == root:
            names[:] = [name for name in names if not re.match(r"(build|\.|runs)", name)]
        for file in (pathlib.Path(folder, name) for name in files if name.endswith(tuple(readers))):
            if file != root / "README.md":
                pages += 1
                found += [f"{file.relative_to(root)}:{number}" for number in readers[file.suffix](file.read_text(encoding="utf-8"))]
    assert pages > 75, pages
    assert not found, f"lines of more than {width} columns: {', '.join(found)}"
