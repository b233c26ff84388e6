# RUN: %python %s %source_dir
"""README.md is short, and each row of what one can change is what the package writes."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root / "runtime/python"))
import taylor_attention as ta

text = (root / "README.md").read_text(encoding="utf-8")
lines = text.splitlines()
assert len(lines) <= 130, f"expected at most 130 lines, but got {len(lines)}"
long = [number for number, line in enumerate(lines, 1) if len(line) > 120]
assert not long, f"expected at most 120 columns, but lines {long} have more"

SIGNATURE = 'q, k, v, gate=ta.projection("b h t"), fade=ta.projection("b g u")'


def written(python):
    """The text of a specification with the formula, or with the clauses of its sum."""
    clauses = re.match(r"\w+=", python)
    body = f"return ta.recurrences(q, k, v, {python})" if clauses else f'n, z = ta.recurrences(q, k, v, sums=("numerator", "mass"))\n    return {python}'
    scope = {"ta": ta}
    exec(f"@ta.spec\ndef row({SIGNATURE}):\n    {body}", scope)
    return re.sub(r"\s+", " ", scope["row"].mlir)


table = re.search(r"^\| what \| Python \| dialect \|\n\|[-|]+\|\n(.*?)\n\n", text, re.M | re.S)[1]
rows = [re.findall(r"`([^`]+)`", line) for line in table.splitlines()]
assert len(rows) == 6, rows
for python, *dialect in rows:
    assert dialect, python
    for part in dialect:
        assert part in written(python), f"{python}: expected {part}, but got {written(python)}"

# The wheel's file has the project's version, and is what the build makes where it made one.
version = re.search(r"^project\(\S+ VERSION (\S+)", (root / "CMakeLists.txt").read_text(encoding="utf-8"), re.M)[1]
wheel = re.search(r"^    pip install build/wheel/(taylor_attention-(\S+?)-\S+\.whl)$", text, re.M)
assert wheel[2] == version, (wheel[2], version)
made = [file.name for file in (root / "build" / "wheel").glob("*.whl")]
assert not made or wheel[1] in made, made

# What stands there of other attentions' number, and where a reader goes on.
count = len(list((root / "examples/specs").rglob("*.mlir")))
assert f"{count} attentions ship" in text, f"{count} attentions ship"
for page in ["dialect/GLOSSARY.md", *(f"examples/guide/{page.name}" for page in (root / "examples/guide").glob("*.md"))]:
    link = page.removeprefix("examples/guide/")
    index = (root / "examples/guide/README.md").read_text(encoding="utf-8")
    assert f"({page})" in text or f"({link})" in index, f"neither README.md nor the guide's index links to {page}"
