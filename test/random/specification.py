# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The grammar: decisions -> one valid specification. Everything is optional but a sum, and comes in any combination that means something.

Numbers stay sane by construction and not by luck: a sum is divided only by what is bounded away from 0. A weight's sign is known
(`positive`: at least c > 0 for scores of order 1; `nonnegative`; `signed`), and with it the denominators that its mass may be in."""
from text import Text

# A formula of x, and the sign of its value.
FEATURES = [("relu(X)", "nonnegative"), ("elu(X) + 1.0", "positive"), ("softplus(X)", "positive"), ("sigmoid(X)", "positive"),
            ("exp(min(X, 2.0))", "positive"), ("relu(X) + 0.1", "positive"), ("X * X + 0.1", "positive"), ("silu(X)", "signed"),
            ("tanh(X)", "signed"), ("sin(X)", "signed"), ("X / (1.0 + abs(X))", "signed"), ("max(X, -0.5)", "signed"), ("gelu(X)", "signed"), ("erf(X)", "signed"),
            ("select(X < 0.0, 0.1 * X, X)", "signed"), ("elu(X)", "signed")]
SCORES = ["min(S, 5.0)", "max(min(S, 4.0), -4.0)", "5.0 * tanh(S / 5.0)", "S * sigmoid(S)", "softplus(S)", "0.5 * S - 1.0", "-abs(S)",
          "sin(S)", "log1p(abs(S))", "sqrt(1.0 + S * S)", "select(S < 0.0, 0.1 * S, S)", "S - log(size(u))", "elu(S)"]
WEIGHTS = [("sigmoid(S)", "positive"), ("softplus(S)", "positive"), ("1.0 + S * S", "positive"), ("relu(S) * relu(S)", "nonnegative"),
           ("relu(S)", "nonnegative"), ("1.0 / (1.0 + S * S)", "positive"), ("exp(min(S, 4.0))", "positive"), ("abs(S)", "nonnegative"),
           ("pow(1.0 + S * S, 0.25)", "positive"), ("elu(S) + 1.5", "positive"), ("S", "signed"), ("tanh(S)", "signed"),
           ("S * abs(S)", "signed"), ("S * sigmoid(S)", "signed"), ("sin(S)", "signed"), ("S / (1.0 + S * S)", "signed"),
           ("pow(S + 1.0, 2.0)", "nonnegative"), ("pow(S, 3.0)", "signed"), ("2.0 + cos(S)", "positive"), ("log1p(exp(min(S, 8.0)))", "positive"),
           ("S * exp(-S * S)", "signed"), ("gelu(S)", "signed"),
           ("exp(S) + exp(-S)", "positive"), ("exp(S) + 0.5 * exp(-0.5 * S) + 0.1", "positive")]
# Weights that are series, and their orders.
ORDERS = {"1.0 + S * S": 2, "S": 1, "pow(S + 1.0, 2.0)": 2, "pow(S, 3.0)": 3}
# A weight with what one side of a pair knows alone; all keep a weight's sign.
SIDED = ["select(X < 0.0, W, 0.5 * W)", "W / (1.0 + relu(X))", "(0.1 + abs(X)) * W", "select(X < 0.0, W, W + 1.0)", "max(X, 0.2) * W"]
SCALES = ["rsqrt(size(d))", "0.25", "1.0 / size(d)", "0.5 * rsqrt(size(d))", "1.0 / (1.0 + size(d))"]
# Of a numerator N and a mass Z of each sign, a count C.
BY_COUNT = ["N", "N / C", "N * rsqrt(C)", "N / pow(C, sigmoid(POWER))", "N / (1.0 + C)"]
BY_MASS = {
    "signed": ["N / (1.0 + abs(Z))", "N / (1.0 + Z * Z)", "N * rsqrt(1.0 + Z * Z)", "N / (C + Z * Z)", "N / max(abs(Z), 1.0)",
               "N / stop(1.0 + abs(Z))", "N / C + 0.1 * tanh(Z)"],
    "nonnegative": ["N / (Z + 0.5)", "N / max(Z, 1.0)", "N / (1.0 + Z)", "N / stop(max(Z, 1.0))", "N / (Z + exp(POWER))", "N / sqrt(Z + C)"],
    "positive": ["N / Z", "N / Z", "N / Z", "N * rsqrt(Z)", "N / stop(Z)", "N / Z - 0.5 * N / C", "N * pow(Z, -1.0)", "N / (Z * sqrt(C))",
                 "N / Z + log(Z / C)", "N / (stop(Z) + 1.0e-4)"],
}
VISIBLE = ["t - u < WINDOW", "or(u <= t, u < PREFIX)", "or(t - u < WINDOW, u < 2.0)", "t - u < WINDOW * 2.0", "DOCUMENT_Q == DOCUMENT_K",
           "and(DOCUMENT_Q == DOCUMENT_K, t - u < WINDOW)", "0.0 < KEEP", "floor(u / 2.0) * 2.0 == u", "abs(t - u) < WINDOW",
           "not(t - u == 1.0)", "or(t - u < WINDOW, floor(u / 8.0) * 8.0 == u)", "u < PREFIX", "PREFIX <= u"]
GATES = ["sigmoid(A)", "tanh(A)", "(1.0 + A)", "silu(A)", "exp(min(A, 1.0))", "relu(A)", "(2.0 * sigmoid(A))"]


class Specification:
    """What one set of decisions says. `text` is the specification; the rest tells which problems fit it."""

    def __init__(self, choices, name="random"):
        self.choices, self.to = choices, Text()
        self.causal = choices.choose("mask", ["causal", "causal", "causal", "bidirectional"]) == "causal"
        self.recurrent = self.causal and choices.seldom("recurrent", 2)  # every sum is a series that all keys count for, so there are states
        self.keys_at_queries = False  # every query must stand at a key
        self.learned_channels = 0     # of a product of learned features
        self.finite = None            # the highest order of a finite series among the sums
        self.parallel_only = False    # a sum of all orders, or with conditions on what is visible, is among them: there is no chunked form
        self.bounded = True           # outputs and weights are of order 1, so that f16 may hold them
        self.large = False            # too large for scores past order 1
        self.even_channels = set()    # channel axes that are rotated
        self.least = {}               # the least size of an axis
        self.gained = set()           # names of arrays with a learned factor
        self.name = name
        results = self.outputs()
        self.text = self.to.write(name, results)

    def choose(self, name, options):
        return self.choices.choose(name, options)

    # Arguments

    def learned(self, name, axes, initial="ones"):
        return self.to.argument(name, axes, f"parameter({initial})")

    def head(self, name, initial="constant(0.5)"):
        """A learned number per head, per group, or one."""
        return self.learned(name, self.choose(f"{name}.axes", [["h"], ["g"], []]), initial)

    def projected(self, name, options, clause="projection(bias)"):
        axes = self.choose(f"{name}.axes", options)
        source = self.choose(f"{name}.source", [clause, clause, None, "input"])
        return self.to.argument(name, axes, source if "t" in axes or "u" in axes else "input")

    # Tokens by themselves: queries, keys, values before the sum

    def step(self, array, label, token, channel):
        """One operation on an array of tokens; what it gives and its sign."""
        to, heads = self.to, [a for a in array.axes if a in ("h", "g")]
        kind = self.choose(f"{label}.operation", ["none", "feature", "norm", "rope", "feature", "convolve", "shift", "gain", "running", "gated", "position", "size"])
        if kind == "rope":
            clauses = [clause for clause in (self.choose(f"{label}.theta", ["", "theta(500000.0)"]),
                                             self.choose(f"{label}.layout", ["", "layout(interleaved)"]),
                                             self.choose(f"{label}.offset", ["", "", "offset(3)"])) if clause]
            self.even_channels.add(channel)
            return to.rope(array, clauses), "signed"
        if kind == "feature":
            formula, sign = self.choose(f"{label}.feature", FEATURES)
            return to.map(array.name + "f", formula.replace("X", "%" + array.name)), sign
        if kind == "norm":
            # A norm takes a factor away again: its derivative is what epsilon leaves of terms that cancel.
            return self.norm(array, label, [channel] + heads, careful=array.name in self.gained), "signed"
        if kind == "convolve":
            taps = self.choose(f"{label}.taps", [2, 3, 4, 5])
            axes = self.choose(f"{label}.tap_axes", [heads + [channel], [channel], heads, []])
            taps = self.learned(f"{array.name}_taps", axes + [f"j{taps}={taps}"], "uniform(-0.5, 0.5)")
            return to.convolve(array, taps), "signed"
        if kind == "shift":
            amount = self.choose(f"{label}.shift", [1, 2, 5])
            reverse = " reverse" if not self.causal and self.choices.seldom(f"{label}.reverse") else ""
            shifted = to.scan(array.name + "s", f"shift({amount}){reverse}", token, "%" + array.name)
            return to.map(array.name + "m", f"0.7 * %{array.name} + 0.3 * %{shifted.name}"), "signed"
        if kind == "gain":
            axes = self.choose(f"{label}.gain", [[channel], heads, heads + [channel]])
            gain = self.learned(array.name + "_gain", axes, "ones")
            scaled = to.map(array.name + "g", f"%{array.name} * %{gain.name}")
            self.gained.add(scaled.name)
            return scaled, "signed"
        if kind == "running" and self.causal:
            # A mean of the past; queries may stand in front of the first key, where the place is negative.
            sums = to.scan(array.name + "a", "sum" + self.choose(f"{label}.exclusive", ["", " exclusive"]), token, "%" + array.name)
            return to.map(array.name + "w", f"%{array.name} + %{sums.name} / max({token} + 1.0, 1.0)", [token]), "signed"
        if kind == "gated" and self.causal:
            gate = self.learned(f"{array.name}_gate", self.choose(f"{label}.gates", [heads, [channel], heads + [channel], []]), "normal(0.0, 1.0)")
            faded = to.map(array.name + "s", f"sigmoid(%{gate.name})")
            return to.gated_sum(array, faded), "signed"
        if kind == "size" and array in [argument for argument, _ in to.arguments]:
            # Without an epsilon: an argument's channels are not all 0, but past the last token.
            self.least[channel] = max(self.least.get(channel, 1), 2)
            size = to.reduce(array.name + "z", self.choose(f"{label}.size", ["sum", "max"]), channel, f"abs(%{array.name})")
            return to.map(array.name + "y", f"2.0 * %{array.name} / %{size.name}"), "signed"
        if kind == "position":
            return to.map(array.name + "p", self.choose(f"{label}.formula", [
                f"%{array.name} * rsqrt(1.0 + abs({token}))", f"%{array.name} + 0.5 * sin({token} * 0.25 + {channel})",
                f"%{array.name} * (1.0 + 0.1 * {channel} / size({channel}))"]), [token, channel]), "signed"
        return array, "signed"

    def norm(self, array, label, axes, careful=False):
        kind, axis = self.choose(f"{label}.norm", ["l2", "rms", "layer"]), self.choose(f"{label}.over", axes[:1] * 3 + axes)
        # Of fewer, a norm leaves nothing but signs: its derivative is what rounding leaves. Of few, by chance: three values may lie close together.
        heads = axis in ("h", "g")
        self.least[axis] = max(self.least.get(axis, 1), 2 if kind != "layer" else 3 if heads else 5)
        # What is divided by is bounded away from 0 where it may be any: of few values, and of sums of products, whose rounding by features is that of
        # their terms however small they are themselves.
        careful = careful or heads
        if kind == "l2":
            return self.to.normalize(kind, axis, array, self.choose(f"{label}.epsilon", ["1.0"] if careful else ["1.0e-3", "1.0e-12", "1.0"]))
        kept = self.choose(f"{label}.weights", [[axis], None, [a for a in array.axes if a in ("h", "g", "d", "e")]])
        weight = kept and self.learned(array.name + "_weight", kept)
        bias = kept and kind == "layer" and self.choices.often(f"{label}.bias") and self.learned(array.name + "_bias", kept, "zeros")
        return self.to.normalize(kind, axis, array, self.choose(f"{label}.epsilon", ["1.0e-2"] if careful else ["1.0e-2", "1.0e-5"]), weight, bias or None)

    def tokens(self, name, heads, token, channel):
        """An argument with its operations; the array and its sign."""
        axes = ["b"] + self.choose(f"{name}.heads", heads) + [token, channel]
        array, sign = self.to.argument(name, axes), "signed"
        for i in range(3):
            if self.choices.seldom(f"{name}.{i}", 3):
                before, (array, sign) = array, self.step(array, f"{name}.{i}", token, channel)
                if before.name in self.gained:
                    self.gained.add(array.name)
        return array, sign

    def queries(self, suffix):
        return self.tokens("q" + suffix, [["h"]], "t", "d")

    def keys(self, suffix):
        return self.tokens("k" + suffix, [["g"], ["g"], ["g"], ["h"], []], "u", "d")

    def values(self, suffix):
        array, _ = self.tokens("v" + suffix, [["g"], ["g"], ["g"], ["h"], []], "u", "e")
        if self.choices.seldom(f"v{suffix}.gate"):
            gate = self.projected(f"in_gate{suffix}", [["b", "g", "u"], ["b", "h", "u"], ["b", "u"], ["b", "g", "u", "e"], ["h"]])
            formula = self.choose(f"v{suffix}.gating", GATES).replace("A", "%" + gate.name)
            array = self.to.map(array.name + "h", f"{formula} * %{array.name}")
        return array

    # Pairs: scores, weights, masks, decays

    def lags(self, name):
        """An array of a number per lag."""
        to, causal = self.to, self.causal
        kind = self.choose(f"{name}.kind", ["table", "formula", "buckets", "gains"])
        if kind == "formula":
            slope = self.head(name + "_slope", "constant(0.1)")
            return to.map(name, self.choose(f"{name}.formula", [f"-%{slope.name} * abs(lag)", f"cos(lag * %{slope.name})",
                                                                f"1.0 / (1.0 + abs(lag) + %{slope.name} * %{slope.name})"]), ["lag"])
        entries = self.choose(f"{name}.entries", [3, 8, 17, 32])
        table = self.learned(name + "_table", self.choose(f"{name}.axes", [["h"], ["g"], []]) + [f"r{entries}={entries}"], "normal(0.0, 0.5)")
        place = "min(max(lag, 0.0), size(AXIS) - 1.0)" if causal else "min(abs(lag), size(AXIS) - 1.0)"
        if kind == "buckets":
            place = f"%{to.map(name + '_bucket', 'min(floor(2.0 * log1p(abs(lag))), %d.0)' % (entries - 1), ['lag']).name}"
        if kind == "gains":
            place = "abs(lag)"
        axis = f"r{entries}"
        formula = f"select({axis} == {place.replace('AXIS', axis)}, %{table.name}, 0.0)"
        return to.reduce(name, "sum", axis, formula, [] if kind == "buckets" else ["lag"])

    def row_or_column(self, name):
        return self.projected(name, [["b", "h", "t"], ["b", "g", "u"], ["b", "h", "u"], ["b", "u"], ["b", "t"]])

    def score(self, label, x):
        """A formula of the score."""
        for i in range(3):
            kind = self.choose(f"{label}.score{i}", ["none", "none", "none", "function", "bias", "temperature"])
            name = f"{kind}{label}{i}"
            if kind == "function":
                x = self.choose(f"{label}.score{i}.function", SCORES).replace("S", x if x == "s" else f"({x})")
            elif kind == "bias":
                bias = self.choose(f"{label}.score{i}.bias", ["0.1 * cos(t - u)", "lags", "head", "token", "-0.05 * abs(t - u)", "0.02 * min(u, 30.0)", "0.1 * h"])
                if bias == "lags":
                    bias = "%" + self.lags(name).name
                elif bias == "head":
                    bias = "%" + self.head(name, "normal(0.0, 0.5)").name
                elif bias == "token":
                    bias = "%" + self.row_or_column(name).name
                x = f"{x} + {bias}"
            elif kind == "temperature":
                of = self.choose(f"{label}.score{i}.of", ["head", "token"])
                factor = f"%{self.head(name, 'ones').name}" if of == "head" else f"sigmoid(%{self.row_or_column(name).name})"
                x = f"{factor} * ({x})"
        return x

    def weight(self, label):
        """A formula of the mapped score, and its sign."""
        weights = [(formula, sign) for formula, sign in WEIGHTS if formula in ORDERS or not self.recurrent]
        formula, sign = self.choose(f"{label}.weight", weights)
        more, other = self.choose(f"{label}.weight2", weights)
        join_by = self.choose(f"{label}.join", ["", "", "+", "*"])
        orders = [ORDERS.get(f) for f in [formula] + ([more] if join_by else [])]
        if None not in orders:
            self.finite = max(sum(orders) if join_by == "*" else max(orders), self.finite or 0)
        if join_by:
            formula = f"({formula}) {join_by} ({more})"
            signs = {sign, other}
            sign = "signed" if "signed" in signs else "positive" if join_by == "+" and "positive" in signs or signs == {"positive"} else "nonnegative"
        if self.choices.seldom(f"{label}.sided", 4):
            side = self.choose(f"{label}.side", ["head", "token"])
            side = self.head(f"side{label}", "normal(0.0, 0.5)") if side == "head" else self.row_or_column(f"side{label}")
            formula = self.choose(f"{label}.sides", SIDED).replace("X", "%" + side.name).replace("W", f"({formula})")
        if not self.recurrent and self.choices.seldom(f"{label}.factor", 6):
            gain = self.lags(f"gain{label}")
            formula, sign = f"({formula}) * %{gain.name}", "signed"
        return formula.replace("S", "s"), sign

    def visible(self, label):
        clauses = []
        for i in range(0 if self.recurrent else 2):
            if not self.choices.seldom(f"{label}.visible{i}", 5):
                continue
            condition = self.choose(f"{label}.visible{i}.condition", VISIBLE)
            if "WINDOW" in condition:
                condition = condition.replace("WINDOW", self.to.parameter(f"window{label}{i}", self.choose(f"{label}.window{i}", [4, 1, 16, 40])))
            if "PREFIX" in condition:
                condition = condition.replace("PREFIX", self.to.parameter(f"prefix{label}{i}", self.choose(f"{label}.prefix{i}", [8, 1, 24])))
            if "DOCUMENT" in condition:
                names = [a.name for a, _ in self.to.arguments]
                if "document_q" not in names:
                    self.to.argument("document_q", ["b", "t"], "input", integer=True)
                    self.to.argument("document_k", ["b", "u"], "input", integer=True)
                condition = condition.replace("DOCUMENT_Q", "%document_q").replace("DOCUMENT_K", "%document_k")
            if "KEEP" in condition:
                keep = self.to.argument(f"keep{label}{i}", ["b", "u"], "input")
                condition = condition.replace("KEEP", "%" + keep.name)
            clauses.append(condition)
        return clauses

    def decay(self, label, conditions):
        """A running log-decay, or none. Where conditions may hide a query's own key, what is left of a mass must not become 0."""
        if not (self.causal and self.choices.seldom(f"{label}.decay", 2 if self.recurrent else 4)):
            return None
        self.keys_at_queries = True
        # A strong one passes the smallest number of f32 within a few tokens; its own gradient is then what cancellation leaves.
        strong = not conditions and self.choices.often(f"{label}.decay.strong")
        kind = self.choose(f"{label}.decay.kind", ["gate", "steps", "slope"])
        if kind == "slope":
            slope = self.head(f"slope{label}", f"constant({3.0 if strong else -3.0})")
            return self.to.map(f"decay{label}", f"exp(%{slope.name}) * u * -1.0", ["u"])
        gate = self.projected(f"decay_gate{label}", [["b", "g", "u"], ["b", "h", "u"], ["b", "u"]])
        formula = f"{'-30.0' if strong else '-1.0'} * softplus(%{gate.name})" if kind == "gate" else f"%{gate.name} / 16.0"
        return self.to.scan(f"decay{label}", "sum" + self.choose(f"{label}.decay.exclusive", ["", " exclusive"]), "u", formula)

    def series(self, label, features):
        first = self.choose(f"{label}.first", [0, 0, 1, 2])
        last = first + self.choose(f"{label}.orders", [0, 1, 2, 3])
        coefficients = self.choose(f"{label}.coefficients", ["factorial", "positive", "signed"])
        if coefficients != "factorial":
            values = [self.choose(f"{label}.c{i}", [1.0, 0.5, 0.25, 2.0, 0.0]) for i in range(last - first + 1)]
            if not any(values):
                values[-1] = 1.0
            if coefficients == "signed":
                values[-1] *= -1 if values[-1] else 1
        clauses = [f"orders({first} to {last})"]
        self.finite = max(last, self.finite or 0)
        if coefficients == "factorial":
            clauses += self.choose(f"{label}.written", [[], ["coefficients(factorial)"]])
            even = first == 0 and last % 2 == 0
        else:
            clauses.append(f"coefficients({', '.join(map(str, values))})")
            even = first == last and last % 2 == 0 and values[0] > 0 and last > 0 and "nonnegative"
            even = even or (first == last == 0 and values[0] > 0)
        if coefficients == "signed":
            sign = "signed"
        elif features == "positive":
            sign = "positive"
        elif even:
            sign = "positive" if even is True else even
        elif coefficients == "factorial" and first == last and last % 2 == 0:
            sign = "nonnegative"
        else:
            sign = "nonnegative" if features == "nonnegative" else "signed"
        self.bounded = False
        return clauses, sign

    def features(self, label, array, heads, axis):
        """Learned features of an array over d, along another axis."""
        axes = self.choose(f"{label}.heads", [heads, []]) + ["d", axis]
        weight = self.learned(array.name + "_features", axes, "uniform(-0.2, 0.2)")
        return self.to.reduce(array.name + "r", "sum", "d", f"%{array.name} * %{weight.name}"), "signed"

    def sum(self, label, query, key, value):
        """One recurrences and what is made of its sums: an array [b, h, t, e]."""
        if self.choices.seldom(f"{label}.learned", 5):
            size = self.choose(f"{label}.features", [8, 16])
            self.learned_channels, axis = max(self.learned_channels, size), f"r{size}={size}"
            query = self.features(f"{label}.query_features", query[0], ["h"], axis)
            key = self.features(f"{label}.key_features", key[0], [a for a in key[0].axes if a in ("g", "h")], axis)
        signs, (q, k) = {query[1], key[1]}, (query[0], key[0])
        features = "signed" if "signed" in signs else "positive" if signs == {"positive"} else "nonnegative"
        kind = self.choose(f"{label}.kind", ["series", "series", "weight"] if self.recurrent else
                           ["exponential", "exponential", "series", "series", "weight", "all"])
        clauses = []
        if kind == "exponential":
            clauses, sign = ["exponential"], "positive"
        elif kind == "all":
            clauses, sign = ["orders(all)"], "positive"
        elif kind == "series":
            clauses, sign = self.series(label, features)
        else:
            formula, sign = self.weight(label)
            clauses = [f"weight({formula})"]
            self.bounded = False
        if kind != "exponential":
            scale = self.choose(f"{label}.scale", SCALES)
            # A product of positive features grows with the channels.
            clauses.append(f"scale({'1.0 / size(d)' if features != 'signed' else scale})")
        x = "s"
        if not self.recurrent and (kind != "series" or self.choices.seldom(f"{label}.mapped", 6)):
            x = self.score(label, "s")
        if x != "s":
            clauses.append(f"score({x})")
            if kind == "series" and sign == "positive" and features == "positive" and "orders(0 to" not in clauses[0]:
                sign = "signed"  # the sign was that of the features' products
            elif kind == "series" and features != "signed" and sign in ("nonnegative", "positive") and not self.even(clauses):
                sign = "signed"
        clauses.append("causal" if self.causal else "bidirectional")
        conditions = self.visible(label)
        decay = self.decay(label, conditions)
        if kind == "weight" and self.causal and not conditions and decay is None and self.choices.seldom(f"{label}.distance", 3):
            slope = self.head(f"distance{label}", "constant(-3.0)")
            clauses[0] = f"weight(({clauses[0][len('weight('):-1]}) * exp(-exp(%{slope.name}) * (t - u)))"
        if conditions:
            clauses.append(f"visible({', '.join(conditions)})")
        self.parallel_only |= bool(conditions) or kind in ("exponential", "all")
        denominators = BY_COUNT + BY_MASS[sign] * 2
        formula = self.choose(f"{label}.denominator", denominators if kind != "exponential" else BY_MASS["positive"] + denominators)
        sums = ["numerator"] + (["mass"] if "Z" in formula else []) + (["count"] if "C" in formula else [])
        if self.choices.seldom(f"{label}.unread", 12):
            sums = ["numerator", "mass", "count"]
        made = self.to.recurrences(sums, q, k, value, clauses, decay)
        # An exponential that nothing divides, or its root, leaves the range of f32 where scores are large.
        self.large |= kind in ("all", "exponential") and ("Z" not in formula or "sqrt(Z" in formula or "N / C" in formula)
        self.bounded = self.bounded and formula in ("N / Z", "N * pow(Z, -1.0)", "N / stop(Z)")
        for letter, which in (("N", "numerator"), ("Z", "mass"), ("C", "count")):
            if which in made:
                formula = formula.replace(letter, "%" + made[which].name)
        if "POWER" in formula:
            formula = formula.replace("POWER", "%" + self.head("power" + label).name)
        result = made["numerator"] if formula == "%" + made["numerator"].name else self.to.map("y" + label, formula)
        return result, made, sign

    @staticmethod
    def even(clauses):
        first, last = clauses[0][len("orders("):-1].split(" to ")
        signed = any(clause.startswith("coefficients(") and "factorial" not in clause for clause in clauses)
        return not signed and first == "0" and int(last) % 2 == 0

    # Rows after the sum

    def epilogue(self, y, label, value):
        to = self.to
        kind = self.choose(f"{label}.operation", ["none", "gate", "gate", "norm", "norm", "residual", "mix", "function", "convolve", "cumulative", "position", "query"])
        if kind == "gate":
            gate = self.projected(f"out_gate{label}", [["b", "h", "t"], ["b", "h", "t", "e"], ["b", "t"], ["b", "t", "e"], ["h", "e"], ["e"]])
            formula = self.choose(f"{label}.gating", GATES).replace("A", "%" + gate.name)
            return to.map("y", f"{formula} * %{y.name}")
        if kind == "norm":
            return self.norm(y, label, ["e", "h"], careful=self.finite is not None)
        if kind == "residual" and self.causal:
            self.keys_at_queries = True
            at = to.align(value)
            return to.map("y", f"%{y.name} + 0.5 * %{at.name}")
        if kind == "mix":
            mixed = to.reduce("x", "mean", "h", "%" + y.name) if self.choose(f"{label}.mean", [True, True, False]) else \
                to.reduce("x", "max", "e", "%" + y.name)
            return to.map("y", f"%{y.name} - 0.5 * %{mixed.name}")
        if kind == "function":
            formula = self.choose(f"{label}.function", ["tanh(Y)", "silu(Y)", "Y / (1.0 + abs(Y))", "min(Y, 2.0)", "0.2 * Y", "log1p(abs(Y))", "log2(1.0 + abs(Y))", "Y * Y"])
            return to.map("y", formula.replace("Y", "%" + y.name))
        if kind == "convolve":
            taps = self.learned(f"out_taps{label}", self.choose(f"{label}.taps", [["h"], ["h", "e"], []]) + ["j3=3"], "uniform(-0.5, 0.5)")
            return to.convolve(y, taps)
        if kind == "cumulative" and self.causal:
            gate = self.projected(f"mass_gate{label}", [["b", "h", "t"], ["b", "t"]])
            total = to.scan("x", "sum", "t", f"exp(%{gate.name})")
            return to.map("y", f"%{y.name} / max(%{total.name}, 1.0)")
        if kind == "position":
            return to.map("y", f"%{y.name} * rsqrt(1.0 + abs(t))", ["t"])
        if kind == "query":
            q = next(a for a, _ in to.arguments if a.name == "q")
            length = to.reduce("x", "mean", "d", f"%{q.name} * %{q.name}")
            return to.map("y", f"%{y.name} * rsqrt(1.0 + %{length.name})")
        return y

    def outputs(self):
        query, key, value = self.queries(""), self.keys(""), self.values("")
        y, made, sign = self.sum("", query, key, value)
        others = []
        second = self.choose("second", [None, None, None, None, "subtract", "multiply", "output"])
        if second:
            q2 = self.queries("2") if self.choices.often("2.queries") else query
            k2 = self.keys("2") if self.choices.often("2.keys") else key
            v2 = self.values("2") if self.choices.seldom("2.values") else value
            y2, _, _ = self.sum("2", q2, k2, v2)
            if second == "output":
                others.append(y2)
            elif second == "subtract":
                factor = self.head("lambda", "constant(0.8)")
                y = self.to.map("y", f"%{y.name} - %{factor.name} * %{y2.name}")
            else:
                # Cotangents of the second sum are as large as the first, and what cancels in them is.
                self.large |= (self.finite or 0) > 2
                y = self.to.map("y", f"%{y.name} * sigmoid(%{y2.name})")
        for i in range(3):
            if self.choices.seldom(f"epilogue{i}", 3):
                y = self.epilogue(y, f"epilogue{i}", value)
        if self.choices.seldom("row_output", 8) and "mass" in made:
            others.append(self.to.map("l", f"log(%{made['mass'].name})" if sign == "positive" else f"0.1 * %{made['mass'].name}"))
            self.bounded = False
        return [y] + others
