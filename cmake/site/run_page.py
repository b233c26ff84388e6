# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: run_page.py PAGE [OUTPUT]: runs the Python code of a page, its blocks one after the other in one process, and
writes the page with the output of each block below it. Exit status 1 if a block raises; the message names the page's
line.

A block of another kind (`pycon`, `text`, `sh`) is not run. This program needs the standard library only; the page needs
what it imports."""
import contextlib
import io
import os
import pathlib
import re
import sys
import traceback

BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.S | re.M)


def run_block(code, name, line, scope):
    """What the block prints. Lines are the page's, so that messages and tracebacks name those."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * line + code, name, "exec"), scope)
    except BaseException as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
        where = f"{name}:{frames[-1].lineno if frames else getattr(error, 'lineno', line)}"
        sys.exit(f"{printed.getvalue()}{where}: error: the code of this page raised {type(error).__name__}: {error}")
    # A page is the same wherever it was made.
    return printed.getvalue().replace(os.getcwd() + os.sep, "")


def run_page(text, name):
    scope, result, end = {"__name__": "__main__"}, [], 0
    for block in BLOCK.finditer(text):
        printed = run_block(block[1], name, text.count("\n", 0, block.start()) + 1, scope)
        result += [text[end:block.end()], f"\n```text\n{printed.rstrip()}\n```\n" if printed.strip() else ""]
        end = block.end()
    return "".join(result) + text[end:]


def main(arguments):
    if not 1 <= len(arguments) <= 2:
        sys.exit(f"{__doc__}\n\nerror: expected a page, but got {len(arguments)} arguments")
    page = pathlib.Path(arguments[0])
    text = run_page(page.read_text(encoding="utf-8"), str(page))
    if len(arguments) == 2:
        pathlib.Path(arguments[1]).write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
