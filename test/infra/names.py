# RUN: %python %s %source_dir
"""One meaning a name: no two classes or enums at namespace scope have one name in one program, whatever their namespaces (CONTRIBUTING.md, "Style").
Classes of operations, which TableGen makes, are named with their dialect, as in all of MLIR: tile::StoreOp, fusion::StoreOp."""
import collections
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
# What is linked together; `stable` is the wheel's library, which has its own copy of what libtorch's interface needs.
core = ["runtime/*.*", "runtime/cuda/*", "runtime/ptx/*"]
torch = [*core, "runtime/torch/*"]
PROGRAMS = {
    "taylorc and taylor-run": ["dialect/**/*", "passes/**/*", "codegen/**/*", *core],
    "taylor-train": [*torch, "trainer/**/*"],
    "taylor-bench": [*torch, "runtime/lab/bench/*"],
    "the wheel's operators": [*core, "runtime/torch/stable/*"],
}
DEFINITION = re.compile(r"^(?:template ?<[^\n]*>\s*)?(?:class|struct|enum class|enum|union) (?:\[\[\w+\]\] )?(?:alignas\(\d+\) )?(\w+)(?!\w|::)(?: final)?\s*(?::[^;{]*)?\{", re.M)


def doubles(files):
    """Names that several of the files define, with the files."""
    found = collections.defaultdict(set)
    for name, text in files.items():
        for match in DEFINITION.finditer(text):
            found[match[1]].add(name)
    return [f"{name}: {', '.join(sorted(places))}" for name, places in sorted(found.items()) if len(places) > 1]


assert doubles({"a": "struct X {", "b": "namespace n {\nclass X : public Y {\n"}) == ["X: a, b"]
assert not doubles({"a": "struct X {", "b": "struct X;\nstruct X::Y {\n  struct X {\nstruct XY {"})

faults = []
for program, patterns in PROGRAMS.items():
    paths = sorted({path for pattern in patterns for path in source.glob(pattern) if path.suffix in (".h", ".cpp")})
    assert len(paths) > 50, (program, len(paths))
    faults += [f"{program}: {line}" for line in doubles({path.relative_to(source).as_posix(): path.read_text(encoding="utf-8") for path in paths})]
assert not faults, "two meanings of a name; rename one:\n" + "\n".join(faults)
