# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The torch operator on code for a GPU (artifact-fixture/, compiled to PTX), in the interpreter: the processor's results, alignment, errors.
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%S/artifact-fixture/fixture.py CC=%cc TAYLOR_CUDA_DRIVER=libno-such-driver.so %python %s
# REQUIRES: torch
# UNSUPPORTED: sanitizer
import os
import pathlib
import unittest

import torch

from taylor_operator import attention

FOLDER = pathlib.Path(__file__).parent / "artifact-fixture"
PLAIN, GATED = str(FOLDER / "plain.mlir"), str(FOLDER / "gated.mlir")
PTX = "--device=ptx"


def make(dtype=torch.float32, t=5, u=7):
    generator = torch.Generator().manual_seed(0)

    def array(*sizes, dtype=dtype):
        return torch.randn(*sizes, generator=generator).to(dtype).requires_grad_()

    return [array(2, 4, t, 8), array(2, 2, u, 8), array(2, 2, u, 4), array(2, 4, t), array(4, dtype=torch.float32)]


def both(inputs, options="", spec=GATED):
    o = attention(*inputs, spec=spec, options=options)
    return [o, *torch.autograd.grad(o.float().square().sum(), inputs)]


class Device(unittest.TestCase):
    def close(self, ours, theirs, tolerance):
        for a, b in zip(ours, theirs, strict=True):
            self.assertEqual((a.shape, a.dtype, a.stride()), (b.shape, b.dtype, b.stride()))
            self.assertLess(((a.double() - b.double()).norm() / b.double().norm()).item(), tolerance)

    def test_equals_the_processor(self):
        inputs = make()
        self.close(both(inputs, PTX), both(inputs), 1e-5)
        self.close(both(inputs, PTX + " --mask=bidirectional"), both(inputs, "--mask=bidirectional"), 1e-5)

    def test_bf16(self):
        inputs = make(torch.bfloat16)
        self.close(both(inputs, PTX), both(inputs), 1e-2)

    def test_autocast(self):
        inputs = make()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            results = [attention(*inputs, spec=GATED, options=options) for options in (PTX, "")]
        self.assertEqual(results[0].dtype, torch.bfloat16)
        self.close(results[:1], results[1:], 1e-2)

    def test_alignment(self):  # queries and keys are copied where they do not lie as the kernel reads them
        inputs = [x.detach() for x in make()]
        expected = attention(*inputs, spec=GATED, options=PTX)
        memory = torch.empty(inputs[0].numel() + 1)
        shifted = memory[1:].view(inputs[0].shape).copy_(inputs[0])
        self.assertTrue(torch.equal(attention(shifted, *inputs[1:], spec=GATED, options=PTX), expected))
        wide = torch.empty(2, 2, 7, 9)[..., :8].copy_(inputs[1])  # rows at 36 bytes
        self.assertTrue(torch.equal(attention(inputs[0], wide, *inputs[2:], spec=GATED, options=PTX), expected))
        views = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in inputs[:3]]  # taken as they are
        self.assertTrue(torch.equal(attention(*views, *inputs[3:], spec=GATED, options=PTX), expected))

    def test_compile(self):
        inputs = make()
        traced = torch.compile(lambda *x: attention(*x, spec=GATED, options=PTX), backend="aot_eager", fullgraph=True)(*inputs)
        plain = attention(*inputs, spec=GATED, options=PTX)
        self.assertTrue(torch.equal(plain, traced))
        for a, b in zip(*(torch.autograd.grad(o.square().sum(), inputs) for o in (plain, traced))):
            self.assertTrue(torch.equal(a, b))

    def test_artifact_for_both(self):
        import subprocess
        import sys
        import tempfile
        inputs = [x.detach() for x in make()[:3]]
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/both.so"
            subprocess.run([sys.executable, "-B", FOLDER / "fixture.py", PLAIN, "-o", path, "--target=native,sm_80", "--head-dim=8",
                            "--value-dim=4"], check=True)
            self.close([attention(*inputs, spec=path, options=PTX)], [attention(*inputs, spec=path)], 1e-5)

    def test_environment(self):
        inputs = [x.detach() for x in make()]
        expected = attention(*inputs, spec=GATED, options=PTX)
        os.environ["TAYLOR_PTX_SEED"] = "3"
        self.assertTrue(torch.equal(attention(*inputs, spec=GATED, options=PTX), expected))
        os.environ["TAYLOR_PTX_SEED"] = "three"
        self.error("expected a number in TAYLOR_PTX_SEED, but got 'three'", *inputs, options=PTX)
        del os.environ["TAYLOR_PTX_SEED"]

    def error(self, message, *inputs, options, spec=GATED):
        with self.assertRaises(RuntimeError) as caught:
            attention(*inputs, spec=spec, options=options)
        self.assertIn("taylor: " + message, str(caught.exception))

    def test_errors(self):
        inputs = make()
        self.error("expected --device=ptx, but got '--device=gpu': processor or GPU follow from where the tensors are", *inputs,
                   options="--device=gpu")
        artifact = pathlib.Path(torch.ops.loaded_libraries.copy().pop()).parents[1] / "test/runtime/fixtures/plain.so"
        self.error(f"expected code for a GPU in '{artifact}', but got code for native: compile with --target=sm_80 or another GPU's name",
                   *inputs[:3], spec=str(artifact), options=PTX)


if __name__ == "__main__":
    unittest.main()
