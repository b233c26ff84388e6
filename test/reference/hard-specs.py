# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The specifications of test/dialect/hard-specs.mlir (stopped gradients, norms over heads, convolutions, biases, masks of documents,
# two sums) evaluated by the reference, against PyTorch code that knows nothing of it.
# REQUIRES: compiler
# RUN: %python %s %source_dir/test/dialect/hard-specs.mlir %t
import os
import re
import subprocess
import sys
import zlib

import numpy as np
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
import attention

SIZES = dict(b=2, h=4, g=2, t=9, u=11, d=6, e=5, j=4)
# Axes of arguments by name.
ROLES = {
    **{name: "bhtd" for name in ("q", "q1", "q2")},
    **{name: "bgud" for name in ("k", "k1", "k2")},
    "v": "bgue", "out_gate": "bht", "a": "bht", "i": "bhu", "p": "h", "m": "h", "l": "h", "w": "e", "b": "e",
    "cq": "hdj", "ck": "gdj", "cv": "gej", "dq": "bt", "dk": "bu",
}  # fmt: skip
TOLERANCE = 1e-12


def make_inputs(names, generator):
    inputs = {}
    for name in names:
        sizes = [SIZES[axis] for axis in ROLES[name]]
        if name in ("dq", "dk"):
            # Documents of four tokens; query t stands at t + 2.
            shift = 2 if name == "dq" else 0
            inputs[name] = ((torch.arange(sizes[1]) + shift) // 4).to(torch.int32).repeat(sizes[0], 1)
        else:
            inputs[name] = torch.randn(sizes, generator=generator, dtype=torch.float64).requires_grad_()
    return inputs


def check(name, text, arguments, folder):
    os.makedirs(folder, exist_ok=True)
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    inputs = make_inputs(arguments, generator)
    visible = attention.visible_mask(SIZES["t"], SIZES["u"])
    expected = getattr(attention, name)(inputs, visible)
    cotangent = torch.randn(expected.shape, generator=generator, dtype=torch.float64)
    expected.backward(cotangent)

    with open(f"{folder}/spec.mlir", "w") as file:
        file.write(text)
    command = ["taylor-run", f"{folder}/spec.mlir", f"--cotangent=o={folder}/do.npy", f"--output={folder}/o.npy"]
    if "window" in text.split("{")[0]:
        command.append("--set=window=4")
    np.save(f"{folder}/do.npy", cotangent.numpy())
    for argument, value in inputs.items():
        np.save(f"{folder}/{argument}.npy", value.detach().numpy())
        command.append(f"--input={argument}={folder}/{argument}.npy")
        if value.requires_grad:
            command.append(f"--output-grad={argument}={folder}/d_{argument}.npy")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    pairs = [("o", expected.detach())] + [("d_" + n, x.grad) for n, x in inputs.items() if x.requires_grad]
    for what, theirs in pairs:
        error = np.linalg.norm(np.load(f"{folder}/{what}.npy") - theirs.numpy()) / theirs.norm().item()
        assert error < TOLERANCE, f"{name} {what}: error {error:.2e}"


def main(source, folder):
    text = open(source).read()
    aliases = "".join(line + "\n" for line in text.splitlines() if line.startswith("!"))
    specs = re.findall(r"^taylor\.spec @(\w+)\((.*?)\)\s+(?:parameters.*?)?\{\n.*?^}", text, flags=re.S | re.M)
    bodies = re.findall(r"^taylor\.spec .*?^}", text, flags=re.S | re.M)
    assert len(specs) == len(bodies) >= 10, (len(specs), len(bodies))
    checked = 0
    for (name, arguments), body in zip(specs, bodies):
        if name in ("decay_gates", "softmax_taylor"):
            continue  # those of examples/specs are in pytorch-autograd.py
        check(name, aliases + body + "\n", re.findall(r"%(\w+):", arguments), f"{folder}/{name}")
        checked += 1
    print(f"{checked} specifications agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
