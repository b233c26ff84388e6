# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: taylorc, torch
# SHARDS: 2
# RUN: %python %s %t %full %shard
"""Rows that see no key are no terms of what mixes tokens or heads, and do not make it dead, and what is computed for them before a sum is as if it were not.
Where a formula joins an empty sum with one that sees keys, the other's part stands. Outputs and gradients of the reference, of --emit=torch (except for what stands
before a sum), of a processor's kernels and of PTX are those of formulas written by hand. A row is dead where its masks hide all keys, or before the first key."""
import pathlib
import subprocess
import sys

import numpy as np
import torch

sys.path[:0] = [str(pathlib.Path(__file__).parent / "Inputs"), str(pathlib.Path(__file__).parents[1] / "Inputs")]
from arrays import ARRAYS
from cases import run_cases
from formulas import Pairs, exponential, gradients, make_inputs, mass, numerator, rope

folder, full = pathlib.Path(sys.argv[1]), sys.argv[2] == "1"
SHARD, SHARDS = map(int, sys.argv[3].split("/"))
folder.mkdir(parents=True, exist_ok=True)
HEADER = f"""
{ARRAYS}!token = !taylor.array<[b, t]>
!at = !taylor.array<[t]>
!taps = !taylor.array<[h, e, j = 3]>
"""
# The sums of keys that are two or more before a row, and of all that it may see, which are p.
BOTH = """
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal visible(u + 2.0 <= t) : !q, !k, !v
  %p = taylor.recurrences %q, %k, %v exponential causal : !q, !k, !v"""
HEADS = """
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal visible(u + 2.0 * (h + 1.0) <= t) : !q, !k, !v"""

# Sums in a window of three keys, and beyond it.
WINDOWS = """
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal visible(t - u < 3.0) : !q, !k, !v
  %m, %y = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) scale(rsqrt(size(d))) causal visible(3.0 <= t - u) : !q, !k, !v"""

MASKS = """
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal visible(u + 2.0 * h <= t) : !q, !k, !v
  %y = taylor.recurrences [mass] %q, %k, %v exponential causal visible(u + 2.0 * (3.0 - h) <= t) : !q, !k, !v"""


def running(x, kind, reverse=False, exclusive=False):
    """Sums or maxima over the last axis but one, which is t; `exclusive` of what comes before."""
    x = x.flip(-2) if reverse else x
    y = x.cumsum(-2) if kind == "sum" else x.cummax(-2)[0]
    if exclusive:
        y = torch.cat([torch.full_like(y[..., :1, :], 0 if kind == "sum" else -torch.inf), y[..., :-1, :]], -2)
    return y.flip(-2) if reverse else y


class Sums(Pairs):
    """n, z and p of BOTH, or n and z of HEADS, with rows as [.., T, 1]."""

    def __init__(self, q, k, v, distance=2):
        super().__init__(q, k, causal=True)
        self.p = numerator(self, exponential(self, self.score(q, k)), v)
        distance = torch.as_tensor(distance).reshape(-1, 1, 1)
        self.seen = self.visible  # by p
        self.visible = self.u[None, :] + distance <= self.t[:, None]  # [heads or 1, T, U]
        self.isAlive = self.visible.any(-1)[..., None]
        w = exponential(self, self.score(q, k))
        self.n, self.z = numerator(self, w, v), mass(w)

    def only(self, x, none=0.0):
        return x.where(self.isAlive, torch.tensor(none, dtype=x.dtype))

    def over_p(self, x):
        return (x + 0 * self.p).where(self.seen.any(-1)[:, None], torch.zeros((), dtype=x.dtype))

    def inverse(self):
        return 1 / self.z.where(self.isAlive, torch.ones((), dtype=self.z.dtype))


def by_head(q, k, v):
    return Sums(q, k, v, 2 * (torch.arange(q.shape[1]) + 1))


