# RUN: %python %s %source_dir
"""The compiler, the runtime and the trainer name an axis that has a role by AxisRole (dialect/AxisRole.h) and not by its letter: a typing error in a
letter is none of the C++ compiler's."""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
table = "dialect/AxisRole.h"
names = re.search(r"names\[\] = \{(.*?)\};", (source / table).read_text(encoding="utf-8")).group(1)
assert len(re.findall(r'"\w+"', names)) == 9, names
axis = "(?:" + "|".join(re.findall(r'"\w+"', names)) + ")"
# What these files mean by such a text is no axis: the exponent of a number, an option of the command line, a setting.
others = {"dialect/Taylor/FormulaParser.cpp": 'consume_front("e")', "dialect/Taylor/FormulaPrinter.cpp": 'mantissa + "e"',
          "codegen/Driver/CommandLine.cpp": 'name == "h"', "trainer/config/Config.cpp": 's.add("lag"'}
# In the compiler any such literal; in the runtime, and in what .td files have of C++, where it is compared or looked up.
anywhere = re.compile(axis)
compared = re.compile(rf"[=!]= *{axis}|{axis} *[=!]=|\? *{axis}(?! \+)|\b(?:has|find|sizeOf|contains|take)\({axis}")


def code(line):
    return re.split(r"(?:^|\s)//", line)[0]


assert anywhere.search(code('array.has("lag") // "t"')) and not anywhere.search(code('x; // "t"')) and not anywhere.search('"offset"')
assert compared.search('axis != "u"') and compared.search('has("t") ? "t" : "u"') and not compared.search('`taylor.index "t" : f64`')
found, files = [], 0
for folder in ("dialect", "passes", "codegen", "runtime", "trainer"):
    for path in sorted((source / folder).rglob("*")):
        name = path.relative_to(source).as_posix()
        if path.suffix not in (".cpp", ".h", ".td") or name == table:
            continue
        files += 1
        pattern = compared if path.suffix == ".td" or folder == "runtime" else anywhere
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if pattern.search(code(line).replace(others.get(name, "\n"), "")):
                found.append(f"{name}:{number}: {line.strip()}")
assert files > 200, files
assert not found, "expected AxisRole in place of the axis' letter:\n" + "\n".join(found)
print(f"{files} files")
