# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: compiler
# RUN: %python %s
"""Each file of examples/specs has a twin in examples/python/specs, whose text is the same module in canonical form: argument names, sources,
parameters, name and results are equal as they stand, operations up to their order and the names of values. Its docstring is the comment."""
import importlib.util
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "runtime/python"))
import taylor_attention as ta

FILES = sorted((ROOT / "examples/specs").rglob("*.mlir"))
MARK = "// -----\n"


def twin(path):
    folder = ROOT / "examples/python/specs" / path.parent.relative_to(ROOT / "examples/specs")
    return folder / (path.stem.replace("-", "_") + ".py")


def load(path):
    """The one specification of a file."""
    description = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(description)
    description.loader.exec_module(module)
    spec, = (value for value in vars(module).values() if isinstance(value, ta.Spec))
    return spec


def canonical(texts):
    """Canonical forms, all from one process."""
    result = subprocess.run(["taylor-opt", "--split-input-file", "--canonicalize", "--cse", "--mlir-print-local-scope"], input=MARK.join(texts),
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.split(MARK)


def normal_form(module):
    """The head, and operations in the order in which the results need them, their results numbered so."""
    head, = re.findall(r"^  taylor\.spec .*$", module, re.M)
    body = re.findall(r"^    (.*)$", module, re.M)
    made = dict(match.group(1, 2) for line in body if (match := re.match(r"%(\w+)(?::\d+)? = (.*)", line)))
    numbers, lines = {}, []

    def operands(text):
        return re.sub(r"%(\w+)", lambda match: f"%{place(match[1])}", text)

    def place(name):
        if name not in made:
            return name
        if name not in numbers:
            text = operands(made[name])
            numbers[name] = f"v{len(numbers)}"
            lines.append(f"%{numbers[name]} = {text}")
        return numbers[name]

    assert body[-1].startswith("taylor.yield"), module
    last = operands(body[-1])
    assert len(lines) == len(body) - 1, f"operations that no result needs: {module}"
    return [head, *lines, last]


class Twins(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.specs = {path: load(twin(path)) for path in FILES if twin(path).exists()}

    def test_each_file_has_one(self):
        self.assertEqual([str(path) for path in FILES if path not in self.specs], [])
        known = {twin(path) for path in FILES}
        self.assertEqual([str(path) for path in (ROOT / "examples/python/specs").rglob("*.py") if path not in known], [])
        self.assertGreaterEqual(len(FILES), 57)

    def test_both_are_one_module(self):
        paths = list(self.specs)
        forms = canonical([text for path in paths for text in (path.read_text(), self.specs[path].mlir)])
        self.assertEqual(len(forms), 2 * len(paths))
        for path, written, traced in zip(paths, forms[::2], forms[1::2]):
            with self.subTest(path=path.stem):
                self.assertEqual(normal_form(written), normal_form(traced))

    def test_docstrings_are_the_comments(self):
        def comment(text):
            lines = [line[2:].strip() for line in text.splitlines() if line.startswith("//")]
            return "\n".join(lines).strip()

        for path, spec in self.specs.items():
            with self.subTest(path=path.stem):
                self.assertEqual(comment(path.read_text()), comment(spec.mlir))


if __name__ == "__main__":
    unittest.main()
