# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every specification of examples/specs through the torch operator, inputs made from the manifest alone: gradcheck in fp64,
# opcheck, and the eager code that taylorc prints, in fp32 and bf16, causal and bidirectional, outputs and gradients.
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s %spec_dir
# REQUIRES: torch, taylorc
# UNSUPPORTED: sanitizer
import json
import os
import pathlib
import subprocess
import sys
import unittest

import torch
from torch.library import opcheck

from taylor_attention import attention

SPECS = sorted(pathlib.Path(sys.argv.pop(1)).glob("*.mlir"))
SIZES = {"b": 2, "h": 4, "g": 2, "t": 5, "u": 5, "d": 16, "e": 8}


def taylorc(*arguments):
    return subprocess.run([os.environ["TAYLORC"], *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def make(spec, dtype, grad=True, **sizes):
    """The inputs that the manifest names. Learned parameters are moved off their initial values, so that nothing is multiplied by one."""
    manifest = json.loads(taylorc(spec, "--emit=manifest"))
    generator = torch.Generator().manual_seed(1)
    real = torch.float64 if dtype == torch.float64 else torch.float32
    sizes = {**SIZES, **manifest["sizes"], **SIZES, **sizes}
    inputs = []
    for array in manifest["tensors"]["inputs"]:
        shape = [sizes[axis] for axis in array["axes"]]
        x = torch.randn(shape, generator=generator, dtype=torch.float64)
        if array["source"]["kind"] == "parameter":
            x = (1 + 0.3 * x).to(real)
        inputs.append(x.to(real if array["source"]["kind"] == "parameter" else dtype).requires_grad_(grad))
    return inputs


def eager(spec, *options):
    unit = torch.jit.CompilationUnit(taylorc(spec, "--emit=torch", *options))
    return getattr(unit, spec.stem.replace("-", "_"))


class Specs(unittest.TestCase):
    def close(self, a, b, tolerance, message):
        error = (a.double() - b.double()).norm().item()
        self.assertLess(error, tolerance * b.double().norm().item() + 1e-6 * tolerance, message)

    def each(self):
        self.assertGreaterEqual(len(SPECS), 7)
        for spec in SPECS:
            with self.subTest(spec.name):
                yield spec

    def test_gradcheck(self):
        for spec in self.each():
            torch.autograd.gradcheck(lambda *x: attention(*x, spec=spec), make(spec, torch.float64, b=1, h=2, g=1, t=3, u=4, d=8, e=8))

    def test_opcheck(self):
        for spec in self.each():
            result = opcheck(torch.ops.taylor.attention, (make(spec, torch.float32), str(spec), "", None))
            self.assertEqual(set(result.values()), {"SUCCESS"}, result)

    def test_equals_eager(self):
        for spec in self.each():
            for dtype, tolerance in ((torch.float32, 2e-5), (torch.float64, 1e-11)):
                for t, u in ((5, 5), (1, 7), (67, 130)):
                    inputs = make(spec, dtype, t=t, u=u)
                    ours, theirs = attention(*inputs, spec=spec), eager(spec)(*inputs)
                    where = f"{spec.name} {dtype} t={t} u={u}"
                    self.close(ours, theirs, tolerance, where)
                    cotangent = torch.randn_like(ours)
                    gradients = zip(torch.autograd.grad(ours, inputs, cotangent), torch.autograd.grad(theirs, inputs, cotangent))
                    for i, (a, b) in enumerate(gradients):
                        self.close(a, b, tolerance, f"{where} gradient {i}")

    def test_bf16_by_autocast(self):
        for spec in self.each():
            inputs = make(spec, torch.float32, t=33, u=33)
            rounded = [x if x.dim() < 3 else x.detach().bfloat16().float().requires_grad_() for x in inputs]
            theirs = eager(spec)(*rounded)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                ours = attention(*inputs, spec=spec)
            self.assertEqual(ours.dtype, torch.bfloat16)
            self.close(ours, theirs, 5e-3, spec.name)
            # Cubes of normal numbers reach far; the rounding of dO and of the results is what is left.
            cotangent = torch.randn_like(theirs).bfloat16()
            gradients = zip(torch.autograd.grad(ours, inputs, cotangent), torch.autograd.grad(theirs, rounded, cotangent.float()))
            for i, (a, b) in enumerate(gradients):
                self.assertEqual(a.dtype, torch.float32)
                self.close(a, b, 2e-2, f"{spec.name} gradient {i}")


if __name__ == "__main__":
    unittest.main()
