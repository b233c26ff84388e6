# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: taylorc, torch
# SHARDS: 4
# RUN: %python %s %t %shard %full
"""Every function of formulas at zeros, infinities, NaN and the edges of its domain: values of the reference, of a processor's kernels in f32, f64 and bf16, for vectors of
two lengths, and of PTX are PyTorch's. A NaN is swallowed by nothing that PyTorch hands it on through, forward and backward: relu, elu, clamps, maxima, reductions, sums over keys.
Weights that fall like exponentials are right at every score, over their own mass."""
import math
import pathlib
import sys

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Inputs"))
from arrays import ARRAYS
from cases import run_cases

folder, full = pathlib.Path(sys.argv[1]), sys.argv[3] == "1"
folder.mkdir(parents=True, exist_ok=True)
nan, inf = math.nan, math.inf


def by(exponent):
    """As C's pow: PyTorch takes a root for the number 0.5."""
    return lambda x: torch.pow(x, torch.full_like(x, exponent))


# Name: the formula of x, the same in PyTorch.
FUNCTIONS = {
    "exp": ("exp(%x)", torch.exp), "expm1": ("expm1(%x)", torch.expm1), "log": ("log(%x)", torch.log), "log2": ("log2(%x)", torch.log2), "log1p": ("log1p(%x)", torch.log1p),
    "sqrt": ("sqrt(%x)", torch.sqrt), "rsqrt": ("rsqrt(%x)", torch.rsqrt), "tanh": ("tanh(%x)", torch.tanh), "abs": ("abs(%x)", torch.abs), "floor": ("floor(%x)", torch.floor),
    "sin": ("sin(%x)", torch.sin), "cos": ("cos(%x)", torch.cos), "erf": ("erf(%x)", torch.erf), "sigmoid": ("sigmoid(%x)", torch.sigmoid),
    "softplus": ("softplus(%x)", lambda x: torch.logaddexp(x, torch.zeros_like(x))), "relu": ("relu(%x)", torch.relu), "elu": ("elu(%x)", torch.nn.functional.elu),
    "low": ("max(%x, 0.5)", lambda x: x.clamp(min=0.5)), "low2": ("max(0.5, %x)", lambda x: x.clamp(min=0.5)), "high": ("min(%x, 0.5)", lambda x: x.clamp(max=0.5)),
    "both": ("max(%x, %y)", None), "less": ("min(%y, %x)", None), "chosen": ("select(%x < 0.5, 0.25, %x)", lambda x: torch.where(x < 0.5, 0.25, x)),
    "pow": ("pow(%x, %y)", None), "squareroot": ("pow(%x, 0.5)", by(0.5)), "power": ("pow(%x, 1.5)", by(1.5)), "cube": ("pow(%x, 3.0)", by(3.0)),
    "inverse": ("pow(%x, -1.0)", by(-1.0)), "root": ("pow(%x, -0.5)", by(-0.5)), "seventh": ("pow(%x, 0.7)", by(0.7)),
}
BINARY = {"both": torch.maximum, "less": torch.minimum, "pow": torch.pow}
VALUES = [nan, inf, -inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, 40.0, -40.0, 100.0, -100.0]
SPEC = "!x = !taylor.array<[b, h, t, e]>\ntaylor.spec @f(%x: !x, %y: !x) {\n" + "".join(
    f"  %r_{name} = taylor.map {text} : !x{', !x' if '%y' in text else ''}\n" for name, (text, _) in FUNCTIONS.items()
) + "  taylor.yield " + ", ".join(f"%r_{name}" for name in FUNCTIONS) + " : " + ", ".join("!x" for _ in FUNCTIONS) + "\n}\n"


def run(spec, cases, outputs, gradients=()):
    """Of each case, which is a list of arguments, the outputs and gradients by name. Cases share kernels that are compiled alike."""
    places = [folder / f"results{i}" for i in range(len(cases))]
    lines = []
    for place, arguments in zip(places, cases):
        place.mkdir(exist_ok=True)
        wanted = [f"--output={n}={place}/{n}.npy" for n in outputs] + [f"--output-grad={n}={place}/d{n}.npy" for n in gradients]
        lines.append(" ".join([str(spec), *arguments, *wanted, *(["--grad"] if gradients else [])]))
    for arguments, result in zip(cases, run_cases(["taylor-run"], lines)):
        assert result.passed, (arguments, result.output)
    return [{n: torch.from_numpy(np.load(place / f"{n}.npy").astype(np.float64)) for n in [*outputs, *(f"d{g}" for g in gradients)]} for place in places]


