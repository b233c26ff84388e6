# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: compiler
# RUN: %python %s %full
"""Forward and backward functions of the pairwise pipeline against the reference, for specifications of every shape.

The functions are evaluated in extended precision, so any difference is one of algebra: bounds are 1e-12. Logits up to some hundreds
show that what is stabilised is still the same function; a negative offset gives rows that see no key. Each specification is tried with one mask
(every third with both), and each chunked one with some options for every mask, with and without documents; with all under ./test.sh --full.
"""
import array
import itertools
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FULL = sys.argv[1] == "1"
SPECS = sorted((HERE / "../../examples/specs").resolve().rglob("*.mlir")) + sorted((HERE / "Inputs").glob("*.mlir"))
SHAPE = "b=2,h=4,g=2,t=9,u=12,d=6,e=7"
SIZES = "head-dim=6 value-dim=7 dtype=f64"
# Series that expand: with what their orders are set to, and their arguments.
SERIES = {"softmax-taylor": ("order=3", "qkv"), "decay-linear": ("", "qkvf"), "series-count": ("", "qkv")}
EXPANDED = (
    "taylor-specialize{{{sizes}}},taylor-expand-recurrences,{collect}taylor-expand-normalize,taylor-recurrences-to-pairwise,"
    "canonicalize,cse,taylor-derive-backward,canonicalize,cse,taylor-split-backward"
)


def run(arguments, text=None):
    return subprocess.run(arguments, input=text, capture_output=True, text=True)


def lower(spec, options, passes=None, documents=False):
    flag = f"--pass-pipeline=builtin.module({passes})" if passes else f"--taylor-to-pairwise={SIZES} {options}"
    return run(["taylor-opt", *(["--taylor-add-documents"] if documents else []), flag, str(spec)])


def check(spec, functions, *arguments):
    result = run(["taylor-run", str(spec), "--functions=-", f"--shape={SHAPE}", "--tolerance=1e-12", *arguments], functions)
    return None if result.returncode == 0 else f"{spec.name} {' '.join(arguments)}\n{result.stdout}{result.stderr}"


def cases():
    for number, spec in enumerate(SPECS):
        text = spec.read_text()
        # An aligned array has no rows before its first key.
        rows_without_keys = [] if "decay(" in text or "taylor.align" in text else ["--offset=-3"]
        functions = lower(spec, "")
        if functions.returncode:
            yield f"{spec.name}: {functions.stderr}"
            continue
        yield check(spec, functions.stdout)
        yield check(spec, functions.stdout, "--scale=60", *rows_without_keys)
        if (FULL or number % 3 == 0) and not any(word in text for word in ("taylor.scan sum", "taylor.scan max", "taylor.convolve", "taylor.gated_sum", "decay(")):
            both = lower(spec, "mask=bidirectional")
            yield check(spec, both.stdout, "--mask=bidirectional", "--scale=8") if not both.returncode else both.stderr
    # The series as recurrences, one per order, and collected again.
    for name, (parameter, _) in SERIES.items():
        spec = next(spec for spec in SPECS if spec.stem == name)
        for collect in ("", "taylor-collect-recurrences,"):
            passes = EXPANDED.format(sizes=SIZES + (f" parameters={parameter}" if parameter else ""), collect=collect)
            functions = lower(spec, "", passes)
            arguments = [f"--set={parameter}"] if parameter else []
            yield check(spec, functions.stdout, "--scale=3", *arguments) if not functions.returncode else functions.stderr


CHUNKED = [("softmax-taylor", "order=2"), ("softmax-taylor", "order=3"), ("linear-relu", ""), ("linear-elu", ""), ("gated-series", ""), ("scaled-series", "")]
DECAYING = [("decayed-series", ""), ("decay-linear", ""), ("retention", "")]


def chunked_cases():
    """The chunked form is the same function: chunks shorter and longer than the sequence, in blocks, queries after keys, both masks where
    there is no decay, documents, also with keys behind the last query."""
    options = ("chunk=4", "chunk=16", "chunk=3 feature-block=4")
    turns = itertools.count()
    for name, parameter in CHUNKED + DECAYING:
        spec = next(spec for spec in SPECS if spec.stem == name)
        masks = ("causal", "bidirectional") if (name, parameter) in CHUNKED else ("causal",)
        for mask, documents in itertools.product(masks, (False, True)):
            lowered = lower(spec, f"mask={mask}" + (f" parameters={parameter}" if parameter else ""), documents=documents)
            turn = next(turns)
            for option in options if FULL else (options[turn % 3],):
                chunked = run(["taylor-opt", f"--taylor-chunk-sums={option}", "-"], lowered.stdout)
                if chunked.returncode or "taylor.states" not in chunked.stdout:
                    yield f"{name} {mask} {option}: {lowered.stderr}{chunked.stderr or 'no states'}"
                    continue
                arguments = [f"--mask={mask}", *([f"--set={parameter}"] if parameter else []), *(["--documents"] if documents else [])]
                yield check(spec, chunked.stdout, *arguments)
                if documents:
                    yield check(spec, chunked.stdout, "--offset=1", *arguments)


def load(file):
    """Numbers of a .npy file of floats (numpy's format, version 1)."""
    data = file.read_bytes()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    return array.array("d" if b"<f8" in data[:start] else "f", data[start:])


def series_cases(stem, parameter, arguments):
    """The reference itself on a series, on its recurrences with their states, and on what they are collected into."""
    series = next(spec for spec in SPECS if spec.stem == stem)
    specialize = f"taylor-specialize{{{SIZES}{' parameters=' + parameter if parameter else ''}}}"
    with tempfile.TemporaryDirectory() as folder:
        results = {}
        for name, passes in (("series", ""), ("recurrences", ",taylor-expand-recurrences"),
                             ("collected", ",taylor-expand-recurrences,taylor-collect-recurrences")):
            spec, files = pathlib.Path(folder, name + ".mlir"), [pathlib.Path(folder, f"{name}-{x}.npy") for x in "o" + arguments]
            lowered = run(["taylor-opt", f"--pass-pipeline=builtin.module({specialize}{passes})", str(series), "-o", str(spec)])
            outputs = [f"--output={files[0]}"] + [f"--output-grad={x}={file}" for x, file in zip(arguments, files[1:])]
            ran = run(["taylor-run", str(spec), f"--shape={SHAPE}", "--grad", *outputs])
            if lowered.returncode or ran.returncode:
                yield f"{stem} {name}: {lowered.stderr}{ran.stdout}{ran.stderr}"
                return
            results[name] = [load(file) for file in files]
        if "taylor.recurrence " not in pathlib.Path(folder, "recurrences.mlir").read_text():
            yield f"{stem}: expected recurrences with explicit orders, but got none"
        if "taylor.recurrence " in pathlib.Path(folder, "collected.mlir").read_text():
            yield f"{stem}: expected all recurrences collected, but some are left"
        for name in ("recurrences", "collected"):
            for ours, expected in zip(results[name], results["series"]):
                error = max(abs(x - y) for x, y in zip(ours, expected, strict=True))
                yield None if error < 1e-6 * max(map(abs, expected)) else f"{stem} {name}: off by {error}"


series = itertools.chain.from_iterable(series_cases(stem, *rest) for stem, rest in SERIES.items())
failures = [failure for failure in itertools.chain(cases(), chunked_cases(), series) if failure]
for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