def scanned(kind, **direction):
    def formula(q, k, v):
        s = Sums(q, k, v)
        return s.over_p(s.p * (1 + running(s.only(torch.exp(-s.z)), kind, **direction)))

    return formula


def maximum(q, k, v):
    s = Sums(q, k, v)
    return s.over_p(s.p * torch.exp(0.1 * running(s.only(-s.z, -torch.inf), "max").detach()))


def shifted(q, k, v):
    s = Sums(q, k, v)
    x = s.only(torch.exp(-s.z))
    return s.over_p(s.p * (1 + torch.cat([x[..., 2:, :], torch.zeros_like(x[..., :2, :])], -2)))


def alive(q, k, v):
    s = Sums(q, k, v)
    return s.over_p(s.p * running(torch.exp(-0.1 * running(s.only(s.z), "sum", reverse=True)), "sum"))


def convolved(q, k, v, w):
    s = Sums(q, k, v)
    y = s.only(s.n * s.inverse())
    rows = torch.nn.functional.pad(y.permute(0, 1, 3, 2).flatten(1, 2), (2, 0))
    y = torch.nn.functional.conv1d(rows, w.flatten(0, 1)[:, None], groups=rows.shape[1])
    return torch.exp(y.unflatten(1, (q.shape[1], -1)).permute(0, 1, 3, 2))


def second(q, k, v):
    s = Sums(q, k, v)
    return s.over_p(Sums(q * s.only(torch.tanh(s.z)), k, v).p + 1)


def rotated(q, k, v):
    s = Sums(q, k, v)
    return s.only(torch.exp(rope(s.only(s.n * s.inverse()), s.t)))


def among_heads(q, k, v):
    s = by_head(q, k, v)
    c = torch.exp(s.only(torch.exp(-s.z)).mean(1, keepdim=True)).where(s.isAlive.any(0), torch.zeros((), dtype=q.dtype))
    return (s.n + 1) * running(c, "sum")


def two_masks(q, k, v):
    """The first mask hides early rows of the last heads, the second of the first heads."""
    h = torch.arange(q.shape[1])
    a, b = Sums(q, k, v, 2 * h), Sums(q, k, v, 2 * (3 - h))
    isAlive = a.isAlive | b.isAlive
    zero = torch.zeros((), dtype=q.dtype)
    c = torch.exp(torch.exp(-a.z - b.z).where(isAlive, zero).sum(1, keepdim=True)).where(isAlive.any(0), zero)
    return a.n * c


def loudest_head(q, k, v):
    s = by_head(q, k, v)
    r = s.only(torch.arange(q.shape[1])[:, None, None] - s.z, -torch.inf).amax(1, keepdim=True)
    zero = torch.zeros((), dtype=q.dtype)
    return ((s.n + 1) * torch.exp(0.1 * r.where(s.isAlive.any(0), zero))).where(s.isAlive.any(0), zero)


class Windows(Pairs):
    """n, z, m and y of WINDOWS: 0 where no key is seen. `ratio` is a quotient, 0 where its divisor is of an empty sum; `only` a value where some key is seen."""

    def __init__(self, q, k, v):
        super().__init__(q, k, causal=True)
        s, lag, causal = self.score(q, k), self.t[:, None] - self.u[None, :], self.visible
        self.visible = causal & (lag < 3)
        self.seesNear, w = self.visible.any(-1)[:, None], exponential(self, s)
        self.n, self.z = numerator(self, w, v), mass(w)
        self.visible = causal & (3 <= lag)
        self.seesFar, w = self.visible.any(-1)[:, None], self.hide(1 + s + s * s / 2)
        self.m, self.y = numerator(self, w, v), mass(w)
        self.seesAny = self.seesNear | self.seesFar

    def choose(self, sees, x, none=0.0):
        return x.where(sees, torch.tensor(none, dtype=x.dtype))

    def ratio(self, sees, n, z):
        return self.choose(sees, n / self.choose(sees, z, 1.0))

    def only(self, x):
        return self.choose(self.seesAny, x)


