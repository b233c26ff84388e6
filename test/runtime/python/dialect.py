# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: compiler
# RUN: %python %s
"""All of the dialect that a specification is made of can be written in Python: what stands in dialect/Taylor/*.td, and what the compiler's messages
list, is compared with what specifications of this file print. Who adds an operation, a clause, a function or a word to the dialect adds it there."""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "runtime/python"))
import taylor_attention as ta

TD = "".join(path.read_text() for path in sorted((ROOT / "dialect/Taylor").glob("*.td")))
# Passes make these, of a specification; no one writes them.
MADE_BY_PASSES = {"function", "edge", "states", "read_states", "contract_states", "step_states"}
# Attributes that passes alone set (TaylorOps.td, TaylorLocal.td): functions that decode, what calls carry, and what `size(u)` becomes within documents.
SET_BY_PASSES = {("spec", "form"), ("spec", "step_of"), ("spec", "carries"), ("spec", "prepares_keys"), ("spec", "series"), ("scan", "lengths")}
PARTS_OF_SUMS = {"high", "low"}  # scans of a taylor.function
# Enumerations of what a compilation is asked for: options of taylorc and of passes (TaylorAttrs.td).
ASKED_FOR = {"StorageType", "FormChoice", "MaskChoice", "CarryMode"}


@ta.spec
def sources(q, k1, v, a=ta.projection("b h t", bias=True), p=ta.projection(("b", "h", "t")), w=ta.parameter("e", "ones"),
            z=ta.parameter("e", "zeros"), c=ta.parameter("h", 0.5), n=ta.parameter("h", ta.normal(0.0, 0.02)),
            r=ta.parameter(["h", "two words = 3"], ta.uniform(-0.5, 0.5)), i=ta.input("b, t", dtype="i32"),
            x=ta.parameter("h d=64", "ones", dtype="bf16"), *, order=10, slope=-0.5):
    """Arguments from everywhere, and results under names of their own."""
    return {"first": q * slope, "second": ta.map(x, dtype="f32"), "third": ta.map(i + c, axes="b h t")}


@ta.spec
def formulas(a=ta.projection("b h t"), y=ta.projection("b h t"), table=ta.parameter("h r=4", "ones"), *, window=4):
    f = ta
    one = f.exp(a) + f.expm1(a) + f.log(a) + f.log2(a) + f.log1p(a) + f.sqrt(a) + f.rsqrt(a) + f.tanh(a) + abs(a) + f.abs(a) + f.floor(a) + f.sin(a) + f.cos(a)
    two = f.erf(a) + f.sigmoid(a) + f.softplus(a) + f.stop(a) + f.silu(a) + f.gelu(a) + f.relu(a) + f.elu(a) + f.minimum(a, y) + f.maximum(a, 2) + f.pow(a, 2.0)
    a_is_less = (a < y) & (a <= 1) | ~(y == 2.0) & (a > 0) & (a >= -1e-300) | (a != 1e22)
    three = f.where(f.logical_not(f.logical_or(a_is_less, f.logical_and(a < 3, y < 3))), a ** 2 / 2 ** y, float("inf")) + f.call("exp", -y)
    four = ta.map(three - (a - (y - -2)) * (window + ta.t - ta.h / ta.size("h")) / (1 - a), live=(a, y))
    five = ta.map(ta.b + ta.h + ta.u + ta.d + ta.e + ta.size(ta.g) + ta.f)
    six = ta.reduce("sum", ta.where(ta.index("r") == ta.lag, table, 0.0), over="r")
    seven = ta.map(ta.region("^bb0(%x: f64): %up = math.ceil %x : f64  taylor.yield %up : f64", a))
    return one, two, four, seven


@ta.spec
def local(q, k, v, n=ta.projection("b h t e"), l=ta.projection("b h u"), w=ta.parameter("e", "ones"), bias=ta.parameter("e", "zeros"),
          taps=ta.parameter("h d j=4", 0), key_taps=ta.parameter("g d j=4", 0)):
    row = ta.reduce("sum", n * n, over="e")
    most = ta.reduce("max", n, over=("h", "e"))
    mean = ta.reduce("mean", n, over="e", live=row)
    group = ta.reduce("sum", l, over="group")
    wide = ta.reduce("sum", n, over="e", axes="b h t")
    documents = ta.map(0.0 * ta.u, axes="b u")
    L = ta.scan("sum", l / 1024, over="u", exclusive=True, reverse=True)
    m = ta.scan("max", -l, over="u")
    within = ta.scan("sum", l, over="u", within=documents)
    shifted = ta.scan("shift", L, over="u", amount=2)
    aligned = ta.align(shifted, to="t")
    back = ta.align(aligned, "u")
    unit = ta.normalize("l2", q, over="d", epsilon=1e-12)
    rms = ta.normalize("rms", n, weight=w, epsilon=1.1920929e-7)
    layer = ta.normalize("layer", n, weight=w, bias=bias, epsilon=0)
    turned = ta.rope(ta.rope(unit), theta=5e5, layout="interleaved", offset=-16, inverse=True)
    placed = ta.rope(k, at=2.0 * documents, layout="half")
    filtered = ta.gated_sum(ta.convolve(turned, taps), ta.sigmoid(q))
    keys = ta.gated_sum(ta.convolve(placed, key_taps, within=documents, reverse=True), k, within=documents, reverse=True)
    return rms * most * mean + layer * wide, filtered, keys, back + m + within, group


