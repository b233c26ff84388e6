# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SHARDS: 5
# RUN: %python %s %source_dir %build_dir %t %shard
# REQUIRES: compiler, torch
# UNSUPPORTED: sanitizer
"""The code of each tutorial runs, prints what the page shows, and a page whose code raises is refused at its line."""
import os
import pathlib
import subprocess
import sys

source, build, folder = map(pathlib.Path, sys.argv[1:4])
shard, shards = map(int, sys.argv[4].split("/"))
folder.mkdir(parents=True, exist_ok=True)
environment = {**os.environ, "PYTHONPATH": str(source / "runtime" / "python"), "TAYLOR_LIB": str(build / "lib"), "TAYLORC": str(build / "bin" / "taylorc")}


def run(page, *output):
    return subprocess.run([sys.executable, source / "cmake/site/run_page.py", page, *output], cwd=source, env=environment, capture_output=True, text=True)


pages = sorted(page for page in (source / "examples/tutorials").glob("*.md") if page.name != "README.md")
assert len(pages) == 5, pages
for page in pages[shard::shards]:
    output = folder / page.name
    done = run(page.relative_to(source), output)
    assert done.returncode == 0, done.stdout + done.stderr
    text, written = page.read_text(encoding="utf-8"), output.read_text(encoding="utf-8")
    # What was printed stands below its block, and nothing else is new.
    assert "\n```\n\n```text\n" in written and "relative error" in written or page.name == "decoding.md" and "away from the whole" in written, written
    for line in text.splitlines():
        assert line in written, line

if shard == 0:
    page = folder / "page"
    page.write_text("# A page\n\n```python\nx = 1\nprint(x)\n```\n\nText.\n\n```python\ny = x\nassert y == 2, 'y is 1'\n```\n")
    done = run(page)
    assert done.returncode == 1 and done.stderr.strip() == f"{page}:12: error: the code of this page raised AssertionError: y is 1", done
    page.write_text("```python\nx = 1\n```\n\n```python\nx = (\n```\n")
    done = run(page)
    assert done.returncode == 1 and f"{page}:6: error: the code of this page raised SyntaxError: " in done.stderr, done
    page.write_text("Text.\n\n```python\nprint('a')\nprint('b')\n```\n\n```sh\nfalse\n```\n\n```python\nx = 2\n```\n")
    done = run(page)
    assert done.stdout == "Text.\n\n```python\nprint('a')\nprint('b')\n```\n\n```text\na\nb\n```\n\n```sh\nfalse\n```\n\n```python\nx = 2\n```\n\n", done
    done = subprocess.run([sys.executable, source / "cmake/site/run_page.py"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.rstrip().endswith("error: expected a page, but got 0 arguments"), done
