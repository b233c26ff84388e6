# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s
# REQUIRES: torch, taylorc
# UNSUPPORTED: sanitizer
"""What a Spec shows: its explain page, its weights and their plot; cells of notebooks, on a stand-in for IPython's shell; and the compiler's messages,
which stand at the line of Python wherever a Spec is compiled. The line of a fault ends in a comment `# fault`."""
import contextlib
import copy
import importlib.util
import io
import math
import os
import pathlib
import pickle
import re
import sys
import tempfile
import unittest
import unittest.mock
import webbrowser

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "runtime/python"), str(ROOT / "examples/python/specs")]
import taylor_attention as ta
import torch
from beyond.alibi import alibi
from beyond.differential import differential
from beyond.sliding_window import sliding_window
from decay_gates import decay_gates
from linear_cosine import linear_cosine
from softmax_taylor import softmax_taylor

LINES = pathlib.Path(__file__).read_text().splitlines()


@ta.spec
def norm_of_no_channel(q, k, v):
    n, z = ta.recurrences(q, k, v, sums=("numerator", "mass"))
    return n, ta.normalize("rms", z, epsilon=1e-5)  # fault


@ta.spec
def rotated(q, k, v):
    n, z = ta.recurrences(ta.rope(q), k, v, sums=("numerator", "mass"))  # fault
    return n / z


def line_of(spec):
    first = next(number for number, line in enumerate(LINES) if line.startswith(f"def {spec.name}("))
    return next(number for number, line in enumerate(LINES, 1) if number > first and line.endswith("# fault"))


class Messages(unittest.TestCase):
    def check(self, spec, words, call):
        with self.assertRaises(Exception) as caught:
            call()
        text = str(caught.exception)
        self.assertIn(f"\n{__file__}:{line_of(spec)}: error: ", text)
        self.assertIn(words, text)
        self.assertIn(LINES[line_of(spec) - 1].strip(), text)
        self.assertNotIn("\n       ", text)  # the place in the text, with its caret
        return caught.exception

    def test_a_fault_of_the_specification(self):
        q, words = torch.randn(1, 2, 4, 8), "requires axis 'e' of its operand, but got '!taylor.array<[b, h, t]>'"
        faulty = norm_of_no_channel
        for call in (lambda: ta.attention(q, q, q, spec=faulty), lambda: ta.attention(q, q, q, spec=faulty.mlir), lambda: ta.Decoder(faulty, head_dim=8),
                     faulty.explain, faulty.weights, lambda: ta.attention(q, q, q, spec=copy.deepcopy(faulty)),
                     lambda: ta.attention(q, q, q, spec=pickle.loads(pickle.dumps(faulty)))):
            error = self.check(faulty, words, call)
            self.assertIs(type(error), RuntimeError)
            self.assertTrue(str(error).startswith("taylor: taylorc could not compile specification text"), error)
        torch._dynamo.reset()
        self.check(faulty, words, lambda: torch.compile(lambda x: ta.attention(x, x, x, spec=faulty), backend="eager", fullgraph=True)(q))

    def test_a_fault_of_sizes(self):
        q, v, words = torch.randn(1, 2, 4, 7), torch.randn(1, 2, 4, 8), "requires an even size of axis 'd' to rotate, but got 7"
        for call in (lambda: ta.attention(q, q, v, spec=rotated), lambda: ta.attention(q.to("meta"), q.to("meta"), v.to("meta"), spec=rotated),
                     lambda: ta.Decoder(rotated, head_dim=7), lambda: rotated.weights(head_dim=7), lambda: rotated.explain(options="--head-dim=7")):
            self.check(rotated, words, call)

    def test_others_stay(self):
        text = norm_of_no_channel.mlir + "\n"  # of no Spec
        q = torch.randn(1, 2, 4, 8)
        with self.assertRaisesRegex(RuntimeError, r"specification text:\d+:\d+: error"):
            ta.attention(q, q, q, spec=text)
        with self.assertRaisesRegex(RuntimeError, "expected 3 inputs"):
            ta.attention(q, spec=rotated)


class Explain(unittest.TestCase):
    def test_page(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "page.html")
            page = rotated.explain(path, options="--head-dim=16")
            self.assertEqual((page.path, os.fspath(page)), (path, str(path)))
            text = path.read_text()
            self.assertIn("taylor.recurrences", text)
            shown = page._repr_html_()
            self.assertTrue(shown.startswith("<iframe srcdoc=\"") and "<!" not in shown and "taylor.recurrences" in shown)
            opened, was = [], webbrowser.open
            webbrowser.open = lambda address: opened.append(address) or True
            try:
                self.assertTrue(page.open())
            finally:
                webbrowser.open = was
            self.assertEqual(opened, [path.resolve().as_uri()])

    def test_temporary_file(self):
        before, tempfile.tempdir = tempfile.tempdir, tempfile.mkdtemp()
        try:
            page = rotated.explain(options="--head-dim=16")
            self.assertEqual([page.path], list(pathlib.Path(tempfile.tempdir).iterdir()))
            page.path.unlink()
            with self.assertRaises(RuntimeError):
                norm_of_no_channel.explain()
            self.assertEqual(list(pathlib.Path(tempfile.tempdir).iterdir()), [])
            os.rmdir(tempfile.tempdir)
        finally:
            tempfile.tempdir = before


