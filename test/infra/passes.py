# RUN: %python %s %source_dir
"""Each pass says what it decides (`--debug-only=NAME`) and counts what it did (`--mlir-pass-statistics`): its file has DEBUG_TYPE, which is
its name on the command line, a file of that type has a line of LDBG(), and its .td declares statistics that the file counts."""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
# The folders of .td files, and where their passes are.
shelves = {"passes": "**/*.cpp", "passes/LowerToTile": "**/*.cpp", "codegen/Driver/Forms": "*.cpp", "codegen/Targets/CPU": "*.cpp", "codegen/Targets/NVPTX": "**/*.cpp"}


def passes(text):
    """The definition, the name on the command line and the statistics of each pass of a .td file."""
    for match in re.finditer(r'^def (\w+) : \w*Pass<"([\w-]+)"(.*?)^}', text, re.S | re.M):
        yield match.group(1), match.group(2), re.findall(r'Statistic<"(\w+)"', match.group(3))


def complaints(table, files):
    """What a shelf's passes lack: the text of its .td files, and those of its .cpp files."""
    types = [re.findall(r'^#define DEBUG_TYPE "(.*)"$', text, re.M) for text in files]
    for definition, name, statistics in passes(table):
        own = [text for text in files if f"#define GEN_PASS_DEF_{definition.upper()}\n" in text]
        if len(own) != 1 or types[files.index(own[0])] != [name]:
            yield f'{name}: requires one file, with #define DEBUG_TYPE "{name}"'
            continue
        if not any("LDBG()" in text for text, type in zip(files, types) if type == [name]):
            yield f"{name}: requires a line of LDBG()"
        if not statistics:
            yield f"{name}: requires statistics in its .td file"
        for statistic in statistics:
            if not re.search(rf"\b{statistic}\b *(\+=|=)|\+\+{statistic}\b", own[0]):
                yield f"{name}: nothing counts {statistic}"


table = 'def A : Pass<"a"> {\n  let statistics = [Statistic<"numA", "a", "b">];\n}\n'
good = '#define DEBUG_TYPE "a"\n#define GEN_PASS_DEF_A\nLDBG() << x; ++numA;'
assert not list(complaints(table, [good])), list(complaints(table, [good]))
assert list(complaints(table, [good.replace('"a"', '"b"')])) == ['a: requires one file, with #define DEBUG_TYPE "a"']
assert list(complaints(table, [good.replace("LDBG", "x")])) == ["a: requires a line of LDBG()"]
assert list(complaints(table, [good.replace("++", "")])) == ["a: nothing counts numA"]
assert list(complaints(table.replace("Statistic", "x"), [good])) == ["a: requires statistics in its .td file"]

found, count = [], 0
for folder, pattern in shelves.items():
    table = "".join(path.read_text(encoding="utf-8") for path in sorted((source / folder).glob("*.td")))
    count += len(list(passes(table)))
    found += complaints(table, [path.read_text(encoding="utf-8") for path in sorted((source / folder).glob(pattern))])
assert count >= 50, count
assert not found, "\n".join(found)
print(f"{count} passes")
