# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: compiler
# RUN: %python %s %t
"""Canonical forms mean what was written: the reference on a specification and on its canonical form, outputs and gradients, with rows that
see no key and grouped-query heads."""
import os
import subprocess
import sys

import numpy as np

SPEC = """
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
taylor.spec @a(%q: !q, %k: !k, %v: !v, %x: !row, %w: !taylor.array<[e]> from parameter(ones)) {
  %q1 = taylor.rope %q offset(3) : !q
  %q2 = taylor.rope %q1 offset(3) inverse : !q
  %q3 = taylor.normalize l2 over(d) %q2 epsilon(0.0) : !q
  %q4 = taylor.normalize l2 over(d) %q3 epsilon(0.5) : !q
  %n, %m, %c = taylor.recurrences [numerator, mass, count] %q4, %k, %v orders(0 to 5) coefficients(0.0, 2.0, 0.0, -1.0, 0.0, -0.0)
               scale(2.0 * 0.5) score(select(2.0 < 1.0, %x, s)) causal : !q, !k, !v, !row
  %n2, %z2 = taylor.recurrence [numerator, mass] %q4, %k, %v order(2) scale(1.0) causal : !q, !k, !v
  %y0 = taylor.scan shift(0) over(t) exp(%x) : !row
  %y1 = taylor.scan shift(1) over(t) %y0 * stop(stop(%x)) : !row, !row
  %y2 = taylor.scan shift(2) over(t) %y1 : !row
  %r = taylor.reduce sum over(e) select(e < 1.0, %x, %x) : !row
  %s = taylor.scan sum over(t) select(t < 1.0, 2.0, 2.0) -> !taylor.array<[t]>
  %o0 = taylor.map (%n + %z2 * %r + %s) * %y2 / (%c + 1.0) : !o, !row, !row, !taylor.array<[t]>, !row, !row
  %o1 = taylor.normalize rms %v epsilon(0.0) : !v
  %o2 = taylor.normalize rms %o1 weight(%w) epsilon(0.0) : !v, !taylor.array<[e]>
  taylor.yield %o0, %o2 : !o, !v
}
"""
folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
written, canonical = f"{folder}/written.mlir", f"{folder}/canonical.mlir"
with open(written, "w") as file:
    file.write(SPEC)
subprocess.run(["taylor-opt", written, "--canonicalize", "-o", canonical], check=True)
with open(canonical) as file:
    text = file.read()
assert "inverse" not in text and "numerator, mass" not in text and "orders(1 to 3)" in text and "shift(3)" in text, text


def values(spec):
    names = ["o0", "o2", "q", "k", "v", "x", "w"]
    files = [f"{spec}.{name}.npy" for name in names]
    options = [f"--{'output' if i < 2 else 'output-grad'}={name}={file}" for i, (name, file) in enumerate(zip(names, files))]
    subprocess.run(["taylor-run", spec, "--shape=b=2,h=4,g=2,t=7,u=5,d=6,e=3", *options], check=True, stdout=subprocess.DEVNULL)
    return {name: np.load(file) for name, file in zip(names, files)}


expected = values(written)
for name, ours in values(canonical).items():
    largest = np.abs(expected[name]).max()
    assert 0 < largest < np.inf and np.abs(ours - expected[name]).max() < 1e-12 * largest, (name, ours, expected[name])
