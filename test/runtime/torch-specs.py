# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Specifications of examples/specs (all of them under ./test.sh --full) through the torch operator, inputs made from the manifest alone: gradcheck in fp64,
# opcheck, and the eager code that taylorc prints, in fp32 and bf16, causal and bidirectional, outputs and gradients.
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s %spec_dir %full
# REQUIRES: torch, taylorc
# UNSUPPORTED: sanitizer
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch
from torch.library import opcheck

from taylor_operator import attention

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Inputs"))
from specifications import select

FOLDER = pathlib.Path(sys.argv[1])
FULL = sys.argv[2]
SPECS = select(sys.argv.pop(1), sys.argv.pop(1))
# For what depends on the arguments of a specification alone: one with learned weights, one with a gate of every kind of axes.
FEW = [spec for spec in SPECS if FULL == "1" or spec.stem in ("softmax-count-layernorm", "decay-gates")]
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


def norm(x):
    return x.double().norm().item()


def each_of(specs):
    """The test, once for each of the specifications."""
    def decorate(test):
        def run(self):
            for spec in specs:
                with self.subTest(spec.name):
                    test(self, spec)
        return run
    return decorate


every, few = each_of(SPECS), each_of(FEW)


class Specs(unittest.TestCase):
    @every
    def test_gradcheck(self, spec):
        if "stop(" in spec.read_text(encoding="utf-8"):
            return  # its gradient is not the derivative, on purpose
        torch.autograd.gradcheck(lambda *x: attention(*x, spec=spec), make(spec, torch.float64, b=1, h=2, g=1, t=3, u=4))

    @few
    def test_opcheck(self, spec):
        result = opcheck(torch.ops.taylor.attention, (make(spec, torch.float32), str(spec), "", None))
        self.assertEqual(set(result.values()), {"SUCCESS"}, result)

    @every
    def test_equals_eager(self, spec):
        """In fp64 alike; in fp32 at most twice as far from that as eager fp32 code is."""
        plain = eager(spec)
        for t, u in ((5, 5), (1, 7), (67, 130)):
            single = make(spec, torch.float32, t=t, u=u)
            double = [x.detach().double().requires_grad_() for x in single]
            exact = plain(*double)
            cotangent = torch.randn(exact.shape)

            def results(o, inputs):
                return [o, *torch.autograd.grad(o, inputs, cotangent.to(o.dtype))]

            exact = results(exact, double)
            ours = results(attention(*double, spec=spec), double)
            ours_single = results(attention(*single, spec=spec), single)
            eager_single = results(plain(*single), single)
            for i, ref in enumerate(exact):
                where = f"t={t} u={u} result {i}"
                self.assertLess(norm(ours[i] - ref), 1e-11 * norm(ref) + 1e-13, where)
                allowed = max(2 * norm(eager_single[i] - ref), 2e-6 * norm(ref), 2e-6)
                self.assertLess(norm(ours_single[i] - ref), allowed, where)

    def test_coefficients_of_zero(self):
        """At the ends of a series they are left out, here all of those that read the score: a NaN in a query reaches nothing."""
        spec = pathlib.Path(__file__).resolve().parents[1] / "endtoend/Inputs/zero-coefficients.mlir"
        inputs = make(spec, torch.float64, grad=False)
        spoiled = [inputs[0].clone(), *inputs[1:]]
        spoiled[0][:, :, 2] = torch.nan
        expected = eager(spec)(*inputs)
        self.assertTrue(expected.isfinite().all())
        for function in (eager(spec), lambda *x: attention(*x, spec=spec)):
            torch.testing.assert_close(function(*spoiled), expected, rtol=1e-12, atol=1e-12)

    @every
    def test_same_bits(self, spec):
        """Whatever the number of threads, the layout, the memory around the arrays, and the gradients that are asked for."""
        inputs = make(spec, torch.float32, t=67, u=130)
        cotangent = torch.randn(2, 4, 67, 8)

        def results(inputs):
            o = attention(*inputs, spec=spec)
            return [o, *torch.autograd.grad(o, inputs, cotangent)]

        def by_tokens(x):  # [b, t, h, d] in memory
            return x.detach().transpose(1, 2).contiguous().transpose(1, 2) if x.dim() == 4 else x.detach()

        def among_nans(x):  # rows and heads of a larger array of NaN
            around = torch.full([n + 3 if i + 1 < x.dim() or x.dim() == 3 else n for i, n in enumerate(x.shape)], torch.nan)
            place = around[tuple(slice(1, n + 1) if m > n else slice(None) for n, m in zip(x.shape, around.shape))]
            return place.copy_(x.detach())

        expected = results(inputs)
        for change in (by_tokens, among_nans):
            for a, b in zip(results([change(x).requires_grad_() for x in inputs]), expected):
                self.assertTrue(torch.equal(a, b), change.__name__)
        before = torch.get_num_threads()
        for threads in (1, 3, 8):
            torch.set_num_threads(threads)
            for a, b in zip(results(inputs), expected):
                self.assertTrue(torch.equal(a, b), f"{threads} threads")
        torch.set_num_threads(before)
        for i in range(len(inputs)):
            alone = [x.detach().requires_grad_(i == j) for j, x in enumerate(inputs)]
            o = attention(*alone, spec=spec)
            self.assertTrue(torch.equal(torch.autograd.grad(o, alone[i], cotangent)[0], expected[i + 1]), f"gradient {i} alone")

    @few
    def test_bf16_by_autocast(self, spec):
        inputs = make(spec, torch.float32, t=33, u=33)
        rounded = [x if x.dim() < 3 else x.detach().bfloat16().float().requires_grad_() for x in inputs]
        theirs = eager(spec)(*rounded)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            ours = attention(*inputs, spec=spec)
        self.assertEqual(ours.dtype, torch.bfloat16)
        self.assertLess(norm(ours - theirs), 5e-3 * norm(theirs))
        cotangent = torch.randn(theirs.shape).bfloat16()
        gradients = zip(torch.autograd.grad(ours, inputs, cotangent), torch.autograd.grad(theirs, rounded, cotangent.float()))
        for i, (a, b) in enumerate(gradients):
            self.assertEqual(a.dtype, torch.float32)
            # Rounded to bf16 where they are results, and wherever else 16-bit kernels round; a sum over all tokens may cancel to nearly 0.
            self.assertLess(norm(a - b), 4e-2 * norm(b) + 1e-4, f"gradient {i}")

    def test_a_backward_is_its_forwards(self):
        """The specification's file becomes one that fits as well, between forward and backward: gradients are the forward's."""
        text = (FOLDER / "softmax.mlir").read_text(encoding="utf-8")
        self.assertEqual((text.count("exponential causal"), text.count("%n / %z")), (1, 1), text)
        others = (text.replace("exponential causal", "exponential score(0.5 * s) causal"), text.replace("%n / %z", "%n / (%z + 1.0)"))
        inputs = make(FOLDER / "softmax.mlir", torch.float32, t=33, u=33)
        expected = torch.autograd.grad(attention(*inputs, spec=text).square().sum(), inputs)
        with tempfile.TemporaryDirectory() as folder:
            spec = pathlib.Path(folder) / "spec.mlir"
            for other in others:
                spec.write_text(text, encoding="utf-8")
                o = attention(*inputs, spec=spec)
                spec.write_text(other, encoding="utf-8")
                new = attention(*inputs, spec=spec)
                self.assertGreater(norm(new - o), 1e-3 * norm(o))
                for a, b in zip(torch.autograd.grad(o.square().sum(), inputs), expected):
                    self.assertTrue(torch.equal(a, b))

    def test_large_results(self):
        """The memory of 32 MiB and more is kept for the next when nothing reads it any more."""
        x = torch.randn(1, 1, 131072, 64)

        def call(x):
            return attention(x, x, x, spec=FOLDER / "linear-relu.mlir")

        first = call(x)
        expected, place = first.clone(), first.data_ptr()
        other = call(2 * x)
        self.assertTrue(torch.equal(first, expected))
        view = first[0, 0, 5:7]
        del first
        again = call(x)  # the view still reads the first
        self.assertNotIn(again.data_ptr(), (place, other.data_ptr()))
        self.assertTrue(torch.equal(view, expected[0, 0, 5:7]) and torch.equal(again, expected))
        del view
        reused = call(x)
        self.assertEqual(reused.data_ptr(), place)
        self.assertTrue(torch.equal(reused, expected))
        # Otherwise they are tensors as any other.
        self.assertTrue(torch.equal(copy.deepcopy(reused), expected))
        self.assertTrue(torch.equal(reused.share_memory_(), expected))
        again.resize_(2, 1, 131072, 64)
        self.assertTrue(torch.equal(again[0], expected[0]))


if __name__ == "__main__":
    unittest.main()