def joined(formula):
    def with_windows(q, k, v):
        s = Windows(q, k, v)
        near, far = s.ratio(s.seesNear, s.n, s.z), s.ratio(s.seesFar, s.m, s.y)
        return s.only(formula(s, near, far, q))

    return with_windows


def exponentials(s, near, far, q):
    near, far = s.choose(s.seesNear, torch.exp(near)), s.choose(s.seesFar, torch.exp(far))
    return near - 0.5 * far * s.choose(s.seesFar, torch.sigmoid(s.y))


def normalized(s, near, far, q):
    return torch.nn.functional.normalize(near - 0.5 * far + 1, dim=-1)


# In front of a sum: formulas that are infinite, or no number, in rows before the first key, or have such a derivative.
CAUSAL = "\n  %{0} = {1}\n  %p = taylor.recurrences %{0}, %k, %v exponential causal : !q, !k, !v"
PLUS_ONE = "%o = taylor.map %p + 1.0 : !o"


def causal(q, k, v):
    p = Pairs(q, k, causal=True)
    return p.rows(numerator(p, exponential(p, p.score(q, k)), v) + 1)


def times(q, k, function):
    """q times a function of its position; nothing is divided, or has a root, before the first key."""
    t = Pairs(q, k, causal=True).t[:, None].double()
    return torch.where(t < 0, torch.ones_like(t), function(t.clamp(min=0))) * q


def before(function):
    return lambda q, k, v: causal(times(q, k, function), k, v)


def turned(q, k, v):
    """Queries over their length, which is 0 before the first key, rotated."""
    p = Pairs(q, k, causal=True)
    x = p.safe(q)
    return causal(rope(x / x.square().sum(-1, keepdim=True).sqrt(), p.t), k, v)


def two_readers(q, k, v):
    s = Sums(times(q, k, lambda t: 1 / (t + 1)), k, v)
    return s.over_p(s.p + s.n)


def gated(q, k, v):
    r = times(q, k, lambda t: 1 / (t + 1))
    p = Pairs(r, k, causal=True)
    return p.rows(numerator(p, exponential(p, p.score(r, k)), v) * torch.tanh(r.sum(-1, keepdim=True)))


def in_score(q, k, v):
    p = Pairs(q, k, causal=True)
    x = torch.log(p.t.clamp(min=0).double() + 1)[:, None]
    return p.rows(numerator(p, exponential(p, p.score(q, k) + x), v) + 1)


def by_heads(q, k, v):
    h, t = torch.arange(q.shape[1]).double()[:, None, None], Pairs(q, k, causal=True).t[:, None].double()
    one = torch.ones((), dtype=q.dtype)
    s = by_head(q / (t - 1).where(t >= 2, one) / (t - 2 * h - 1).where(t >= 2 * h + 2, one), k, v)
    return s.only(s.n + 1)


