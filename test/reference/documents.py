# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: compiler
# RUN: %python %s %spec_dir %source_dir/test/passes/Inputs %t %full
"""A packed sequence with --documents is each of its documents by itself, in the reference: outputs and every gradient, of all kinds of
specifications. Documents of one token, numbers without tokens, one document only, numbers that descend, and keys before the first query."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

SPECS, INPUTS, FOLDER, FULL = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
# What differs in what documents do to it: rope, decays, running sums and maxima, convolutions, counts, finite orders, windows, other documents.
CHOSEN = ["softmax", "decay-gates", "conv-gates", "cumulative-gate", "gates-count-layernorm", "softmax-count-gate", "softmax-taylor", "alibi", "sliding-window",
          "decay-linear", "decayed-series", "window-documents", "rope-at", "prefix", "sigmoid", "retention", "linear-cosine-as-coded"]
SHAPE = dict(b=2, h=2, g=1, d=4, e=4)
SIZES = dict(t=19, u=23)
NUMBERS = [
    [0] * 5 + [2] + [3, 1, 3] + [7] * 8 + [8] + [9] * 5,
    [4] * 23,
]
TOLERANCE = 1e-12


def run(spec, *arguments):
    result = subprocess.run(["taylor-run", str(spec), "--scale=0.5", *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == 0, f"{spec} {' '.join(map(str, arguments))}\n{result.stderr}"


def shape(**sizes):
    return "--shape=" + ",".join(f"{axis}={size}" for axis, size in {**SHAPE, **sizes}.items())


def axes_of(spec):
    """Axes of each argument, and of each result, by name."""
    printed = subprocess.run(["taylor-opt", str(spec)], check=True, capture_output=True, text=True).stdout
    aliases = dict(re.findall(r"^(!\w+) = !taylor.array<\[(.*?)\].*>$", printed, re.M))
    signature = re.search(r"taylor.spec @\w+\((.*?)\)(?: parameters\(.*\))? \{$", printed, re.M).group(1)
    names = dict(re.findall(r'%(\w+): (!\w+)', signature))
    results, types = re.search(r"taylor.yield (.*) : (.*)$", printed, re.M).groups()
    outputs = dict(zip(re.findall(r'"(\w+)" %|%([a-z]\w*)', results), types.split(", ")))
    outputs = {quoted or plain: alias for (quoted, plain), alias in outputs.items()}
    split = lambda text: [axis.split(" = ")[0] for axis in text.split(", ")]
    return {n: split(aliases[a]) for n, a in names.items()}, {n: split(aliases[a]) for n, a in outputs.items()}


def cut(axes, batch, first, past, offset):
    """The place of one document in an array."""
    ranges = {"b": slice(batch, batch + 1), "u": slice(first, past), "t": slice(max(first - offset, 0), past - offset)}
    return tuple(ranges.get(axis, slice(None)) for axis in axes)


def check(spec, numbers, sizes):
    arguments, outputs = axes_of(spec)
    folder = FOLDER / spec.stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    offset = sizes["u"] - sizes["t"]
    np.save(folder / "documents.npy", np.array(numbers, dtype=np.int32))
    packed = folder / "packed"
    run(spec, "--documents", shape(**sizes), "--dtype=f64", f"--references={packed}", "--input", f"documents={folder}/documents.npy")
    rows = json.load(open(packed / "contract.json"))
    gradients = [row["name"] for row in rows if row["kind"] == "gradient"]
    load = lambda kind, name: np.load(packed / f"{kind}.{name}.npy")
    results = {("output", n): np.zeros_like(load("output", n)) for n in outputs} | {("gradient", n): np.zeros_like(load("gradient", n)) for n in gradients}
    for batch, line in enumerate(numbers):
        ascending = np.maximum.accumulate(line)
        for number in np.unique(ascending):
            places = np.flatnonzero(ascending == number)
            first, past = places[0], places[-1] + 1
            if past <= offset:
                continue  # without a query
            alone = folder / "alone"
            alone.mkdir(exist_ok=True)
            options = [shape(b=1, t=past - max(first, offset), u=past - first)]
            for name, axes in arguments.items():
                value = load("input", name)
                np.save(alone / f"{name}.npy", np.ascontiguousarray(value[cut(axes, batch, first, past, offset)]))
                options += ["--input", f"{name}={alone}/{name}.npy"]
            for name, axes in outputs.items():
                np.save(alone / f"cotangent.{name}.npy", np.ascontiguousarray(load("cotangent", name)[cut(axes, batch, first, past, offset)]))
                options += ["--cotangent", f"{name}={alone}/cotangent.{name}.npy", "--output", f"{name}={alone}/output.{name}.npy"]
            for name in gradients:
                options += ["--output-grad", f"{name}={alone}/gradient.{name}.npy"]
            run(spec, *options)
            for kind, name in results:
                axes = (outputs if kind == "output" else arguments)[name]
                results[kind, name][cut(axes, batch, first, past, offset)] += np.load(alone / f"{kind}.{name}.npy")
    for (kind, name), want in results.items():
        got = load(kind, name)
        error, norm = np.linalg.norm(got - want), np.linalg.norm(want)
        assert error <= TOLERANCE * max(norm, 1), f"{spec.name}: {kind} {name} is off by {error} of {norm}"


def main():
    paths = sorted([*SPECS.rglob("*.mlir"), *INPUTS.glob("*.mlir"), *(pathlib.Path(__file__).parent / "Inputs").glob("*.mlir")])
    missing = [name for name in CHOSEN if name not in [path.stem for path in paths]]
    assert not missing, missing
    for path in paths:
        if FULL == "1" or path.stem in CHOSEN:
            check(path, NUMBERS, SIZES)
            if path.stem in ("softmax", "conv-gates"):
                check(path, [line[:1] for line in NUMBERS], dict(t=1, u=1))


main()
