# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: taylorc
# RUN: %python %s %t %S/Inputs/running-maxima.mlir
"""Maxima over tokens are exact: what the reference, tile programs, a processor's kernels and PTX give is numpy's, bit for bit, for one
token, one block, several blocks, ragged ones, queries after keys, batches and groups of heads."""
import itertools
import pathlib
import shutil
import subprocess
import sys

import numpy as np

folder, spec = pathlib.Path(sys.argv[1]), sys.argv[2]
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
SHAPES = [  # b, h, g, t, u, d
    (1, 1, 1, 1, 1, 16),
    (2, 4, 2, 64, 64, 16),
    (1, 3, 1, 65, 200, 32),
    (2, 2, 2, 131, 190, 16),
]
KERNELS = [("reference", "f64"), ("tile", "f32"), ("cpu", "f32"), ("cpu", "f64"), ("cpu", "bf16"), ("ptx", "f32"), ("ptx", "bf16")]


def sequences(random, axes, token):
    """Multiples of 1/8 below 16, of which sums of two are exact in every type: noise around lines that rise or fall, so that maxima
    change along the whole sequence in one direction or the other."""
    shape = list(axes)
    line = np.linspace(-100, 100, shape[token]).reshape([-1] + [1] * (len(shape) - 1 - token))
    shape[token] = 1
    return np.round(line * random.choice([-1, 1], shape) + random.uniform(-25, 25, axes)) / 8


def maxima(x, token, reverse=False, exclusive=False):
    x = np.flip(x, token) if reverse else x
    y = np.maximum.accumulate(x, token)
    if exclusive:
        y = np.concatenate([np.full_like(y.take([0], token), -np.inf), y.take(range(y.shape[token] - 1), token)], token)
    return np.flip(y, token) if reverse else y


def check(number, shape, device, dtype):
    b, h, g, t, u, d = shape
    random = np.random.default_rng(number)
    inputs = {"k": sequences(random, (b, g, u, d), 2), "f": sequences(random, (b, g, u), 2), "a": sequences(random, (b, h, t), 2),
              "c": sequences(random, (b, g, t), 2)}
    falling = maxima(-inputs["f"], 2)
    expected = {
        "falling": falling,
        "before": maxima(inputs["k"], 2, exclusive=True),
        "rest": maxima(inputs["a"] + np.repeat(inputs["c"], h // g, 1), 2, reverse=True),
        "after": maxima(inputs["a"], 2, reverse=True, exclusive=True),
        "seen": falling[..., u - t :],
    }
    arguments = []
    for name, x in inputs.items():
        np.save(folder / f"{name}.npy", x)
        arguments += ["--input", f"{name}={folder}/{name}.npy"]
    for name in expected:
        arguments += ["--output", f"{name}={folder}/{name}.npy"]
    poison = ["--poison"] if device in ("cpu", "ptx") else []
    run = subprocess.run(["taylor-run", spec, f"--device={device}", f"--dtype={dtype}", *poison, *arguments], capture_output=True, text=True)
    assert run.returncode == 0, (shape, device, dtype, run.stderr)
    for name, want in expected.items():
        got = np.load(folder / f"{name}.npy")
        assert np.array_equal(got, want), (shape, device, dtype, name, np.argwhere(got != want)[:4])


for (number, shape), (device, dtype) in itertools.product(enumerate(SHAPES), KERNELS):
    check(number, shape, device, dtype)