# Name: the sums, what is made of them, the formula, whether PTX runs it, on the first shape, without --full.
CASES = {
    "running_sum": (BOTH, "%c = taylor.scan sum over(t) exp(-%z) : !row\n %o = taylor.map %p * (1.0 + %c) : !o, !row", scanned("sum"), True),
    "sum_of_later": (BOTH, "%c = taylor.scan sum exclusive reverse over(t) exp(-%z) : !row\n %o = taylor.map %p * (1.0 + %c) : !o, !row",
                     scanned("sum", reverse=True, exclusive=True), False),
    "maximum": (BOTH, "%c = taylor.scan max over(t) -%z : !row\n %o = taylor.map %p * exp(0.1 * stop(%c)) : !o, !row", maximum, False),
    "shifted": (BOTH, "%c = taylor.scan shift(2) reverse over(t) exp(-%z) : !row\n %o = taylor.map %p * (1.0 + %c) : !o, !row", shifted, False),
    "alive": (BOTH, "%c = taylor.scan sum reverse over(t) %z : !row\n %x = taylor.scan sum over(t) exp(-0.1 * %c) : !row\n"
                    " %o = taylor.map %p * %x : !o, !row", alive, False),
    "convolved": (BOTH, "%y = taylor.map %n / %z : !o, !row\n %c = taylor.convolve %y, %w : !o, !taps\n %o = taylor.map exp(%c) : !o", convolved, False),
    "second": (BOTH, "%r = taylor.map %q * tanh(%z) : !q, !row\n %s = taylor.recurrences %r, %k, %v exponential causal : !q, !k, !v\n"
                     " %o = taylor.map %s + 1.0 : !o", second, False),
    "rotated": (BOTH, "%y = taylor.map %n / %z : !o, !row\n %c = taylor.rope %y : !o\n %o = taylor.map exp(%c) : !o", rotated, False),
    "among_heads": (HEADS, "%r = taylor.reduce mean over(h) exp(-%z) : !row\n %c = taylor.scan sum over(t) exp(%r) : !token\n"
                           " %o = taylor.map (%n + 1.0) * %c : !o, !token", among_heads, False),
    "two_masks": (MASKS, "%r = taylor.reduce sum over(h) exp(-%z - %y) : !row, !row\n %c = taylor.map exp(%r) : !token\n"
                         " %o = taylor.map %n * %c : !o, !token", two_masks, False),
    "loudest_head": (HEADS, "%r = taylor.reduce max over(h) h - %z : !row\n %c = taylor.map exp(0.1 * %r) : !token\n"
                            " %o = taylor.map (%n + 1.0) * %c : !o, !token", loudest_head, False),
    "complementary": (WINDOWS, "%o = taylor.map (%n + %m) / (%z + %y) : !o, !o, !row, !row",
                      joined(lambda s, near, far, q: s.ratio(s.seesAny, s.n + s.m, s.z + s.y)), True),
    "difference": (WINDOWS, "%o = taylor.map %n / %z - 0.5 * (%m / %y) : !o, !row, !o, !row", joined(lambda s, near, far, q: near - 0.5 * far), False),
    "of_results": (WINDOWS, "%a = taylor.map %n / %z : !o, !row\n %c = taylor.map %m / %y : !o, !row\n %o = taylor.map %a * 2.0 - %c : !o, !o",
                   joined(lambda s, near, far, q: 2 * near - far), False),
    "plus_one": (WINDOWS, "%o = taylor.map (%n + %m) / (1.0 + %z + %y) : !o, !o, !row, !row",
                 joined(lambda s, near, far, q: (s.n + s.m) / (1 + s.z + s.y)), False),
    "by_the_other": (WINDOWS, "%o = taylor.map %n / (1.0 + %y) : !o, !row", joined(lambda s, near, far, q: s.n / (1 + s.y)), False),
    "residual": (WINDOWS, "%x = taylor.reduce sum over(d) %q : !q\n %o = taylor.map %x + %n / %z + %m / %y : !row, !o, !row, !o, !row",
                 joined(lambda s, near, far, q: q.sum(-1, keepdim=True) + near + far), False),
    "exponentials": (WINDOWS, "%o = taylor.map exp(%n / %z) - 0.5 * exp(%m / %y) * sigmoid(%y) : !o, !row, !o, !row", joined(exponentials), False),
    "chosen": (WINDOWS, "%o = taylor.map select(0.0 < %y, %m / %y, %n / %z) : !row, !o, !o, !row",
               joined(lambda s, near, far, q: torch.where(s.y > 0, far, near)), False),
    "normalized": (WINDOWS, "%x = taylor.map %n / %z - 0.5 * (%m / %y) + 1.0 : !o, !row, !o, !row\n %o = taylor.normalize l2 over(e) %x epsilon(1.0e-12) : !o",
                   joined(normalized), False),
    "divided": (CAUSAL.format("r", "taylor.map %q / (t + 1.0) : !q"), PLUS_ONE, before(lambda t: 1 / (t + 1)), True),
    "root": (CAUSAL.format("r", "taylor.map %q * sqrt(t + 0.5) : !q"), PLUS_ONE, before(lambda t: (t + 0.5).sqrt()), False),
    "inverse_root": (CAUSAL.format("r", "taylor.map %q * rsqrt(t + 1.0) : !q"), PLUS_ONE, before(lambda t: (t + 1).rsqrt()), False),
    "logarithm": (CAUSAL.format("r", "taylor.map %q * log(t + 2.0) : !q"), PLUS_ONE, before(lambda t: (t + 2).log()), False),
    "power": (CAUSAL.format("r", "taylor.map %q * pow(t + 1.0, 0.5) : !q"), PLUS_ONE, before(lambda t: (t + 1) ** 0.5), False),
    "overflow": (CAUSAL.format("r", "taylor.map %q * exp(-45.0 * t) : !q"), PLUS_ONE, before(lambda t: (-45 * t).exp()), False),
    "turned": (CAUSAL.format("r", "taylor.reduce sum over(d) %q * %q : !q\n %x = taylor.map %q / sqrt(%r) : !q, !row\n %r1 = taylor.rope %x : !q")
               .replace("%r, %k", "%r1, %k"), PLUS_ONE, turned, True),
    "two_readers": ("\n %r = taylor.map %q / (t + 1.0) : !q" + BOTH.replace("%q", "%r"), "%o = taylor.map %p + %n : !o, !o", two_readers, False),
    "gated": (CAUSAL.format("r", "taylor.map %q / (t + 1.0) : !q"),
              "%x = taylor.reduce sum over(d) %r : !q\n %o = taylor.map %p * tanh(%x) : !o, !row", gated, False),
    "in_score": ("\n %x = taylor.map log(t + 1.0) -> !at\n"
                 " %p = taylor.recurrences %q, %k, %v exponential score(s + %x) causal : !q, !k, !v, !at", PLUS_ONE, in_score, True),
    "by_heads": ("\n %x = taylor.map 1.0 / (t - 1.0) -> !at\n %y = taylor.map %q / (t - 2.0 * h - 1.0) : !q\n %r = taylor.map %y * %x : !q, !at"
                 + HEADS.replace("%q", "%r"), "%o = taylor.map %n + 1.0 : !o", by_heads, True),
}
# Of a kind that another case has: without --full these are for the reference alone.
RARE = ["sum_of_later", "alive", "two_masks", "of_results", "by_the_other", "residual", "root", "inverse_root", "power"]
IN_FRONT = list(CASES)[list(CASES).index("divided"):]
SHAPES = [  # b, h, g, t, u, d, e; channels are compiled in
    (1, 4, 2, 9, 6, 16, 32),  # three rows before the first key
    (2, 2, 2, 70, 70, 16, 32),  # more than a block
]
DEVICES = [("reference", "f64", 1e-9), ("cpu", "f64", 1e-9), ("cpu", "f32", 2e-4), ("ptx", "f32", 2e-4)]


