# RUN: %python %s %source_dir
"""Options of a compilation are rows of one table (codegen/Driver/CompileOptions.cpp). What cannot link the table names options by itself; here each
such list is compared with it, so that a new option fails until someone has said whether it belongs there."""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])


def read(file):
    return (source / file).read_text(encoding="utf-8")


def names(pattern, file):
    """The options that a piece of a file writes, without dashes."""
    piece = re.search(pattern, read(file), re.S)
    assert piece, f"{file}: expected {pattern}"
    return set(re.findall(r'"-{1,2}([a-z][\w-]*)[ ="]', piece[1]))


def differences(what, found, expected):
    return [f"{what} lacks --{name}" for name in sorted(expected - found)] + [f"{what} has --{name}" for name in sorted(found - expected)]


assert differences("x", {"a", "b"}, {"b", "c"}) == ["x lacks --c", "x has --a"]
table = set(re.findall(r'\brow\("([\w-]+)"', read("codegen/Driver/CompileOptions.cpp")))
assert len(table) > 12 and "decode" in table, table

REGISTRY = "runtime/torch/Registry.cpp"
tensors, files, machines = (names(rf"kOptionsOf{kind} = \{{(.*?)\}}", REGISTRY) for kind in ("Tensors", "Files", "Machines"))
# What a function computes; which functions there are; which text it is.
computed, functions, text = {"set", "mask", "documents", "form", "chunk"}, {"states", "decode", "forward-only"}, {"spec"}
found = differences("the table of options", table, tensors | machines | computed | functions | text)

# taylorc's own: what it writes, and where.
own = set(re.findall(r'cl::opt<\w+[^>]*> \w+\{\s*"([\w-]+)"', read("codegen/tools/taylorc.cpp")))
found += [f"{REGISTRY}: taylorc has no --{name}" for name in sorted(files - own)]

# A call of the C++ operator says its sizes and dtype in fields of their own. A chunk is the target's choice, states come with `decode`, and a file with
# several specifications is one for tools.
fields = names(r"Attention::Attention\(const AttentionOptions &given\) \{(.*?)\n  checked\(", "runtime/torch/Operator.cpp")
assert "device" in fields  # the runtime's own
found += differences("runtime/torch/Operator.cpp", fields - {"device"}, table - tensors - machines - text - {"chunk", "states"})

# A cell's options that a call needs again. It does not ask which functions there are, and its tensors say the machine.
found += differences("runtime/python/taylor_attention/notebook.py", names(r"_OF_CALLS = \((.*?)\)", "runtime/python/taylor_attention/notebook.py"),
                     table - tensors - functions - {"target"})
assert not found, "\n".join(found)
