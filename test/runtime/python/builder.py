# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: compiler
# RUN: %python %s %t
"""@ta.spec itself: names of values, parts of formulas, places, mistakes that are Python's own; and a text that computes what it says."""
import copy
import math
import pathlib
import pickle
import re
import subprocess
import sys
import textwrap
import threading
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "runtime/python"))
import taylor_attention as ta

FOLDER = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "/tmp/taylor-builder-test")


def body(spec):
    """The lines of the operations."""
    text = spec.mlir
    return textwrap.dedent(text[text.index("{\n") + 2:text.rindex("}")]).splitlines()


class Names(unittest.TestCase):
    def test_variables_name_values(self):
        @ta.spec
        def names(q, k, v, gate=ta.projection("b h t")):
            qr, kr = ta.rope(q), ta.rope(k)
            n, z = ta.recurrences(qr, kr, ta.relu(v), sums=("numerator", "mass"))
            y = ta.sigmoid(gate) * n / z
            unit = ta.normalize("l2", y, epsilon=1e-12)
            return unit

        self.assertEqual(body(names), [
            "%qr = taylor.rope %q : !bhtd", "%kr = taylor.rope %k : !bgud", "%x0 = taylor.map relu(%v) : !bgue",
            "%n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %x0 exponential causal : !bhtd, !bgud, !bgue",
            "%y = taylor.map sigmoid(%gate) * %n / %z : !bht, !bhte, !bht",
            "%unit = taylor.normalize l2 %y epsilon(1.0e-12) : !bhte", "taylor.yield %unit : !bhte"])
        self.assertEqual(names.results, ("unit",))
        self.assertEqual([argument.name for argument in names.arguments], ["q", "k", "v", "gate"])

    def test_a_variable_that_is_used_again(self):
        @ta.spec
        def again(q):
            q = ta.rope(q)
            q = ta.normalize("l2", q, over="d", epsilon=0)
            pair = [ta.rope(q), ta.relu(q)]
            return ta.map(pair[0] + pair[1])

        self.assertEqual([line.split(" = ")[0] for line in body(again)], ["%q_1", "%q_2", "%pair_0", "%o", "taylor.yield %o : !bhtd"])

    def test_helpers_and_comprehensions(self):
        def turned(x):
            inner = ta.rope(x)
            return inner

        @ta.spec
        def helped(q, k1, k2, v):
            qr = turned(q)
            first, second = (ta.recurrences(qr, turned(k), v) for k in (k1, k2))
            return first - second

        self.assertEqual([line.split(" = ")[0] for line in body(helped)][:-1], ["%qr", "%inner", "%first", "%inner_1", "%second", "%o"])

    def test_results(self):
        @ta.spec
        def several(q, k, v):
            o_1 = ta.recurrences(q, k, v)
            return o_1 * 2, q, o_1

        self.assertEqual(several.results, ("o0", "q", "o_1"))

        @ta.spec
        def named(q, k, v):
            o = ta.recurrences(q, k, v)
            return {"o": ta.relu(o), "twice": o}

        self.assertEqual(named.results, ("o", "twice"))
        self.assertEqual(body(named)[-1], 'taylor.yield "o" %o_1, "twice" %o : !bhte, !bhte')

        @ta.spec
        def constant():
            return 1.5

        self.assertEqual(body(constant), ["%o = taylor.map 1.5", "taylor.yield %o : !scalar"])

    def test_letters_of_other_alphabets(self):
        @ta.spec
        def greek(q):
            λ = ta.rope(q)
            return ta.relu(λ)

        self.assertEqual(body(greek)[0], "%x0 = taylor.rope %q : !bhtd")

    def test_words_in_quotes(self):
        @ta.spec(name='soft"max \\ ä')
        def quoted(q, w=ta.parameter(['two "words"=2'], 0)):
            return {'a "result"': q, "w\\": w}

        result = compile_text(quoted.mlir)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn('taylor.yield "a \\22result\\22" %q, "w\\\\" %w', result.stdout)

    def test_attributes(self):
        @ta.spec(name="a name")
        def function(q1, q2, w=ta.parameter("h r=4", 2), *, order=3, cap=2.0, gate=ta.projection("b h t")):
            """What it does.

            More.
            """
            return q1 + q2 * w * cap

        self.assertEqual((function.name, function.__name__, function.__doc__.split("\n")[0], function.parameters),
                         ("a name", "function", "What it does.", {"order": 3, "cap": 2.0}))
        self.assertEqual(function.mlir.splitlines()[:3], ["// What it does.", "//", "// More."])
        self.assertEqual([(one.name, " ".join(map(str, one.axes)), one.source) for one in function.arguments],
                         [("q1", "b h t d", "projection"), ("q2", "b h t d", "projection"), ("w", "h r = 4", "parameter(constant(2.0))"), ("gate", "b h t", "projection")])
        self.assertEqual((str(function), repr(function)), (function.mlir, "<ta.spec a name(q1, q2, w, gate, order, cap)>"))

    def test_copies(self):
        @ta.spec
        def original(q, *, order=3):
            """Text."""
            return q

        for other in (copy.copy(original), copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
            self.assertEqual((other.mlir, other.name, other.__doc__, other.arguments, other.parameters, other.results, other.place(4)),
                             (original.mlir, "original", "Text.", original.arguments, {"order": 3}, ("q",), original.place(4)))

    def test_threads_trace_by_themselves(self):
        specs = {}
        barrier = threading.Barrier(4)

        def trace(number):
            def function(q):
                for _ in range(50):
                    barrier.wait()
                    q = ta.rope(q, offset=number)
                return q
            specs[number] = ta.spec(function)

        threads = [threading.Thread(target=trace, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number, spec in specs.items():
            self.assertEqual(re.findall(r"offset\((\d)\)", spec.mlir), [str(number)] * 50)


class Formulas(unittest.TestCase):
    def test_parentheses(self):
        a, s = ta.t, ta.u
        cases = {
            "a + (s + 1.0)": lambda: a + (s + 1), "a + s + 1.0": lambda: a + s + 1, "a - (s - 1.0)": lambda: a - (s - 1),
            "(a + s) * a / (s * a)": lambda: (a + s) * a / (s * a), "-(a * s) - -a": lambda: -(a * s) - -a, "-(-a) * s": lambda: -(-a) * s,
            "-a * s": lambda: -a * s, "pow(a, -2.0)": lambda: a ** -2, "pow(2.0, a + s)": lambda: 2 ** (a + s), "abs(a - s)": lambda: abs(a - s),
            "1.0 - a": lambda: 1 - a, "2.0 / (a / 3.0)": lambda: 2 / (a / 3), "a - -3.0": lambda: a - -3,
            "select(not(a == s), a, 0.0)": lambda: ta.where(a != s, a, 0),
            "select((a < s) == (s <= a), a, 0.0)": lambda: ta.where((a < s) == (s <= a), a, 0),
            "select(or(and(a < s, s < 3.0), not(4.0 <= a)), a, infinity())": lambda: ta.where((a < s) & (3 > s) | ~(a >= 4), a, float("inf"))}
        for text, make in cases.items():
            with self.subTest(text=text):
                @ta.spec
                def one():
                    return make()

                written = re.sub(r"\bt\b", "a", re.sub(r"\bu\b", "s", body(one)[0]))
                self.assertEqual(written, f"%o = taylor.map {text}")

    def test_numbers(self):
        import fractions
        for value, text in ((1, "1.0"), (1e-4, "0.0001"), (1e-12, "1.0e-12"), (1.5e300, "1.5e300"), (10 ** 30, "1.0e30"), (float("-inf"), "-infinity()"),
                            (np.float32(0.1), "0.10000000149011612"), (np.int64(7), "7.0"), (fractions.Fraction(1, 4), "0.25"), (-0.0, "-0.0")):
            @ta.spec
            def one(q):
                return value * q + np.float64(2) * q

            self.assertEqual(body(one)[0], f"%o = taylor.map {text} * %q + 2.0 * %q : !bhtd")

    def test_what_occurs_again_is_written_once(self):
        @ta.spec
        def powers(q, *, x0=2):
            square = q * q
            for _ in range(60):
                square = ta.tanh(square * square)
            return square * x0

        self.assertLess(len(powers.mlir), 4000)
        self.assertIn("{ square = %q * %q,", powers.mlir)
        self.assertEqual(len(re.findall(r"x\d+ = ", powers.mlir)), 0)  # x0 is the parameter, and variables have names

        @ta.spec
        def hidden(q, *, exp=2):
            t = q * q
            size = t + t + ta.t
            return ta.rope(size * size * ta.size("d") * exp)

        self.assertEqual(body(hidden)[0], "%size = taylor.map { x0 = %q * %q, x1 = x0 + x0 + t, x1 * x1 * size(d) * exp } : !bhtd".replace("%size", "%x0"))

    def test_each_formula_is_one_operation(self):
        @ta.spec
        def shared(q, k, v):
            qf = ta.relu(q)
            return ta.recurrences(qf, k, v) + ta.recurrences(ta.rope(qf), k, v)

        self.assertEqual(sum("relu" in line for line in body(shared)), 1)

    def test_deep_formulas(self):
        """No recursion of Python's limits them; the compiler's limit is its own."""
        def deep(terms):
            def total(q):
                x = q
                for number in range(terms):
                    x = x + number * q
                return x
            return ta.spec(total)

        self.assertEqual(deep(2000).mlir.count(" + "), 2000)
        self.assertEqual(compile_text(deep(100).mlir).returncode, 0)


class Axes(unittest.TestCase):
    def test_union(self):
        @ta.spec
        def axes(k, x=ta.parameter("j=3 h e=8", 0), y=ta.input("t i=2 b")):
            return x + y, k * ta.index("h"), ta.map(y, dtype="f32")

        self.assertEqual(re.findall(r"^!\w+ = (.*)", axes.mlir, re.M),
                         ["!taylor.array<[b, g, u, d]>", "!taylor.array<[j = 3, h, e = 8]>", "!taylor.array<[t, i = 2, b]>",
                          "!taylor.array<[b, t, i = 2], f32>", "!taylor.array<[b, h, t, e = 8, j = 3, i = 2]>", "!taylor.array<[b, h, u, d]>"])
        self.assertEqual(compile_text(axes.mlir).returncode, 0)

    def test_types_of_one_alias(self):
        @ta.spec
        def sizes(q=ta.projection("b h t d"), w=ta.projection("b h t d=64")):
            return q, w

        self.assertIn("%q: !bhtd from projection, %w: !bhtd_1 from projection", sizes.mlir)
        self.assertEqual(compile_text(sizes.mlir).returncode, 0)

    def test_narrow_types(self):
        """Results have the type that the compiler infers: what reads them is typed after it."""
        @ta.spec
        def narrow(q=ta.projection("b h t d", dtype="bf16"), k=ta.projection("b g u d", dtype="f32"), v=ta.projection("b g u e", dtype="f16"),
                   i=ta.input("b t", dtype="i32"), l=ta.projection("b g u", dtype="f16"), taps=ta.parameter("h d j=2", 0, dtype="f32")):
            n, z = ta.recurrences(ta.rope(q), ta.convolve(k, ta.map(0.0, axes="g d j=2", dtype="f32")), v, sums=("numerator", "mass"))
            unit = ta.normalize("rms", n / z, epsilon=0)
            rows = ta.reduce("sum", ta.convolve(q, taps) * ta.rope(q), over="d") + ta.align(l, to="t") + ta.scan("sum", i * ta.align(l, "t"), over="t")
            return ta.map(unit * rows), ta.rope(n) + z, ta.align(ta.align(l, "t"), "u") * 2

        result = compile_text(narrow.mlir)
        self.assertEqual(result.returncode, 0, result.stderr)


def compile_text(text):
    return subprocess.run(["taylor-opt"], input=text, capture_output=True, text=True)


class Mistakes(unittest.TestCase):
    """What has no text is an error of Python's, with a way out."""

    def check(self, error, words, function):
        with self.assertRaises(error) as caught:
            ta.spec(function)
        self.assertIn(words, str(caught.exception))

    def test_arguments(self):
        def no_axes(q, k, v, gate): return q
        def a_number(q, k, v, window=64): return q
        def no_number(q, *, window): return q
        def a_word(q, *, window="64"): return q
        def any_number(*q): return q
        def any_name(**q): return q
        def of_other_letters(λ=ta.parameter("h", 0)): return λ
        self.check(TypeError, "requires axes of argument 'gate' of no_axes, which is not q, k or v: write gate=ta.projection(\"b h t\")", no_axes)
        self.check(TypeError, "as in def a_number(q, k, v, *, window=64)", a_number)
        self.check(TypeError, "requires a number as the default of parameter 'window' of no_number", no_number)
        self.check(TypeError, "but got '64'", a_word)
        self.check(TypeError, "unsupported argument *'q'", any_number)
        self.check(TypeError, "unsupported argument *'q'", any_name)
        self.check(ValueError, "expected a name of ASCII letters", of_other_letters)
        for axes, error in ((3, TypeError), ([3], TypeError), ("h =", ValueError), ("r=x", ValueError), ("=3", ValueError)):
            with self.assertRaisesRegex(error, "expected (axes|the names of axes).*but got"):
                ta.parameter(axes, "ones")
        with self.assertRaisesRegex(ValueError, "expected dtype f64, f32, bf16, f16 or i32, but got 'int32'"):
            ta.input("b t", dtype="int32")
        with self.assertRaisesRegex(TypeError, r"expected zeros, ones, a number, ta.uniform\(..\) or ta.normal\(..\) as init, but got None"):
            ta.parameter("h", None)
        with self.assertRaisesRegex(TypeError, "expected a function under @ta.spec, but got int"):
            ta.spec(3)

    def test_operands(self):
        self.check(TypeError, "the string 'q'; an argument is the variable itself", lambda q: ta.rope("q"))
        self.check(TypeError, "but got the string 't - u < 64'", lambda q, k, v: ta.recurrences(q, k, v, visible="t - u < 64"))
        self.check(TypeError, "but got a tuple of 2; n, z = ta.recurrences", lambda q, k, v: ta.rope(ta.recurrences(q, k, v, sums=("numerator", "mass"))))
        self.check(TypeError, "but got None", lambda q: q * None)
        self.check(TypeError, "but got numpy.ndarray", lambda q: q * np.ones(2))
        self.check(TypeError, "but got True", lambda q: q * True)
        self.check(ValueError, "but got nan", lambda q: q * float("nan"))
        self.check(TypeError, "expected a number for epsilon, but got 'small'", lambda q: ta.normalize("l2", q, epsilon="small"))
        self.check(TypeError, "expected an integer for offset, but got 1.5", lambda q: ta.rope(q, offset=1.5))
        self.check(TypeError, "expected an integer for orders, or an index parameter, but got 1.0", lambda q, k, v: ta.recurrences(q, k, v, orders=(0, 1.0)))
        self.check(TypeError, "requires amount=.., the number of tokens, of a shift", lambda q: ta.scan("shift", q, over="t"))
        self.check(TypeError, "expected ta.rows(..)", lambda q: ta.pairwise(q))
        self.check(TypeError, "expected the text of a region", lambda q: ta.map(ta.region(q)))

    def test_what_is_python(self):
        self.check(TypeError, "unsupported truth value of a formula", lambda q: ta.where(0 < q < 1, q, 0))
        self.check(TypeError, "ta.minimum and ta.maximum", lambda q: max(q, 0))
        self.check(TypeError, "ta.sqrt for math.sqrt", lambda q: q / math.sqrt(ta.size("d")))

        def one_sum(q, k, v):
            n, z = ta.recurrences(q, k, v)
            return n / z

        self.check(TypeError, "several sums are asked for by", one_sum)
        self.check(TypeError, "returns None; end it with return", lambda q: None)

        def state(q):
            for _ in range(3):
                after = after * q  # noqa
            return after

        self.check(UnboundLocalError, "a state over tokens is a sum (ta.recurrences, with decay=.. where it forgets) or a scan", state)

        def fails(q):
            return {}[q]

        try:
            ta.spec(fails)
        except KeyError as error:
            trace = error.__traceback__
        while trace.tb_next:
            trace = trace.tb_next
        self.assertEqual(trace.tb_frame.f_code, fails.__code__)
        with self.assertRaisesRegex(RuntimeError, r"expected ta.map\(..\) in a function under @ta.spec"):
            ta.rope(ta.t * 2.0)

    def test_what_is_of_numpy(self):
        for words, function in (("unsupported np.exp of an array or formula of a specification; write ta.exp(x)", lambda q: np.exp(q)),
                                ("unsupported np.sum", lambda q: np.sum(q)), ("unsupported np.where", lambda q: np.where(q < 0, q, 0)),
                                ("unsupported np.matmul", lambda q: np.ones(2) @ q),
                                ("but got numpy.ndarray; what a call brings is an argument of the specification, such as x=ta.input", lambda q: np.ones(2) * q)):
            self.check(TypeError, words, function)

        @ta.spec
        def scalars(q):
            x = np.float64(2)
            return ta.where((x < q) & (q >= x) & (x == q), x + q - x * q / (x / q), x ** q + (x - q))

        self.assertIn("select(and(and(2.0 < %q, 2.0 <= %q), 2.0 == %q), 2.0 + %q - 2.0 * %q / (2.0 / %q), pow(2.0, %q) + (2.0 - %q))", scalars.mlir)

    def test_names_and_no_places(self):
        self.check(TypeError, "unsupported product @ of arrays; write ta.recurrences(q, k, v) for a sum over keys, or ta.dot(q, k)", lambda q, k: q @ k)
        self.check(TypeError, "unsupported product @ of arrays", lambda q: [1] @ q)
        self.check(TypeError, "unsupported index of an array; axes have names and no places", lambda q: q[0])
        self.check(TypeError, "unsupported len() of an array", lambda q: len(q))
        self.check(TypeError, "write ta.floor(x / y)", lambda q: q // 2)
        self.check(TypeError, "write x - y * ta.floor(x / y)", lambda q: q % 2)
        self.check(AttributeError, "unsupported attribute 'transpose' of an array; axes have names and no places", lambda q: q.transpose(1, 2))
        self.check(AttributeError, "unsupported attribute 'sum' of a formula; write ta.reduce(\"sum\", x, over=\"d\")", lambda q: (q * q).sum(-1))
        self.check(AttributeError, "write ta.size(\"d\") for the size of an axis", lambda q: q.shape)
        self.check(AttributeError, "write ta.exp(x)", lambda q: q.exp())
        self.assertFalse(hasattr(ta.t, "__no_such_protocol__"))

    def test_functions_by_name(self):
        from taylor_attention import functions, refusals
        known = {name for name, value in vars(functions).items() if getattr(value, "__module__", None) == functions.__name__}
        self.assertEqual(refusals.NAMES, known - {"call"})
        self.check(TypeError, "but got the string 'softplus'; write weight=ta.softplus", lambda q, k, v: ta.recurrences(q, k, v, weight="softplus"))
        self.check(TypeError, "but got the string 'relu'; write score=ta.relu", lambda q, k, v: ta.recurrences(q, k, v, score="relu"))
        self.check(TypeError, "but got the string 'exp'; write ta.exp", lambda q: q + "exp")

    def test_arrays_of_another_specification(self):
        kept = []

        def keeps(q):
            kept.append(ta.rope(q))
            return q

        ta.spec(keeps)
        self.check(ValueError, "expected an array of this specification, but got <array [b, h, t, d]> of 'keeps'", lambda q: q + kept[0])
        with self.assertRaisesRegex(ValueError, "of 'keeps'"):
            kept[0] * 2

    def test_a_failed_trace_leaves_nothing(self):
        self.check(ZeroDivisionError, "", lambda q: 1 / 0)
        with self.assertRaises(RuntimeError):
            ta.map(ta.t)


class Values(unittest.TestCase):
    def run_spec(self, spec, *options):
        FOLDER.mkdir(parents=True, exist_ok=True)
        path = FOLDER / f"{spec.name}.mlir"
        path.write_text(spec.mlir)
        return subprocess.run(["taylor-run", str(path), *map(str, options)], capture_output=True, text=True)

    def test_softmax_of_numpy(self):
        @ta.spec
        def window_softmax(q, k, v, slope=ta.parameter("h", 0.5), *, window=4):
            n, z = ta.recurrences(q, k, v, sums=("numerator", "mass"), score=lambda s: s - slope * (ta.t - ta.u), visible=ta.t - ta.u < window)
            return n / z

        rng = np.random.default_rng(0)
        q, k, v, slope = (rng.standard_normal(shape) for shape in ((1, 4, 9, 6), (1, 2, 9, 6), (1, 2, 9, 5), (4,)))
        options = ["--shape=b=1,h=4,g=2,t=9,u=9,d=6,e=5"]
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name, value in (("q", q), ("k", k), ("v", v), ("slope", slope)):
            np.save(FOLDER / f"{name}.npy", value)
            options += [f"--input={name}={FOLDER / name}.npy"]
        result = self.run_spec(window_softmax, *options, f"--output={FOLDER / 'o.npy'}", "--set", "window=3")
        self.assertEqual(result.returncode, 0, result.stderr)
        distance = np.arange(9)[:, None] - np.arange(9)
        scores = np.einsum("bhtd,bhud->bhtu", q, k.repeat(2, 1)) / 6 ** 0.5 - slope[:, None, None] * distance
        w = np.exp(scores) * ((distance >= 0) & (distance < 3))
        expected = w @ v.repeat(2, 1) / w.sum(-1, keepdims=True)
        np.testing.assert_allclose(np.load(FOLDER / "o.npy"), expected, rtol=1e-12)

    def test_a_kernel(self):
        @ta.spec
        def two_results(q, k, v, gate=ta.projection("b h t", bias=True)):
            n, z = ta.recurrences(ta.rope(q), ta.rope(k), v, sums=("numerator", "mass"))
            return {"o": ta.sigmoid(gate) * n / z, "entropy": ta.log(z)}

        result = self.run_spec(two_results, "--shape=1,2,20,16", "--device=cpu", "--grad", "--check")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(re.findall(r"^(\S.*?)  .* ok$", result.stdout, re.M), ["o", "entropy", *(f"gradient {name}" for name in ("q", "k", "v", "gate"))])


class Package(unittest.TestCase):
    def test_the_standard_library_is_enough(self):
        script = "import sys, taylor_attention; print(sorted({name.partition('.')[0] for name in sys.modules} & {'torch', 'numpy'}))"
        result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env={"PYTHONPATH": str(ROOT / "runtime/python")})
        self.assertEqual((result.stdout, result.stderr), ("[]\n", ""))

    def test_all_of_it_is_documented(self):
        for name, value in vars(ta).items():
            if callable(value) and not name.startswith("_") and not isinstance(value, ta.Formula):
                with self.subTest(name=name):
                    self.assertTrue(value.__doc__)


class Names(unittest.TestCase):
    def test_dir(self):
        """What a shell completes: all public names, those that import torch too, and nothing else."""
        names = dir(ta)
        for name in ("attention", "Decoder", "nn", "hf", "spec", "recurrences", "t", "map", "abs"):
            self.assertIn(name, names)
        self.assertFalse([name for name in names if name.startswith("_") and name != "__version__"])
        self.assertEqual(len(names), len(set(names)))
        self.assertNotIn("TYPE_CHECKING", names)


if __name__ == "__main__":
    unittest.main()
