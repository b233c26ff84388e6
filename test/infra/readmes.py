# RUN: %python %s %source_dir
"""A folder's README names each source file of the folder, in backticks or in the first column of a table: `X.cpp`, `X`, or `*X.cpp` for a family. And the
files that a table of files names in its first column are there. What runtime/README.md says of the compiler's includes is so, too."""
import fnmatch
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
PARTS = ["cmake", "codegen", "dialect", "passes", "runtime", "test", "trainer"]
SOURCES = (".c", ".cmake", ".cpp", ".h", ".in", ".py", ".sh", ".td")
# What CMake, Python and lit want by these names.
KNOWN = {"CMakeLists", "lit"}


def first_columns(text):
    """(header, cell) of the first column of each row of each table."""
    header = None
    for line, following in zip(text.splitlines(), [*text.splitlines()[1:], ""]):
        cell = line.split("|")[1].strip() if line.startswith("|") and line.count("|") > 1 else None
        if cell is None:
            header = None
        elif re.match(r"\|[-| :]+\|$", following):
            header = cell
        elif header is not None and not re.match(r"[-:]+$", cell):
            yield header, cell


def names_in(cell):
    """The names of a cell: what is in backticks, or, where nothing is, what commas divide."""
    return re.findall(r"`([^`]+)`", cell) or [name.strip() for name in cell.split(",") if re.fullmatch(r"[\w.*-]+", name.strip())]


def unnamed(text, files):
    """Stems of the files that a README does not name."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    said = re.findall(r"`([^`\n]+)`", text) + [name for _, cell in first_columns(text) for name in names_in(cell)]
    words = {word for name in said if "*" not in name for word in re.findall(r"[\w-]+", name)}
    families = [name for name in said if "*" in name]
    stems = {}
    for file in files:
        stems.setdefault(file.split(".")[0], []).append(file)
    return [stem for stem, same in sorted(stems.items())
            if stem not in words | KNOWN and not any(fnmatch.fnmatch(file, family) for file in same for family in families)]


def gone(text, exists):
    """Names in the first column of tables of files for which exists(pattern) does not hold."""
    for header, cell in first_columns(text):
        if re.search(r"\b(file|module)\b", header):
            yield from (name for name in names_in(cell) if re.fullmatch(r"(\.\./)*[\w*][\w./*-]*", name) and not (re.search(r"\bNAME\b", name) or exists(name)))


SAMPLE = "| file, class | does |\n|---|---|\n| `A`, `B.h` | `D` |\n| `*F.cpp` | .. |\n\n| word | C |\n|---|---|\n| `G` | |\n\n| module | x |\n|---|---|\n| E, K | |\n"
assert unnamed(SAMPLE, ["A.cpp", "B.cpp", "B.h", "C.cpp", "D.h", "E.py", "xF.cpp", "xF.h", "F.td", "CMakeLists.txt"]) == ["C", "F"]
assert list(gone(SAMPLE, lambda name: name in ("A", "E"))) == ["B.h", "*F.cpp", "K"]

faults, folders, rows = [], 0, 0
for page in sorted(page for part in PARTS for page in (root / part).rglob("README.md")):
    folder, text = page.parent, page.read_text(encoding="utf-8")
    where = folder.relative_to(root).as_posix()
    files = [file.name for file in folder.iterdir() if file.is_file() and file.suffix in SOURCES]
    folders += bool(files)
    faults += [f"{where}/README.md does not name {stem}" for stem in unnamed(text, files)]

    def exists(name):
        global rows
        rows += 1
        return any(any(base.glob(pattern)) for base in (folder, root) for pattern in (name.rstrip("/"), name.rstrip("/") + ".*"))

    faults += [f"{where}/README.md has a row of {name}, which is not there" for name in gone(text, exists)]

# Which headers of the runtime the compiler includes: its README has the table.
table = re.search(r"^The compiler includes these headers[^\n]*\n\n((?:\|[^\n]*\n)+)", (root / "runtime" / "README.md").read_text(encoding="utf-8"), re.M)[1]
said = {(header, place) for row in table.splitlines()[2:] for header in names_in(row.split("|")[1]) for place in names_in(row.split("|")[3])}
true = set()
for part in ("codegen", "dialect", "passes"):
    for file in (file for suffix in (".h", ".cpp") for file in (root / part).rglob("*" + suffix)):
        place = "/".join(file.relative_to(root).parts[:2])
        true |= {(header, place) for header in re.findall(r'#include "runtime/([^"]+)"', file.read_text(encoding="utf-8"))}
faults += [f"runtime/README.md: {header} is {'not ' * ((header, place) in said)}included by {place}" for header, place in sorted(said ^ true)]
assert len(true) > 8, true

assert not faults, "\n".join(faults)
assert folders > 40 and rows > 300, (folders, rows)