def same(what, got, want, tolerance):
    """Equal infinities, NaN at the same places, and numbers that are near each other; small ones may be 0."""
    for g, w, *at in zip(got.flatten().tolist(), want.flatten().tolist(), *[a.flatten().tolist() for a in what[1:]]):
        near = (math.isnan(g) and math.isnan(w)) or g == w or (math.isfinite(w) and abs(g - w) <= tolerance * abs(w) + 1e-18)
        assert near, (what[0], "at", at, "got", g, "right", w)


def values():
    spec = folder / "functions.mlir"
    spec.write_text(SPEC)
    x, y = (a.reshape(1, 1, len(VALUES), len(VALUES)) for a in np.meshgrid(np.array(VALUES), np.array(VALUES)))
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", y)
    files = [f"--input=x={folder}/x.npy", f"--input=y={folder}/y.npy"]
    a, b = torch.from_numpy(x), torch.from_numpy(y)
    devices = ((["--device=reference"], 1e-12), (["--device=cpu", "--dtype=f64"], 1e-12), (["--device=cpu"], 1e-5), (["--device=cpu", "--target=x86-64-v3"], 1e-5),
               (["--device=cpu", "--dtype=bf16"], 1e-2), (["--device=ptx"], 1e-5))
    results = run(spec, [[*files, *arguments] for arguments, _ in devices], [f"r_{n}" for n in FUNCTIONS])
    for (arguments, tolerance), got in zip(devices, results):
        for name, (_, function) in FUNCTIONS.items():
            if name in ("exp", "expm1", "softplus", "pow") and tolerance > 1e-11:
                want = BINARY[name](a.float(), b.float()).double() if name in BINARY else function(a.float()).double()
                want = torch.where(want.abs() < 1.2e-38, 0.0, want)
            else:
                want = BINARY[name](a, b) if name in BINARY else function(a)
            same((f"{name}, {' '.join(arguments)}", a, b), got[f"r_{name}"], want, tolerance)


HEADER = ARRAYS + "!token = !taylor.array<[b, t]>\n"
SUMS = "  %n, %z = taylor.recurrences [numerator, mass] %f, %k, %v FORM causal : !q, !k, !v\n  %o = taylor.map %n / %z : !o, !row\n  taylor.yield %o : !o\n}\n"
# Of queries alone, so that a NaN of one row is seen in that row.
ROWS = {
    "relu": "  %f = taylor.map relu(%q) : !q\n", "elu": "  %f = taylor.map elu(%q) + 1.0 : !q\n", "clamp": "  %f = taylor.map max(0.0, min(1.0, %q)) : !q\n",
    "largest": "  %m = taylor.reduce max over(d) %q : !q\n  %f = taylor.map %q - %m : !q, !row\n", "of_heads": "  %m = taylor.reduce max over(h, d) %q : !q\n  %f = taylor.map %q - %m : !q, !token\n",
    "running": "  %m = taylor.scan max over(t) %q : !q\n  %f = taylor.map %q - stop(%m) : !q, !q\n", "select": "  %f = taylor.map select(%q < 0.0, 0.0, %q) : !q\n",
}


def rows():
    T, row = 20, 5
    generator = np.random.default_rng(0)
    q, k, v = (generator.standard_normal((1, 2, T, 16)) for _ in range(3))
    q[0, 0, row, 3] = nan
    for name, x in (("q", q), ("k", k), ("v", v)):
        np.save(folder / f"{name}.npy", x)
    files = [f"--input={name}={folder}/{name}.npy" for name in "qkv"]
    # On the reference; on one device in each form, without --full.
    reference, wide, native, avx2, ptx = ["--device=reference"], ["--device=cpu", "--dtype=f64"], ["--device=cpu"], ["--device=cpu", "--target=x86-64-v3"], ["--device=ptx"]
    for number, (name, text) in enumerate(ROWS.items()):
        for form in ("exponential", "orders(0 to 2) scale(rsqrt(size(d)))"):
            spec = folder / f"{name}.mlir"
            spec.write_text(f"{HEADER}taylor.spec @f(%q: !q, %k: !k, %v: !v) {{\n{text}{SUMS.replace('FORM', form)}")
            if form == "exponential":
                devices = [reference, *([wide, native, avx2, ptx] if full else [(wide, ptx, avx2, ptx)[number % 4]])]
            else:
                devices = [reference, *([wide, native] if full else [(native, wide)[number % 2]])]
                devices[1:] = [[*arguments, "--form=parallel"] for arguments in devices[1:]]
            for arguments, results in zip(devices, run(spec, [[*files, *arguments] for arguments in devices], ["o"], ["q"])):
                got, dq = results["o"], results["dq"].numpy()
                # What is a NaN: the row, the same row of other heads, or it and all later ones.
                bad = {"of_heads": (slice(0, 2), slice(row, row + 1)), "running": (slice(0, 1), slice(row, T))}.get(name, (slice(0, 1), slice(row, row + 1)))
                want = np.zeros((2, T), bool)
                want[bad] = True
                is_nan = torch.isnan(got)[0].all(-1).numpy()
                assert (is_nan == want).all() and (torch.isnan(got)[0].any(-1).numpy() == want).all(), (name, form, arguments, np.argwhere(is_nan != want)[:4])
                assert np.isnan(dq[0, 0, row]).any(), (name, form, arguments, "the gradient of the row is finite")