def compare(what, got, want, tolerance):
    error = np.linalg.norm(got - want)
    assert error <= tolerance * np.linalg.norm(want) + 1e-12, f"{what}: error {error}, norm {np.linalg.norm(want)}"


def compare_all(what, got, want, tolerance):
    for name in want:
        compare(f"{what}, {name}", got[name], want[name], tolerance)


def store(inputs, cotangent, place):
    """Writes a problem; the arguments of taylor-run that read it and write its results."""
    place.mkdir(parents=True, exist_ok=True)
    np.save(place / "cotangent.npy", cotangent)
    arguments = [f"--cotangent=o={place}/cotangent.npy", "--grad"]
    for name, x in inputs.items():
        np.save(place / f"{name}.npy", x.detach().numpy())
        arguments.append(f"--input={name}={place}/{name}.npy")
    return arguments


def store_results(inputs, place):
    place.mkdir(parents=True, exist_ok=True)
    return [f"--output=o={place}/o.npy", *(f"--output-grad={name}={place}/d{name}.npy" for name in inputs)]


def evaluate(function, inputs, cotangent):
    """Output and gradients in fp64."""
    o = function(*inputs.values())
    grads = gradients(o, inputs, torch.from_numpy(cotangent))
    return {"o": o.detach().numpy()} | {f"d{n}": torch.zeros_like(x).numpy() if g is None else g.numpy() for (n, x), g in zip(inputs.items(), grads)}