@ta.spec
def sums(q, k, v, l=ta.projection("b h u"), r=ta.projection("b h t"), m=ta.parameter("h", "ones"), s0=ta.input("b g e f"), *, order=10):
    a = ta.recurrences(q, k, v)
    b, c, d = ta.recurrences(q, k, v, sums=["mass", "count", "numerator"], orders=(0, order), coefficients="factorial", mask="bidirectional")
    e = ta.recurrences(q, k, v, orders=(1, 2), coefficients=(1, -0.5), scale=2 / ta.size("d"), score=lambda s: s * s + r * m, decay=l,
                       visible=(ta.t - ta.u < 8, ta.u < 100))
    f = ta.recurrences(q, k, v, weight=lambda s: ta.sigmoid(s + m) * ta.sigmoid(s + m), visible=ta.t == ta.u)
    g = ta.recurrences(q, k, v, orders="all", score=ta.tanh)
    h, i = ta.recurrence(q, k, v, sums=("numerator", "state"), order=1, decay=l, state=s0)
    j = ta.recurrence(q, k, v, order=2, coefficient=0.5, scale=ta.rsqrt(ta.size("d")), mask="bidirectional")
    k = ta.recurrence(q, k, v, sums="mass", order=2)
    return a, b, c, d, e, f, g, h, i, j, k


@ta.spec(name="taylor.spec of pairs")
def pairs(q, k, v, p=ta.projection("b h t e"), r=ta.projection("b h t")):
    s = ta.dot(q, k)
    m = ta.running_maximum(s, 0.0)
    w = ta.exp(s - m)
    ds = w * (ta.dot(p, v) - r)
    return ta.pairwise(ta.rows(w, v, axes="b h t e"), ta.rows(w, axes="b h t"), ta.maxima(m, axes="b h t"), ta.columns(ds, q, axes="b g u d"),
                       ta.columns(ds, axes="b g u"), ta.total(ds, axes="h"), visible=[ta.u <= ta.t, ta.t - ta.u < 8], chunk=64)


@ta.spec
def diagonals(q, k, table=ta.parameter("h r=8", "zeros")):
    y = ta.pairwise(ta.diagonals(ta.dot(q, k) * ta.running_maximum(ta.dot(q, k)), axes="h lag"))
    seen = ta.pairwise(ta.rows(1.0, axes="t", dtype="f32"))
    return ta.reduce("sum", table, over="r"), seen


SPECS = [sources, formulas, local, sums, pairs, diagonals]
TEXT = "\n".join(spec.mlir for spec in SPECS)
STATEMENTS = re.split(r"\n  (?! )", TEXT)  # what goes on is indented further


def taylor_opt(text, *options):
    return subprocess.run(["taylor-opt", *options], input=text, capture_output=True, text=True)


def message(body, arguments="%q: !taylor.array<[b, h, t, d]>"):
    """What the compiler says of one line."""
    result = taylor_opt(f"taylor.spec @a({arguments}) {{\n{body}\n}}")
    assert result.returncode, body
    return result.stderr


def listed(text):
    """The words between `expected` and what came: `expected at, theta(..) or inverse, in this order, but got`."""
    return set(re.findall(r"\w+", re.search(r"expected (?:a clause )?(.*?)(?:, in this order)?, but got", text)[1])) - {"or"}


def stands(operation, pattern):
    return any(re.search(pattern, one) for one in STATEMENTS if f"taylor.{operation} " in one)


