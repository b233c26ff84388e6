# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""runtime/python/README.md is right: its program prints the text that follows, each row of its tables of Python and dialect is what the builder writes,
and the tables have every function of the package."""
import contextlib
import io
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "runtime/python"))
import taylor_attention as ta

PAGE = (ROOT / "runtime/python/README.md").read_text()
SIGNATURE = """q, k, v, L=ta.projection("b g u"), x=ta.projection("b h t"), y=ta.projection("b h t"), n=ta.projection("b h t e"),
    w=ta.parameter("e", "ones"), a=ta.parameter("e", "zeros"), taps=ta.parameter("h d j=4", 0.0), D=ta.input("b u"), H=ta.input("b g e f"), *, order=4, window=64"""


def rows(section):
    """Pairs of cells below a heading; a cell may list several, with commas."""
    text = re.search(rf"^### {section}\n(.*?)(?=^##)", PAGE, re.M | re.S)[1]
    table = [re.split(r" (?<!\\)\| ", line.strip("| ")) for line in text.splitlines() if line.startswith("| `")]
    pairs = [tuple(re.findall(r"`([^`]+)`", cell.replace("\\|", "|")) for cell in row) for row in table]
    return [pair for python, dialect in pairs for pair in (zip(python, dialect, strict=True) if len(python) == len(dialect) else [(python[0], dialect[0])])]


def written(signature, *lines):
    scope = {"ta": ta}
    exec(f"@ta.spec\ndef row({signature}):\n    " + "\n    ".join(lines), scope)
    return scope["row"].mlir


class Readme(unittest.TestCase):
    def check(self, python, dialect, text, after):
        with self.subTest(python=python):
            text = re.sub(r"\s+", " ", text.partition("taylor.spec @row")[2])
            self.assertTrue(re.search(re.escape(re.sub(r"\s+", " ", dialect)) + after, text), f"expected {dialect}, but got {text}")

    def test_the_program(self):
        program, text = re.search(r"```python\n(.*?)```\n\n```mlir\n(.*?)```", PAGE, re.S).groups()
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(program, "README", "exec"), {})
        self.assertEqual(output.getvalue().rstrip(), text.rstrip())

    def test_arguments(self):
        self.assertEqual(len(rows("Arguments")), 10)
        for python, dialect in rows("Arguments"):
            self.check(python, dialect, written(python, "return ta.map(1.0)"), r"[,)]| \{")

    def test_operations(self):
        self.assertGreater(len(rows("Operations")), 30)
        for python, dialect in rows("Operations"):
            self.check(python, dialect, written(SIGNATURE, python if python.startswith("return") else f"return {python}"), "( :| ->| %| taylor.yield)")

    def test_formulas(self):
        self.assertGreater(len(rows("Formulas")), 15)
        for python, dialect in rows("Formulas"):
            self.check(python, f"taylor.map {dialect}", written(SIGNATURE, f"return ta.map({python})"), " :")

    def test_the_tables_are_complete(self):
        tables = PAGE[PAGE.index("### Arguments"):PAGE.index("## Messages")]
        from taylor_attention import functions, operations, pairs
        names = {name for module in (functions, operations, pairs) for name in vars(module) if name.islower() and name[0] != "_" and getattr(ta, name, None) is vars(module)[name]}
        names -= {"abs", "pow", "logical_and", "logical_or", "logical_not", "size"}  # operators
        self.assertGreater(len(names), 35)
        self.assertEqual({name for name in names if f"ta.{name}(" not in tables and f"=ta.{name})" not in tables}, set())


if __name__ == "__main__":
    unittest.main()
