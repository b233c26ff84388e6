# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# --references: what is written is what --device=reference gives; the bounds are those that --check ends with, after its draws of eager code's rounding.
# REQUIRES: compiler
# RUN: %python %s %t %source_dir/test/runtime/artifact-fixture/gated.mlir %build_dir/test/runtime/fixtures/gated-bf16.so
import json
import os
import shutil
import subprocess
import sys

import numpy as np

folder, spec, kernel = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
SHAPE = ["--shape=b=2,h=4,g=2,t=33,u=40,d=8,e=4", "--dtype=bf16"]


def run(*arguments):
    result = subprocess.run(["taylor-run", spec, *SHAPE, *arguments], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


assert run(f"--references={folder}/all") == ""
load = lambda name: np.load(f"{folder}/all/{name}.npy")
rows = json.load(open(f"{folder}/all/contract.json"))
assert [(r["kind"], r["name"]) for r in rows] == [("output", "o")] + [("gradient", n) for n in ("q", "k", "v", "out_gate", "norm_weight")], rows
for row in rows:
    reference = load(f"{row['kind']}.{row['name']}")
    assert reference.dtype == np.float64 and abs(np.linalg.norm(reference) - row["norm"]) <= 1e-12 * row["norm"], row

# The written arguments and cotangent give the written results again.
arguments = [f for n in ("q", "k", "v", "out_gate", "norm_weight") for f in ("--input", f"{n}={folder}/all/input.{n}.npy")]
run(*arguments, "--cotangent", f"o={folder}/all/cotangent.o.npy", "--output", f"{folder}/o.npy", "--output-grad", f"q={folder}/dq.npy")
for file, name in (("o", "output.o"), ("dq", "gradient.q")):
    again = np.load(f"{folder}/{file}.npy")
    assert np.array_equal(load(name).astype(again.dtype), again), name

# --check prints the bounds of eager code's own error, where those are met; draws give as much or a little more.
table = run("--device=cpu", f"--kernel={kernel}", "--check").splitlines()[1:]
for line, row in zip(table, rows, strict=True):
    _, error, allowed, norm, eager, verdict = line.replace("gradient ", "").split()
    assert verdict == "ok" and norm == f"{row['norm']:.3e}", (line, row)
    for printed, written in ((allowed, row["allowed"]), (eager, row["eager"])):
        assert 0.999 * float(printed) <= written, (line, row)
    # Of many numbers the two are nearly the same.
    assert row["name"] == "norm_weight" or row["eager"] <= 1.6 * float(eager), (line, row)

assert run(f"--references={folder}/forward", "--forward-only") == ""
assert not os.path.exists(f"{folder}/forward/gradient.q.npy") and len(json.load(open(f"{folder}/forward/contract.json"))) == 1