class Shell:
    """As much of IPython's as the extension asks for."""

    def __init__(self):
        self.user_ns, self.magics = {}, {}

    def register_magic_function(self, function, magic_kind="line", magic_name=None):
        self.magics[magic_kind, magic_name] = function


class Notebook(unittest.TestCase):
    def setUp(self):
        self.shell = Shell()
        ta.load_ipython_extension(self.shell)
        self.run_cell = self.shell.magics["cell", "taylor"]

    def printed(self, line, cell):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            self.assertIsNone(self.run_cell(line, cell))
        return output.getvalue()

    def test_cells(self):
        text = rotated.mlir
        self.assertEqual(self.printed("", text), "rotated: q [b, h, t, d], k [b, g, u, d], v [b, g, u, e] -> o [b, h, t, e]\n")
        self.assertEqual(self.shell.user_ns, {"rotated": text})
        self.assertEqual((str(self.shell.user_ns["rotated"]), repr(self.shell.user_ns["rotated"])), (text, "<ta.spec rotated(q, k, v)>"))
        q = torch.randn(1, 2, 4, 8)
        self.assertTrue(torch.equal(ta.attention(q, q, q, spec=self.shell.user_ns["rotated"]), ta.attention(q, q, q, spec=rotated)))
        printed = self.printed("mine --set order=2 --mask=causal", (ROOT / "examples/specs/softmax-taylor.mlir").read_text())
        self.assertIn("mine: q [", printed)
        self.assertIn("mine is the text alone; a call with these options is ta.attention(.., spec=mine, options='--set order=2 --mask=causal')\n", printed)
        self.assertIn("taylor.spec @", self.shell.user_ns["mine"])
        self.assertIn("warning: a series with the odd top order 3", self.printed("--set order=3", (ROOT / "examples/specs/softmax-taylor.mlir").read_text()))

    def test_a_cell_is_a_specification(self):
        """What a Spec has, of the shipped texts: the same as their twins in Python."""
        for file, twin, more in (("decay-gates", decay_gates, {"decay_gate": -3.0}), ("softmax-taylor", softmax_taylor, {"parameters": {"order": 4}}),
                                 ("linear-cosine", linear_cosine, {}), ("beyond/alibi", alibi, {}), ("beyond/differential", differential, {}),
                                 ("beyond/sliding-window", sliding_window, {"options": "--set window=30"})):
            with self.subTest(file):
                text = (ROOT / f"examples/specs/{file}.mlir").read_text()
                self.printed("cell", text)
                cell = self.shell.user_ns["cell"]
                self.assertIsInstance(cell, ta.Spec)
                self.assertEqual((cell.name, cell.mlir, [x.name for x in cell.arguments], [x.type for x in cell.arguments], cell.parameters, cell.results),
                                 (twin.name, text, [x.name for x in twin.arguments], [x.type for x in twin.arguments], twin.parameters, twin.results))
                given = dict(points=5, keys=40, head_dim=16, **more)
                for a, b in zip(cell.weights(**given), twin.weights(**given), strict=True):
                    self.assertEqual(a.name, b.name)
                    self.assertTrue(torch.equal(a.of_scores, b.of_scores) and torch.equal(a.row, b.row))
        for copied in (copy.deepcopy(cell), pickle.loads(pickle.dumps(cell)), copy.copy(cell)):
            self.assertEqual((type(copied), copied, repr(copied)), (type(cell), cell, repr(cell)))
            self.assertEqual(len(copied.weights(points=5, keys=4, head_dim=16)), 1)
        with self.assertRaisesRegex(TypeError, r"unsupported keyword argument 'window', a parameter of sliding_window; write parameters=\{'window': 4\}"):
            cell.weights(window=4)
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("sliding_window", cell.explain(pathlib.Path(folder, "page.html"), options="--head-dim=16").path.read_text())
            pathlib.Path(folder, "cell.mlir").write_text(cell)
        if importlib.util.find_spec("matplotlib"):
            self.assertEqual(cell.plot(points=3, keys=5, head_dim=16).get_suptitle(), "sliding_window")
        q = torch.randn(1, 2, 4, 16)
        compiled = torch.compile(lambda x: ta.attention(x, x, x, spec=cell), backend="eager", fullgraph=True)
        self.assertTrue(torch.equal(compiled(q), ta.attention(q, q, q, spec=cell)))

    def test_of_every_text_the_sums(self):
        """Each shipped file of one specification is read: a text of its sums, which the compiler takes."""
        from taylor_attention.read import Written
        for path in sorted((ROOT / "examples/specs").rglob("*.mlir")):
            text = path.read_text()
            names = re.findall(r"^taylor\.spec @(\w+)", text, re.M)
            with self.subTest(path.name):
                for name in names:
                    self.assertIsNotNone(Written(text, name)._probe, name)

    def test_a_sum_in_generic_form(self):
        """The compiler takes it; weights are read of what taylor-opt prints."""
        text, = re.findall(r"^.*taylor\.recurrences.*$", rotated.mlir, re.M)
        results, operands, types = re.fullmatch(r"\s*(.*) = taylor\.recurrences \[numerator, mass\] (.*) exponential causal : (.*)", text).groups()
        generic = (f'  {results} = "taylor.recurrences"({operands}) <{{all_orders, mask = #taylor<mask causal>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, '
                   "sums = [#taylor<sum numerator>, #taylor<sum mass>]}> ({\n"
                   '    %d = "taylor.size"() <{axis = "d"}> : () -> f64\n    %scale = math.rsqrt %d : f64\n    "taylor.yield"(%scale) : (f64) -> ()\n'
                   f"  }}, {{}}, {{}}, {{}}) : ({types}) -> (!taylor.array<[b, h, t, e]>, !taylor.array<[b, h, t]>)")
        self.printed("cell", rotated.mlir.replace(text, generic))
        cell = self.shell.user_ns["cell"]
        q = torch.randn(1, 2, 4, 8)
        self.assertTrue(torch.equal(ta.attention(q, q, q, spec=cell), ta.attention(q, q, q, spec=rotated)))
        with self.assertRaises(ValueError) as caught:
            cell.weights(head_dim=16)
        self.assertEqual(str(caught.exception), "unsupported spelling of a sum over keys in rotated; write it as taylor-opt prints it: "
                         "%n = taylor.recurrences %q, %k, %v exponential causal : !q, !k, !v")

    def test_options_of_calls(self):
        self.assertTrue(self.printed("mine --head-dim=8 --dtype bf16", rotated.mlir).endswith("-> o [b, h, t, e]\n"))
        self.assertIn("options='--mask bidirectional')", self.printed("mine --dtype=bf16 --mask bidirectional --head-dim 8", rotated.mlir))
        series = (ROOT / "examples/specs/softmax-taylor.mlir").read_text()
        self.assertIn("options='--set order=2 --form=chunked --chunk=128')",
                      self.printed("mine --set order=2 --forward-only --form=chunked --chunk=128", series))

    def test_faults(self):
        faulty = rotated.mlir.replace("exponential causal", "exponential causl") + "\n"
        line = next(number for number, text in enumerate(faulty.splitlines(), 2) if "causl" in text)  # 1: %%taylor
        with self.assertRaises(RuntimeError) as caught:
            self.run_cell("", faulty)
        shown = caught.exception._render_traceback_()
        self.assertEqual(shown[0], "taylor: taylorc could not compile cell")
        self.assertRegex(shown[1], rf"^cell:{line}:\d+: error: .*did you mean 'causal'")
        self.assertIn("causl", shown[2])
        self.assertEqual(shown[3].strip(), "^")
        self.assertEqual(shown[3].index("^"), shown[2].index("causl"))
        self.assertEqual(self.shell.user_ns, {})
        for name, kind in (("rotated", torch), ("mine", len), ("mine", Shell)):
            self.shell.user_ns = {name: kind}
            with self.assertRaises(RuntimeError) as caught:
                self.run_cell("" if name == "rotated" else name, rotated.mlir)
            self.assertEqual(str(caught.exception), f"expected a variable for the text, but got '{name}', which is a {type(kind).__name__} here; "
                             "name another: %%taylor VARIABLE")
            self.assertEqual(self.shell.user_ns, {name: kind})
        self.shell.user_ns = {}
        for line, message in (("mine --set 'order=2", "expected %%taylor [VARIABLE] [OPTION ..], but got 'mine --set 'order=2': No closing quotation"),
                              ("mine -o a.so", "unsupported option -o in a cell"), ("a-b", "expected %%taylor [VARIABLE] [OPTION ..], but got 'a-b', which is no name of a variable"), ("--no-such-option", "no-such-option")):
            with self.assertRaises(RuntimeError) as caught:
                self.run_cell(line, rotated.mlir)
            self.assertIn(message, str(caught.exception))