class Dialect(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        result = taylor_opt("// -----\n".join(spec.mlir for spec in SPECS), "--split-input-file", "--mlir-print-op-generic", "--mlir-print-local-scope")
        assert result.returncode == 0, result.stderr
        cls.generic = result.stdout

    def occurrences(self, name):
        """(operand count, properties) of an operation."""
        found = re.findall(rf'"taylor\.{name}"\(([^)]*)\)(?: <\{{(.*?)\}}>)?[ :(]', self.generic)
        return [(len(operands.split(", ")) if operands else 0, properties) for operands, properties in found]

    def test_operations(self):
        defined = set(re.findall(r'Taylor_\w*Op<"(\w+)"', TD))
        written = set(re.findall(r'"taylor\.(\w+)"', self.generic))
        self.assertEqual(written | MADE_BY_PASSES, defined)
        self.assertEqual(written & MADE_BY_PASSES, set())
        self.assertGreater(len(written), 15)

    def test_arguments_of_operations(self):
        """Each attribute is set, to another value than the default; each optional operand is there in some operation."""
        checked = 0
        for name, body in re.findall(r'Taylor_\w*Op<"(\w+)".*?\{(.*?)\n\}', TD, re.S):
            ins = re.search(r"let arguments = \(ins (.*?)\);", body, re.S)
            if name in MADE_BY_PASSES or not ins:
                continue
            uses = self.occurrences(name)
            # `TYPE<.., ..>:$name`
            arguments = re.findall(r"([\w<>\[\]\"., ():]+?):\$(\w+)", re.sub(r"\s+", " ", ins[1]))
            values = [argument for argument, _ in arguments if not argument.strip(", ").endswith("Attr") and "Attr" not in argument]
            for number, (type, argument) in enumerate(arguments):
                type = type.strip(", ")
                with self.subTest(operation=name, argument=argument):
                    if "Attr" not in type and ("Optional<" in type or "Variadic<" in type):
                        segments = [[int(size) for size in found[1].split(",")] for _, one in uses if (found := re.search(r"operandSegmentSizes = array<i32: ([\d, ]+)>", one))]
                        most = max(sizes[number] for sizes in segments) if segments else max(count for count, _ in uses) - len(values) + 1
                        self.assertGreater(most, 0)
                    elif "Attr" in type:
                        of = {one for _, properties in uses for one in re.findall(rf"\b{argument}(?: = ([^=]+?))?(?=, \w+(?: =|,|$)|$)", properties)}
                        self.assertEqual(bool(of), (name, argument) not in SET_BY_PASSES, uses)
                        if type.startswith("DefaultValuedAttr"):
                            self.assertGreater(len(of), 1, of)
                    checked += 1
        self.assertGreater(checked, 40)

    def test_regions(self):
        """The formulas of an operation are its clauses."""
        for name, regions in re.findall(r'Taylor_\w*Op<"(\w+)"(?:(?!\ndef ).)*?let regions = \(region (.*?)\);', TD, re.S):
            for region in set(re.findall(r"\$(\w+)", regions)) - {"body"}:
                if name not in MADE_BY_PASSES and (name, region) != ("pairwise", "weight"):  # its block
                    self.assertTrue(stands(name, rf"\b{region}\("), f"no {region}(..) of {name}")

    def test_words(self):
        """Each case of each enumeration."""
        enumerations = dict(re.findall(r'Taylor_Enum<"(\w+)"[^\[]*\[(.*?)\]>', TD, re.S))
        self.assertGreaterEqual(set(enumerations), {"Mask", "Sum", "Reduction", "ScanKind", "Norm", "RopeLayout", "PairOutput", "SourceKind", "Initial"})
        self.assertGreaterEqual(set(enumerations), ASKED_FOR)
        for name, cases in enumerations.items():
            if name in ASKED_FOR:
                continue
            for word in re.findall(r'"\w+", \d+, "(\w+)"', cases):
                with self.subTest(enumeration=name, word=word):
                    self.assertEqual(bool(re.search(rf"\b{word}\b", TEXT)), word not in PARTS_OF_SUMS)

    def test_functions(self):
        text = message("%a = taylor.map unheardof(%q) : !taylor.array<[b, h, t, d]>")
        functions = text[text.index("known are ") + 10:].splitlines()[0].split(", ")
        self.assertGreaterEqual(len(functions), 29)
        for function in functions:
            with self.subTest(function=function):
                self.assertRegex(TEXT, rf"\b{function}\(")

    def test_clauses(self):
        arrays = "%q: !taylor.array<[b, h, t, d]>, %k: !taylor.array<[b, g, u, d]>"
        clauses = {
            "recurrences": listed(message("taylor.recurrences %q, %k, %k unheardof", arrays)),
            "rope": listed(message("taylor.rope %q unheardof")),
            "normalize": listed(message("taylor.normalize l2 %q unheardof")),
            "convolve": listed(message("taylor.convolve %q, %q unheardof")),
            "gated_sum": listed(message("taylor.gated_sum %q, %q unheardof")),
            "scan": listed(message("taylor.scan sum unheardof"))}
        self.assertTrue({"orders", "visible"} <= clauses["recurrences"] and "inverse" in clauses["rope"] and "bias" in clauses["normalize"]
                        and "within" in clauses["convolve"] and "exclusive" in clauses["scan"], clauses)
        for name, words in clauses.items():
            for word in words:
                with self.subTest(operation=name, clause=word):
                    self.assertTrue(stands(name, rf"\b{word}\b"))

    def test_element_types(self):
        text = message("", "%q: !taylor.array<[t], i8>")
        for element in re.findall(r"\b[bfi]+\d+", text[text.index("expected element type"):text.index("but got")]):
            with self.subTest(element=element):
                ta.input("b t", dtype=element)


if __name__ == "__main__":
    unittest.main()
