# RUN: %python %s %source_dir
"""What CONTRIBUTING.md, "Style", says of headers and constants, and what neither clang-format nor clang-tidy holds: guards by path, `///` on
declarations of headers, and names of constants outside functions."""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])


def scopes(lines):
    """Of each line, whether it begins outside of functions, initialisers and enumerations."""
    stack, text, found = [], "", []
    for line in lines:
        found.append(all(stack))
        line = re.sub(r"""//.*|"(\\.|[^"\\])*"|'(\\.|[^'\\])'""", "", line)
        for character in "" if line.startswith("#") else line:
            if character == "{":
                stack.append(bool(re.search(r'\b(namespace|class|struct|union)\b[^()=]*$|\bextern\s*$', text)))
            elif character == "}" and stack:
                stack.pop()
            text = "" if character in "{};" else text + character
        text += " "
    return found


# Its path is that of the interface, runtime/artifact.h, except for a letter's case.
OTHER_GUARDS = {"runtime/ArtifactFile.h": "TAYLOR_RUNTIME_ARTIFACTFILE_H"}


def guard(name, text):
    """A header has the guard of its path."""
    wanted = OTHER_GUARDS.get(name, "TAYLOR_" + re.sub(r"[/.-]", "_", name).upper())
    if f"\n#ifndef {wanted}\n#define {wanted}\n" not in text or "#pragma once" in text:
        yield f"{name}: expected the guard {wanted}"


# Lines that declare nothing; in a source file also what is declared elsewhere, and tests.
OTHERS = r"\s*(#|//|}|public:|private:|protected:)"
OTHERS_OF_SOURCES = OTHERS + r"|TEST|(namespace|using|extern)\b|(?!static)[^(=;]*\w::~?\w+\("


def comments(name, text):
    """A declaration's comment begins with `///`. One with `//` is a heading of several: a line that is no sentence. What a source file says of a
    declaration that stands elsewhere, or of a test, explains the code."""
    lines = text.split("\n")
    others = OTHERS if name.endswith(".h") else OTHERS_OF_SOURCES
    outside, begin = scopes(lines), 0
    for number, line in enumerate(lines):
        if not re.match(r"\s*//(?!/)", line):
            last = lines[number - 1] if number else ""
            isDeclaration = line.strip() and not re.match(others, line)
            if begin < number and number > 1 and outside[begin] and isDeclaration and (number - begin > 1 or re.search(r"[.:)]\s*$", last)):
                yield f"{name}:{begin + 1}: expected '///' before a declaration, or a heading of one line without a full stop"
            begin = number + 1


CONSTANT = re.compile(
    r"(?:\s*(?:inline |static |extern )*constexpr|(?:inline |static |extern )*const|\s+(?:inline )?static const) (?:[^=(;]*?[ *&])(\w+)(?:\[[^]]*\])* *[={]"
)


def constants(name, text):
    """A constant outside of functions is called kName."""
    lines = text.split("\n")
    for number, (line, outside) in enumerate(zip(lines, scopes(lines)), 1):
        match = CONSTANT.match(line)
        if match and outside and not re.match(r"k[A-Z0-9]|operator$", match.group(1)):
            yield f"{name}:{number}: expected kName of a constant, but got {match.group(1)}"


assert not list(guard("a/b-c.h", "//\n#ifndef TAYLOR_A_B_C_H\n#define TAYLOR_A_B_C_H\n")) and list(guard("a/b.h", "\n#pragma once\n"))
assert not list(comments("x", "// File.\n\n/// F.\nint f();\nvoid g() {\n  // Why.\n  f();\n}\n// Heading\nint h();\n"))
assert list(comments("x", "\n\nstruct S {\n  // A member.\n  int x;\n};\n")) and list(comments("x", "\n\n// Two\n// lines\nint x;\n"))
assert list(comments("x.cpp", "\n\n// What it is.\nint f() {\n}\n")) and not list(comments("x.cpp", "\n\n// Why so.\nint S::f() {\n}\n// So.\nTEST(A, B) {\n}\n"))
assert not list(constants("x", "constexpr int kMost = 1;\nvoid f() {\n  constexpr int most = 1;\n}\n"))
assert not list(constants("x", "const X *f(int i) {\n  const int most = 1;\n}\nstruct S {\n  const X *p = nullptr;\n};\nconst X &kX = y();\n"))
assert list(constants("x", "static const int most[] = {1};")) and list(constants("x", "const std::string most = one();"))
assert list(constants("x", "struct S {\n  static const X *most = f();\n};\n")) and list(constants("x", "const char *const most =\n    1;"))
assert list(constants("x", "struct S {\n  static constexpr StringRef partAxis = 1;\n};\n")) and list(constants("x", "constexpr double most[] = {1};"))

folders = ("dialect", "passes", "codegen", "runtime", "trainer", "test")
names = sorted(path.relative_to(source).as_posix() for folder in folders for path in (source / folder).rglob("*") if path.suffix in (".h", ".cpp"))
assert len({re.sub(r"[/.-]", "_", name).upper() for name in names if name not in OTHER_GUARDS}) == len(names) - len(OTHER_GUARDS)
found = []
for name in names:
    text = (source / name).read_text(encoding="utf-8")
    if name.endswith(".h"):
        found += guard(name, text)
    found += comments(name, text)
    found += [] if name.startswith("test/") else constants(name, text)
assert len(names) > 500, len(names)
assert not found, "\n".join(found)
print(f"{len(names)} files")