# Weights that fall like exponentials, over their mass: the formula of s, and its logarithm.
def log_softplus(s):
    return torch.where(s < -37.0, s, torch.log(torch.logaddexp(s.clamp(min=-37.0), torch.zeros_like(s))))


log_sigmoid = torch.nn.functional.logsigmoid
WEIGHTS = {
    "softplus(s)": log_softplus, "sigmoid(s)": log_sigmoid, "exp(s) / (1.0 + exp(s))": log_sigmoid, "log1p(exp(s))": log_softplus, "exp(s)": lambda s: s,
    "log(1.0 + exp(s))": log_softplus, "1.0 / (1.0 + exp(-s))": log_sigmoid, "sigmoid(-s)": lambda s: log_sigmoid(-s), "3.0 * sigmoid(2.0 * s)": lambda s: log_sigmoid(2.0 * s),
    "pow(softplus(s), 2.0)": lambda s: 2.0 * log_softplus(s), "sigmoid(s) * sigmoid(s) + 0.25 * sigmoid(s)": lambda s: log_sigmoid(s) + torch.log(torch.sigmoid(s) + 0.25),
}
FEATURES = "  %n, %z = taylor.recurrences [numerator, mass] %f, %k, %v orders(1 to 1) causal : !q, !k, !v\n  %o = taylor.map %n / %z : !o, !row\n  taylor.yield %o : !o\n}\n"


def features():
    """Features of a difference, exp(2 score - score), of which every score is near -45, or near -80."""
    T, d = 20, 16
    generator = np.random.default_rng(0)
    k = np.zeros((1, 1, T, d))
    k[0, 0, :, 0] = 1 + 0.002 * np.arange(T)
    v = generator.standard_normal((1, 1, T, d))
    spec = folder / "features.mlir"
    spec.write_text(f"{HEADER}taylor.spec @f(%q: !q, %k: !k, %v: !v) {{\n  %r = taylor.reduce sum over(d) %q * 0.03125 : !q\n"
                    f"  %f = taylor.map exp(%q - %r) : !q, !row\n{FEATURES}")
    np.save(folder / "ones.npy", np.ones((1, 1, T, d)))
    cases, right = [], []
    for score in (-45.0, -78.0):
        q = np.full((1, 1, T, d), 2 * score)
        for name, x in (("q", q), ("k", k), ("v", v)):
            np.save(folder / f"{name}{score}.npy", x.astype(np.float32))
        x, y, w = (torch.from_numpy(a.astype(np.float32).astype(np.float64)).requires_grad_() for a in (q, k, v))
        weight = (torch.exp(x - x.sum(-1, keepdim=True) / 32) @ y.transpose(-1, -2)).tril()
        o = weight @ w / weight.sum(-1, keepdim=True)
        o.sum().backward()
        files = [f"--input={name}={folder}/{name}{score}.npy" for name in "qkv"]
        for arguments in (["--device=cpu"], ["--device=cpu", "--target=x86-64-v3"], ["--device=ptx"]):
            cases.append([*arguments, f"--shape=b=1,h=1,t={T},d={d},e={d}", *files, f"--cotangent=o={folder}/ones.npy"])
            right.append((score, o.detach(), w.grad))
    for arguments, got, (score, o, dv) in zip(cases, run(spec, cases, ["o"], ["v"]), right):
        for what, a, b in (("o", got["o"], o), ("dv", got["dv"], dv)):
            assert torch.isfinite(a).all() and (a - b).norm() <= 1e-4 * b.norm(), (score, arguments, what, float((a - b).norm()), float(b.norm()))


