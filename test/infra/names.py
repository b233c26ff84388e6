# RUN: %python %s %source_dir
"""One meaning a name: no two classes or enums at namespace scope have one name in one program, whatever their namespaces (CONTRIBUTING.md, "Style").
A pass of a .td file is a class too. Classes of operations, which TableGen makes, are named with their dialect, as in all of MLIR: tile::StoreOp,
fusion::StoreOp."""
import collections
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
# What is linked together; `stable` is the wheel's library, which has its own copy of what libtorch's interface needs.
core = ["runtime/*.*", "runtime/cuda/*", "runtime/ptx/*"]
torch = [*core, "runtime/torch/*"]
compiler = ["dialect/**/*", "passes/**/*", "codegen/**/*", *core]
PROGRAMS = {
    "taylorc and taylor-run": compiler,
    "taylor-train": [*torch, "trainer/**/*"],
    "taylor-bench": [*torch, "runtime/lab/bench/*"],
    "the wheel's operators": [*core, "runtime/torch/stable/*"],
    "toy-taylorc": [*compiler, "test/codegen/toy-target/*"],
    "taylor-tile-check": [*compiler, "test/codegen/tile-check/*"],
    "taylor-mutants": [*compiler, "test/endtoend/mutants/*"],
}
CLASS = re.compile(r"(?:^|[\s>])(?:class|struct|enum class|enum|union) (?:\[\[\w+\]\] )?(?:alignas\(\d+\) )?(\w+)(?: final)?\s*(?::(?!:)[^()]*)?$")
PASS = re.compile(r"^def (\w+) *: Pass<", re.M)  # of a .td file
QUIET = re.compile(r"""//[^\n]*|/\*.*?\*/|^#(?:\\\n|[^\n])*|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'""", re.M | re.S)


def classes(text):
    """Names of the classes and enums that a text defines outside functions, nested ones after their class: Outer::Inner."""
    yield from (f"pass {match[1].removesuffix('Pass')}" for match in PASS.finditer(text))
    scopes, begin = [], 0  # of each open brace: the class's name, "" for a namespace, None within a function or an initialiser
    text = QUIET.sub(" ", text)
    for match in re.finditer(r"[{};]", text):
        head, begin = text[begin : match.start()].strip(), match.end()
        if match[0] == "}" and scopes:
            scopes.pop()
        elif match[0] == "{":
            found = CLASS.search(head)
            scopes.append(found[1] if found else "" if re.search(r"\bnamespace\b[^()]*$|\bextern\s*$", head) else None)
            if found and None not in scopes:
                yield "::".join(filter(None, scopes))


def doubles(files):
    """Names that several of the files define, with the files. A class within a class has its own meaning, but not next to one of its name: neither is
    read without the other in its folder."""
    found, folders = collections.defaultdict(set), collections.defaultdict(lambda: collections.defaultdict(set))
    for name, text in files.items():
        for one in classes(text):
            found[one].add(name)
            if "::" not in one or name.endswith(".h"):
                folders[name.rpartition("/")[0], one.split("::")[-1]][one].add(name)
    faults = [(name, sorted(places)) for name, places in found.items() if len(places) > 1]
    faults += [(f"{name} in {folder}", sorted(f"{place} ({one})" for one, places in ones.items() for place in places)) for (folder, name), ones in folders.items() if len(ones) > 1 and name in ones]
    return [f"{name}: {', '.join(places)}" for name, places in sorted(faults)]


assert doubles({"a": "struct X {", "b": "namespace n {\nclass X : public Y {\n"}) == ["X: a, b"]
assert doubles({"a": "namespace a {\n  struct X {};\n}", "b": "namespace b { namespace {\n    class X {\n"}) == ["X: a, b"]
assert doubles({"a.td": 'def X : Pass<"a"> {', "b.td": 'def XPass : Pass<"b"> {', "c": "struct X {"}) == ["pass X: a.td, b.td"]
assert not doubles({"a": "struct X {", "b": "struct X;\nstruct X::Y {\n  struct X {\nstruct XY {"})
assert not doubles({"a.h": "class A {\n  struct Entry {\n  };\n};", "b.h": "class B {\n  struct Entry {", "c": "void f() {\n  struct A {"})
assert doubles({"f/a.h": "class A {\n  struct Entry {\n  };\n};", "f/b.h": "struct Entry {"}) == ["Entry in f: f/a.h (A::Entry), f/b.h (Entry)"]
assert not doubles({"f/a.h": "class A {\n  struct Entry {\n  };\n};", "g/b.h": "struct Entry {"})

faults = []
for program, patterns in PROGRAMS.items():
    paths = sorted({path for pattern in patterns for path in source.glob(pattern) if path.suffix in (".h", ".cpp", ".td")})
    assert len(paths) > 50, (program, len(paths))
    faults += [f"{program}: {line}" for line in doubles({path.relative_to(source).as_posix(): path.read_text(encoding="utf-8") for path in paths})]
assert not faults, "two meanings of a name; rename one:\n" + "\n".join(faults)
