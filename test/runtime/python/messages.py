# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: compiler
# RUN: %python %s
"""What the compiler says of a traced specification stands at the user's own line of Python, with its advice in Python's spelling: the line of each
fault here ends in a comment `# fault`."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "runtime/python"))
import taylor_attention as ta

LINES = pathlib.Path(__file__).read_text().splitlines()
FAULTS = []


def fault(words):
    """A specification that the compiler refuses, with these words of its message."""
    def add(function):
        FAULTS.append((ta.spec(function), function.__code__.co_firstlineno, words))
    return add


ALIGN = 'unsupported array with both t and u: no T x U buffer is ever materialised; write ta.align(x, to="t") for a key array at queries, or ta.align(x, to="u")'


@fault(ALIGN)
def operands_of_other_tokens(q, k, v):
    both = q + k  # fault
    return ta.rope(both)


@fault("unsupported function 'expp'; did you mean 'exp'?")
def unknown_function(q, k, v, gate=ta.projection("b h t")):
    o = (ta.sigmoid(gate)
         * ta.call("expp", gate)  # fault
         + ta.tanh(gate))
    return o


@fault("requires axis 'e' of its operand, but got '!taylor.array<[b, h, t]>'")
def norm_of_no_channel(q, k, v):
    """The lines of a comment stand above the text.

    Each of them moves it by one.
    """
    n, z = ta.recurrences(q, k, v,
                          sums=("numerator", "mass"))
    return n, ta.normalize("rms", z, epsilon=1e-5)  # fault


@fault("unsupported decay of a bidirectional sum")
def decay_of_the_future(q, k, v, gate=ta.projection("b g u")):
    decay = ta.scan("sum", -ta.softplus(gate), over="u")
    return ta.recurrences(q, k, v, decay=decay, mask="bidirectional")  # fault


@fault("unsupported weight or bias of an l2 norm; multiply its result with taylor.map")
def weighted_length(q, k, v, w=ta.parameter("e", "ones")):
    n = ta.recurrences(q, k, v)
    n = ta.normalize("l2", n, weight=w, epsilon=1e-12)  # fault
    return n


@fault("expected orders=(a, b) with a <= b, but got orders=(3, 1)")
def orders_that_fall(q, k, v):
    return ta.recurrences(q, k, v, orders=(3, 1))  # fault


SCALED = 'requires orders or weight beside scale or coefficients: write orders="all", coefficients="factorial", scale=0.1, or score=lambda s: s * tau'


@fault(SCALED)
def scaled_exponential(q, k, v):
    return ta.recurrences(q, k, v, scale=0.5)  # fault


@fault(SCALED)
def learned_scale(q, k, v, tau=ta.parameter("h", 1.0)):
    return ta.recurrences(q, k, v, scale=tau)  # fault


@fault("unsupported array in a formula of sizes and parameters; in place of a scale, multiply the score: score=lambda s: s * tau")
def learned_scale_of_orders(q, k, v, temperature=ta.parameter("h", 1.0)):
    return ta.recurrences(q, k, v, orders="all", coefficients="factorial", scale=temperature)  # fault


@fault('expected orders="all" or orders=(0, 2), from and to, but got 2 alone')
def one_order(q, k, v):
    return ta.recurrences(q, k, v, orders=2)  # fault


@fault('expected orders="all" or orders=(0, 2), from and to, but got \'every\'')
def orders_of_another_word(q, k, v):
    return ta.recurrences(q, k, v, orders="every")  # fault


@fault("error: expected mask=\"causal\" or mask=\"bidirectional\", but got 'causl'; did you mean 'causal'?")
def unknown_mask(q, k, v):
    return ta.recurrences(q, k, v, mask="causl")  # fault


@fault("error: expected mask=\"causal\" or mask=\"bidirectional\", but got 'full'")
def full_mask(q, k, v):
    return ta.recurrences(q, k, v, mask="full")  # fault


@fault("error: expected mask=\"causal\" or mask=\"bidirectional\", but got 'full'")
def full_mask_of_one(q, k, v):
    return ta.recurrence(q, k, v, order=1, mask="full")  # fault


@fault('requires axis u of the running log-decay, but got \'!taylor.array<[b, h, t]>\'; write decay=ta.scan("sum", f, over="u") of a gate f over u')
def raw_gate(q, k, v, gate=ta.projection("b h t")):
    return ta.recurrences(q, k, v, decay=gate)  # fault


@fault("unsupported order of arrays: ta.recurrences takes the query first, (q, k, v): q over t, k and v over u, but got [b, g, u, d], [b, h, t, d] and [b, g, u, e]")
def key_first(q, k, v):
    n, z = ta.recurrences(k, q, v, sums=("numerator", "mass"), orders=(0, 2), coefficients=(1.0, 0.25, 0.125), visible=ta.t - ta.u < 16)  # fault
    return n / z


@fault("unsupported order of arrays: ta.recurrences takes the query first")
def key_first_of_one(q, k, v):
    return ta.recurrence(k, q, v, order=1)  # fault


@fault("unsupported argument 'bias' with both t and u: no T x U buffer is ever materialised; write a bias as a formula, score=lambda s: s - 0.5 * (ta.t - ta.u), ")
def bias_of_pairs(q, k, v, gate=ta.projection("b h t"), another_gate=ta.projection("b h t"),
                  bias=ta.input("h t u")):  # fault
    return ta.recurrences(q, k, v, score=lambda s: s + bias)


@fault(ALIGN)
def result_times_a_value(q, k, v):
    return ta.recurrences(q, k, v) * v  # fault


@fault(ALIGN)
def gate_of_keys(q, k, v, gate=ta.projection("b h u")):
    n = ta.recurrences(q, k, v)
    return n * gate  # fault


@fault(ALIGN)
def query_times_key(q, k):
    return q * k  # fault


@fault("expected numerator, mass, count or state, but got 'maas'")
def unknown_sum(q, k, v):
    n, z = ta.recurrences(q, k, v, sums=("numerator", "maas"))  # fault
    return n / z


@fault("expected l2, rms or layer, but got 'l3'")
def unknown_norm(q, k, v):
    return ta.normalize("l3", q, over="d", epsilon=0)  # fault


@fault("such as visible=ta.t - ta.u < 16, but got a number")
def number_that_hides(q, k, v):
    return ta.recurrences(q, k, v, visible=ta.t - ta.u)  # fault


@fault("expected a condition (such as s < 1.0), but got a number")
def number_that_selects(q, k, v):
    return ta.recurrences(q, k, v,
                          score=lambda s: ta.where(s, 1.0, 0.0))  # fault


@fault("unsupported channel axis of a value in a formula of pairs")
def channel_in_a_score(q, k, v):
    bias = ta.map(q)
    return ta.recurrences(q, k, v, score=lambda s: s + bias)  # fault


@fault("requires a token axis (t or u) of the projected argument 'gate'")
def projection_without_tokens(q, k, v, gate=ta.projection("h")):  # fault
    return ta.recurrences(q, k, v)


@fault("expected zeros, ones, constant(c), uniform(low, high) or normal(mean, deviation), but got 'onez'")
def unknown_beginning(q, k, v,
                      gate=ta.projection("b h t", bias=True),
                      another_gate=ta.projection("b h t", bias=True),
                      norm_weight=ta.parameter("e", "onez"),  # fault
                      norm_bias=ta.parameter("e", "zeros")):
    return ta.recurrences(q, k, v)


@fault("requires a size of the free axis 'r' (write 'r = 4')")
def axis_without_size(q, k, v,
                      table=ta.parameter("h r", "ones")):  # fault
    return ta.recurrences(q, k, v)


@fault("unsupported parameter 'd': formulas mean the axis by this name; choose another")
def parameter_of_an_axis(q, k, v, *, d=3):  # fault
    return ta.recurrences(q, k, v)


@fault("unsupported axis lag of a result")
def lags_as_a_result(q, k, v):
    o = ta.exp(ta.lag)
    return o  # fault


@fault("such as visible=ta.t - ta.u < 16, but got a number")
def window_that_hides(q, k, v):
    return ta.recurrences(q, k, v, visible=16)  # fault


def turned(x):
    return ta.rope(x)  # fault


@fault("requires a token axis t or u, but got '!taylor.array<[b, h, d]>'")
def fault_in_a_helper(q, k, v, x=ta.input("b h d")):
    return q * turned(x)


def line_of(first):
    """The next marked line after a line; of a helper, the one before."""
    return next(number for number, line in enumerate(LINES[first:], first + 1) if line.endswith("# fault"))


class Messages(unittest.TestCase):
    maxDiff = None

    def compile(self, text, *program):
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(text)
            file.flush()
            result = subprocess.run([*(program or ["taylor-opt"]), file.name], capture_output=True, text=True)
        self.assertNotEqual(result.returncode, 0, text)
        return result.stderr, file.name

    def test_each_fault_is_at_its_line(self):
        for spec, first, words in FAULTS:
            with self.subTest(spec=spec.name):
                message, file = self.compile(spec.mlir)
                translated = ta.translate(message, spec)
                line = line_of(first if spec.name != "fault_in_a_helper" else first - 7)
                head, source = translated.splitlines()[:2]
                self.assertTrue(head.startswith(f"{__file__}:{line}: error: "), (translated, line))
                self.assertIn(words, head)
                self.assertEqual(source, "  " + LINES[line - 1].strip())
                self.assertNotIn(file, translated)
                self.assertNotIn("taylor.array<[b, h, t, d]>\n", translated)

    def test_what_is_advised_compiles(self):
        """The spellings that messages name, as the compiler takes them."""
        @ta.spec
        def advised(q, k, v, tau=ta.parameter("h", 1.0), f=ta.projection("b g u"), table=ta.parameter("h r=64", "zeros")):
            return (ta.recurrences(q, k, v, score=lambda s: s * tau), ta.recurrences(q, k, v, orders="all", coefficients="factorial", scale=0.1),
                    ta.recurrences(q, k, v, orders=(0, 2), decay=ta.scan("sum", f, over="u")), ta.recurrences(q, k, v, visible=ta.t - ta.u < 16),
                    ta.recurrences(q, k, v, score=lambda s: s - 0.5 * (ta.t - ta.u)), ta.align(f, to="t"),
                    ta.recurrences(q, k, v, score=lambda s: s + ta.reduce("sum", ta.where(ta.index("r") == ta.lag, table, 0.0), over="r")))

        result = subprocess.run(["taylor-opt"], input=advised.mlir, capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_the_line_of_a_formula_within_several(self):
        spec = next(spec for spec, *_ in FAULTS if spec.name == "unknown_function")
        line = next(number for number, text in enumerate(spec.mlir.splitlines(), 1) if "expp" in text)
        text = spec.mlir.splitlines()[line - 1]
        first = spec.place(line, text.index("sigmoid") + 1).line
        self.assertEqual([spec.place(line, text.index(word) + 1).line - first for word in ("sigmoid", "expp", "tanh")], [0, 1, 2])

    def test_all_of_a_message(self):
        """A whole message of taylorc, and its note: a state that reads itself, which Python has no way to write."""
        @ta.spec
        def running(q, k, v, x=ta.projection("b h u")):
            state = ta.scan("sum", x, over="u")  # first
            after = ta.exp(state)
            after = ta.map(after)  # second
            return ta.recurrences(q, k, v), after

        text = running.mlir.replace("over(u) %x", "over(u) %after")
        self.assertNotEqual(text, running.mlir)
        message, file = self.compile(text, "taylorc", "--emit=manifest")
        self.assertRegex(message, rf"^{file}:\d+:\d+: error: [^\n]*\n[^\n]*\n *\^\n{file}:\d+:\d+: note: computed here\n")
        running.mlir = text
        first = next(number for number, line in enumerate(LINES, 1) if line.endswith("# first"))
        self.assertEqual(ta.translate(message, running), f"""{__file__}:{first}: error: expected results from above, but this reads a result from below; a state over \
tokens is a sum (taylor.recurrences, with decay(..) where it forgets) or a scan (taylor.scan), and a state that is multiplied by more than a decay, such as that of the \
delta rule, is unsupported
  {LINES[first - 1].strip()}
{__file__}:{first + 2}: note: computed here
  {LINES[first + 1].strip()}
""")

    def test_what_is_not_of_the_text_stays(self):
        spec = FAULTS[0][0]
        blank = spec.mlir.splitlines().index("") + 1
        for message in ("", "taylorc: expected a file\n", "other.mlir:999:1: error: here\n", f"a.mlir:{blank}:1: error: a blank line\n\n^\n"):
            self.assertEqual(ta.translate(message, spec), message)


if __name__ == "__main__":
    unittest.main()