# Of rows: all scores near one of these, except for one key whose scores are a fiftieth of them, and one with a twentieth of the other sign.
SCORES = (-45.0, -80.0, -100.0, -1000.0, -16.5, -14.0, -17.5, -3.0, 0.5, -9.0, -11.0, 60.0)
# Types, with the largest error of a result as a share of it.
TYPES = {"f64": (torch.float64, 1e-9), "f32": (torch.float32, 1e-4), "bf16": (torch.bfloat16, 1.5e-2), "f16": (torch.float16, 1e-2)}


def weights():
    """Each weight over its mass is a softmax of its logarithm, rows without keys are 0: outputs and all gradients."""
    T, d = 48, 16
    generator = np.random.default_rng(0)
    q, k = np.zeros((2, 1, 1, T, d))
    q[..., 0] = [4 * SCORES[t % len(SCORES)] for t in range(T)]
    k[..., 0] = 1 + 0.002 * np.arange(T)
    k[0, 0, 23, 0], k[0, 0, 37, 0] = 0.02, -0.05
    q[..., 1], k[..., 1] = 1.0, generator.standard_normal(T)
    v, cotangent = generator.standard_normal((2, 1, 1, T, d))
    for number, (text, logarithm) in enumerate(WEIGHTS.items()):
        side = -1.0 if text == "sigmoid(-s)" else 1.0
        for shift, clause in ((0, "causal"), (-1, "bidirectional visible(u < t)")):  # the first row of the second sees no key
            if shift and number and not full:
                continue
            spec = folder / f"weights{number}{shift}.mlir"
            spec.write_text(f"{HEADER}taylor.spec @f(%q: !q, %k: !k, %v: !v) {{\n  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v weight({text}) "
                            f"scale(rsqrt(size(d))) {clause} : !q, !k, !v\n" + SUMS[SUMS.index("  %o") :])
            # Softplus everywhere, except for products of f16, where its weights may pass the largest number; of the others one in each place, without --full.
            places = [("f64", "cpu"), ("f32", "cpu"), ("f32", "ptx"), ("bf16", "cpu"), ("bf16", "ptx"), ("f16", "cpu")] + [("f16", "ptx")] * (text == "sigmoid(s)")
            if not full and (number or shift):
                places = [("f32", "cpu"), ("f32", "ptx")] if shift else [("bf16", "ptx"), ("f16", "cpu"), ("f16", "ptx")] if number == 1 else [("f32", ("ptx", "cpu")[number % 2])]
            cases, right = [], []
            for dtype, device in places:
                real, tolerance = TYPES[dtype]
                arrays = [torch.from_numpy(a).to(real).double() for a in (side * q, k, v, cotangent)]
                names = [folder / f"{name}{dtype}{side}.npy" for name in ("q", "k", "v", "do")]
                for name, array in zip(names, arrays):
                    np.save(name, array.numpy())
                x, y, w = (a.clone().requires_grad_() for a in arrays[:3])
                logits = logarithm(x @ y.transpose(-1, -2) / 4)
                seen = torch.ones(T, T).tril(shift).bool()
                empty = ~seen.any(-1, keepdim=True)
                p = torch.softmax(logits.masked_fill(~seen & ~empty, -inf), -1).masked_fill(empty, 0.0)
                o = p @ w
                o.backward(arrays[3])
                cases.append([f"--device={device}", f"--dtype={dtype}", f"--shape=b=1,h=1,t={T},d={d},e={d}", f"--cotangent=o={names[3]}",
                              *(f"--input={name}={file}" for name, file in zip("qkv", names))])
                right.append((tolerance, {"o": o.detach(), "dq": x.grad, "dk": y.grad, "dv": w.grad}))
            for arguments, got, (tolerance, wanted) in zip(cases, run(spec, cases, ["o"], ["q", "k", "v"]), right):
                for what, b in wanted.items():
                    error = float((got[what] - b).norm() / b.norm())
                    assert error <= tolerance, (text, clause, arguments, what, error)
                rows = (got["o"] - wanted["o"]).norm(dim=-1) <= 2.0 * tolerance * wanted["o"].norm(dim=-1)
                assert rows.all(), (text, clause, arguments, "rows", rows.logical_not().nonzero().tolist())


torch.set_num_threads(1)
shard, shards = map(int, sys.argv[2].split("/"))
for part in (values, rows, features, weights)[shard::shards]:
    part()
print("as PyTorch")
