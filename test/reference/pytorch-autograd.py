# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The reference evaluator against PyTorch code that knows nothing of it, in fp64: outputs and every gradient of the seven
# specifications, with grouped-query heads, U != T, e != d, and rows that see no key.
# REQUIRES: compiler
# RUN: %python %s %spec_dir %t
import os
import subprocess
import sys
import zlib

import numpy as np
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
import attention

SHAPES = [
    dict(b=1, h=1, g=1, t=1, u=1, d=4, e=4),
    dict(b=2, h=4, g=2, t=9, u=12, d=6, e=5),
    dict(b=1, h=3, g=1, t=7, u=4, d=2, e=3),  # queries before the first key: dead rows
    dict(b=1, h=2, g=2, t=65, u=65, d=16, e=8),
]
# decay is read at the queries' positions, so every query must stand at a key.
SKIPPED = {("decay-gates", 2)}
TOLERANCE = 1e-11


def run(spec, shape, inputs, cotangent, folder, arguments=()):
    os.makedirs(folder, exist_ok=True)
    command = ["taylor-run", spec, "--shape=" + ",".join(f"{k}={v}" for k, v in shape.items()), *arguments]
    for name, value in inputs.items():
        np.save(f"{folder}/{name}.npy", value.detach().numpy())
        command += ["--input", f"{name}={folder}/{name}.npy", "--output-grad", f"{name}={folder}/d_{name}.npy"]
    np.save(f"{folder}/cotangent.npy", cotangent.numpy())
    command += ["--cotangent", f"o={folder}/cotangent.npy", "--output", f"{folder}/o.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    load = lambda name: torch.from_numpy(np.load(f"{folder}/{name}.npy"))
    return load("o"), {name: load("d_" + name) for name in inputs}


def check(name, index, shape, folder, specs, causal=True):
    generator = torch.Generator().manual_seed(zlib.crc32(f"{name} {index}".encode()))
    inputs = attention.make_inputs(name, **shape, generator=generator)
    for value in inputs.values():
        value.requires_grad_()
    expected = attention.ATTENTIONS[name](inputs, attention.visible_mask(shape["t"], shape["u"], causal))
    cotangent = torch.randn(expected.shape, generator=generator, dtype=torch.float64)
    expected.backward(cotangent)
    output, gradients = run(f"{specs}/{name}.mlir", shape, inputs, cotangent, folder,
                            () if causal else ("--mask=bidirectional",))
    worst = 0.0
    pairs = [("o", output, expected.detach())] + [(n, gradients[n], inputs[n].grad) for n in inputs]
    for what, ours, theirs in pairs:
        error = (ours - theirs).norm().item() / max(theirs.norm().item(), 1e-3)
        assert error < TOLERANCE, f"{name} {shape} {what}: error {error:.2e}\n{ours}\n{theirs}"
        worst = max(worst, error)
    return worst


def main(specs, folder):
    for name in attention.ATTENTIONS:
        for index, shape in enumerate(SHAPES):
            if (name, index) not in SKIPPED:
                print(f"{name} {shape}: {check(name, index, shape, folder, specs):.1e}")
        if name != "decay-gates":
            print(f"{name} bidirectional: {check(name, 1, SHAPES[1], folder, specs, causal=False):.1e}")


if __name__ == "__main__":
    main(*sys.argv[1:])