def write(name):
    sums, rest, *_ = CASES[name]
    taps = ", %w: !taps from parameter(uniform(-0.5, 0.5))" if "%w" in rest else ""
    spec = folder / f"{name}.mlir"
    spec.write_text(f"{HEADER}taylor.spec @{name}(%q: !q, %k: !k, %v: !v{taps}) {{{sums}\n {rest}\n taylor.yield %o : !o\n}}\n")
    return spec


def make_problem(name, shape):
    formula, taps = CASES[name][2], "%w" in CASES[name][1]
    sizes = dict(zip("bhgtude", shape)) | {"j": 3}
    inputs = make_inputs("softmax", sizes, more={"w": "hej"} if taps else {})
    if name == "turned":
        with torch.no_grad():
            inputs["q"][:, :, : max(sizes["t"] - sizes["u"], 0)] = 0
    cotangent = np.random.default_rng(1).standard_normal([sizes[a] for a in "bhte"])
    return inputs, cotangent, evaluate(formula, inputs, cotangent)


def devices(number, name, shape):
    """A processor's kernels of most in one of the two types, and GPUs' of some, without --full."""
    for device, dtype, tolerance in DEVICES:
        if device != "reference" and not full and name in RARE:
            continue
        if device == "cpu" and not full and dtype != ("f64", "f32")[number % 2]:
            continue
        if device != "ptx" or full or (CASES[name][3] and shape == SHAPES[0]):
            yield device, dtype, tolerance


def check(number, name):
    spec = write(name)
    runs = []  # what, inputs, results' folder, right values, tolerance
    lines = []
    for shape in SHAPES if full or name not in IN_FRONT else SHAPES[:1]:
        place = folder / name / str(SHAPES.index(shape))
        inputs, cotangent, want = make_problem(name, shape)
        arguments = [f"--shape={','.join(f'{axis}={size}' for axis, size in zip('bhgtude', shape))}", *store(inputs, cotangent, place)]
        if name not in IN_FRONT:
            text = subprocess.run(["taylorc", spec, "--emit=torch"], check=True, capture_output=True, text=True).stdout
            names = {"torch": torch, "Tensor": torch.Tensor}
            exec(text, names)
            compare_all(f"{name} {shape} torch", evaluate(names[name], inputs, cotangent), want, 1e-9)
        for device, dtype, tolerance in devices(number, name, shape):
            results = place / f"{device}-{dtype}"
            lines.append(" ".join([str(spec), f"--device={device}", f"--dtype={dtype}", *arguments, *store_results(inputs, results)]))
            runs.append((f"{name} {shape} {device} {dtype}", inputs, results, want, tolerance))
    for run, result in zip(runs, run_cases(["taylor-run"], lines)):
        what, inputs, results, want, tolerance = run
        assert result.passed, (what, result.output)
        compare_all(what, {n: np.load(results / f"{n}.npy") for n in ["o"] + [f"d{m}" for m in inputs]}, want, tolerance)


torch.set_num_threads(1)
for number, name in list(enumerate(CASES))[SHARD::SHARDS]:
    check(number // SHARDS, name)
print(f"{len(CASES)} specifications")