class Weights(unittest.TestCase):
    def close(self, a, b):
        self.assertEqual(a.shape, b.shape)
        self.assertLess((a - b).abs().max().item(), 1e-12 * b.abs().max().item())

    def test_of_scores(self):
        s = torch.linspace(-6, 6, 241, dtype=torch.float64)
        weights, = rotated.weights(head_dim=16)
        self.assertEqual(weights.name, "n")
        self.close(weights.scores, s)
        self.close(weights.of_scores, s.exp())
        weights, = softmax_taylor.weights(points=13, options="--set order=3", head_dim=16)
        s = weights.scores
        self.close(weights.of_scores, 1 + s + s**2 / 2 + s**3 / 6)
        weights, = decay_gates.weights(points=13, scores=(0, 8), head_dim=16)
        self.close(weights.of_scores, weights.scores.clamp(max=5).exp())
        weights, = linear_cosine.weights(points=13, head_dim=16)  # of any score, though a cosine's are within 1
        self.close(weights.of_scores, weights.scores)

    def test_rows(self):
        lags = torch.arange(99, -1, -1, dtype=torch.float64)
        weights, = alibi.weights(keys=100, heads=4, head_dim=16, score=0.5)
        slopes = 2.0 ** (-2.0 * torch.arange(1, 5, dtype=torch.float64))
        self.close(weights.row, (0.5 - slopes[:, None] * lags).exp())
        weights, = sliding_window.weights(keys=100, heads=1, head_dim=16, options="--set window=30")
        self.assertEqual(weights.row[0].count_nonzero().item(), 30)
        self.assertEqual(weights.row[0, :70].abs().sum().item(), 0)
        weights, = decay_gates.weights(keys=100, heads=1, head_dim=16, decay_gate=-32.0, in_gate=0.0)
        self.close(weights.row[0], 0.5 * (1 - lags / 32).exp())
        one, two = differential.weights(keys=3, head_dim=16)
        self.assertEqual((one.name, two.name), ("n1", "n2"))
        self.assertTrue(torch.equal(one.row, two.row))

    def test_a_copy_has_them(self):
        for spec in (copy.deepcopy(rotated), pickle.loads(pickle.dumps(rotated))):
            self.assertTrue(torch.equal(spec.weights(head_dim=16)[0].row, rotated.weights(head_dim=16)[0].row))

    def test_messages(self):
        @ta.spec
        def by_hand(q, k, v):
            return ta.pairwise(ta.rows(ta.dot(q, k), v, axes="b h t e"), visible=ta.u <= ta.t)

        for call, kind, message in (
                (by_hand.weights, ValueError, "requires a sum over keys (ta.recurrences, ta.recurrence) in by_hand: of ta.pairwise the weights are what its formulas say"),
                (lambda: rotated.weights(gate=1.0), TypeError, "unsupported keyword argument 'gate' of rotated.weights, which has q, k, v, scores, points, keys, heads, head_dim, score, options, parameters and mask; a parameter of the specification is given as parameters={'gate': 1.0}"),
                (lambda: rotated.weights(scores=(1, 1)), ValueError, "expected two scores, the least first, but got (1, 1)"),
                (lambda: rotated.weights(keys=0), ValueError, "expected at least 1 for keys, but got 0")):
            with self.assertRaises(kind) as caught:
                call()
            self.assertEqual(str(caught.exception), message)


class Plot(unittest.TestCase):
    def test_without_matplotlib(self):
        with unittest.mock.patch.dict(sys.modules, {"matplotlib": None, "matplotlib.figure": None}), self.assertRaises(ImportError) as caught:
            rotated.plot()
        self.assertEqual(str(caught.exception), "requires matplotlib: pip install matplotlib; the numbers alone are those of rotated.weights()")

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "requires matplotlib")
    def test_lines(self):
        figure = alibi.plot(points=3, keys=5, heads=2, head_dim=16)
        left, right = figure.axes
        self.assertEqual(figure.get_suptitle(), "alibi")
        self.assertEqual([round(math.log(y), 9) for y in left.lines[0].get_ydata()], [-6, 0, 6])
        self.assertEqual([line.get_label() for line in right.lines], ["head 0", "head 1"])
        self.assertEqual([text.get_text() for text in right.get_legend().get_texts()], ["head 0", "head 1"])
        _, right = rotated.plot(points=3, keys=5, heads=2, head_dim=16).axes
        self.assertEqual((len(right.lines), right.get_legend()), (1, None))
        self.assertTrue(figure._repr_png_().startswith(b"\x89PNG"))
        self.assertTrue(pickle.loads(pickle.dumps(figure))._repr_png_().startswith(b"\x89PNG"))


if __name__ == "__main__":
    unittest.main()
