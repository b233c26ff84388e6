# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A sequence in pieces, each with the final states of the one before, is the whole sequence: outputs and the gradients of every input, through the states,
# in both forms. The whole is compiled without states, so both sides have little in common.
# SHARDS: 3
# RUN: env TAYLOR_SHARD=%shard TAYLOR_FULL=%full TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s
# REQUIRES: torch, taylorc
# UNSUPPORTED: sanitizer
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch

import taylor_operator  # loads the operator
from Inputs.carried import ARRAYS, AVERAGED, DECAYED, GATES, GROWING, MIXED, ORDERS, RECALLED, RETENTION, SERIES, channels

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Inputs"))
from shards import divided, main, mine

FULL = os.environ["TAYLOR_FULL"] == "1"

SPECS = {
    "series": SERIES,
    "gates": GATES,
    "retention": RETENTION,
    "decayed": DECAYED,
    "growing": GROWING,
    "mixed": MIXED,
    "averaged": AVERAGED,
    "recalled": RECALLED,
    "orders": ORDERS,
    # Rotations at the tokens' places in the whole sequence.
    "turned": """
taylor.spec @turned(%q: !q, %k: !k, %v: !v) {
  %rq = taylor.rope %q : !q
  %rk = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %rq, %rk, %v orders(0 to 2) scale(rsqrt(size(d))) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}""",
}


def describe(path, *options):
    text = subprocess.run([os.environ["TAYLORC"], path, "--emit=manifest", *(o for o in options if not o.startswith("--device"))],
                          capture_output=True, text=True, check=True).stdout
    return json.loads(text)


def call(path, inputs, options=""):
    """All outputs."""
    return torch.ops.taylor.attention(inputs, str(path), options, None)


class States(unittest.TestCase):
    def check(self, name, form, cuts, size=300, documents=False, dtype=torch.float64, width=8, batch=2, heads=4):
        path = pathlib.Path(self.folder.name) / f"{name}.mlir"
        text = SPECS[name]
        path.write_text(text if text.startswith("//") else ARRAYS + text)
        form += " --documents" if documents else ""
        manifest = describe(str(path), "--states", *channels(SPECS[name], width), *form.split())
        sizes = {"b": batch, "h": heads, "g": heads // 2, "t": size, "u": size, **manifest["sizes"]}
        generator = torch.Generator().manual_seed(3)
        inputs, carried, tokens = [], [], []
        for array in manifest["tensors"]["inputs"]:
            shape = [sizes[axis] for axis in array["axes"]]
            if array["name"].startswith("initial."):
                self.assertTrue(array["optional"])
                carried.append(torch.zeros(shape, dtype=dtype))
                continue
            if array["name"] == "documents":  # of one token to forty
                begins = torch.rand(shape, generator=generator) < torch.linspace(0.5, 0.0, shape[1])
                inputs.append((3 * begins.cumsum(1)).to(torch.int32))
                tokens.append(1)
                continue
            real = torch.float32 if array["source"]["kind"] == "parameter" else dtype
            inputs.append(torch.randn(shape, generator=generator, dtype=torch.float64).to(real).requires_grad_())
            tokens.append(next((i for i, axis in enumerate(array["axes"]) if axis in "tu"), None))
        finals = [array["name"] for array in manifest["tensors"]["outputs"]][1:]
        self.assertEqual([n.replace("final.", "initial.") for n in finals], [a["name"] for a in manifest["tensors"]["inputs"][len(inputs):]])

        real = [x for x in inputs if x.is_floating_point()]
        packed = "--documents" if documents else ""
        (whole,) = call(path, inputs, "--device=ptx --target=sm_80" if "ptx" in form else f"--form=parallel {packed}")
        cotangent = torch.randn(whole.shape, generator=generator, dtype=torch.float64).to(dtype)
        expected = torch.autograd.grad(whole, real, cotangent)

        def run(states, bounds):
            outputs = []
            for begin, end in zip(bounds, bounds[1:]):
                piece = [x if axis is None else x.narrow(axis, begin, end - begin) for x, axis in zip(inputs, tokens)]
                o, *states = call(path, [*piece, *states], "--states" + form)
                outputs.append(o)
            return torch.cat(outputs, dim=2), states

        begun = [state.clone().requires_grad_() for state in carried]
        bounds = [0, *cuts, size]
        pieces, _ = run(begun, bounds)
        gradients = torch.autograd.grad(pieces, [*real, *begun], cotangent)
        self.assertLess(((pieces - whole).norm() / whole.norm()).item(), 1e-12 if dtype == torch.float64 else 1e-5)
        self.assertTrue(all(g.isfinite().all() for g in gradients))
        for want, got, x in zip(expected, gradients, real):
            bound = 1e-11 if x.dtype == torch.float64 else 2e-5
            self.assertLess(((got - want).norm() / want.norm()).item(), bound)
        if dtype != torch.float64:
            return
        # The gradient of the states between two pieces, by differences; edges, maxima and (of a rotation) the position are constants to the derivative.
        with torch.no_grad():
            _, between = run(carried, bounds[:2])
        between = [state.detach().requires_grad_() for state in between]
        rest = cotangent.narrow(2, cuts[0], size - cuts[0])
        gradients = torch.autograd.grad(run(between, bounds[1:])[0], between, rest)
        for i, (state, name) in enumerate(zip(between, finals)):
            if name == "final.position":
                continue
            if name.startswith(("final.edge", "final.maximum")):
                self.assertEqual(gradients[i].abs().max().item(), 0)
                continue
            direction = torch.randn(state.shape, generator=generator, dtype=torch.float64)
            with torch.no_grad():
                moved = [(run([s + step * direction if j == i else s for j, s in enumerate(between)], bounds[1:])[0] * rest).sum().item() for step in (1e-4, -1e-4)]
            measured = (moved[0] - moved[1]) / 2e-4
            self.assertAlmostEqual(measured, (gradients[i] * direction).sum().item(), delta=2e-5 * (1 + abs(measured)))

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    @divided
    def test_parallel(self):
        for name in mine(SPECS if FULL else ("growing", "mixed", "averaged", "turned")):
            with self.subTest(name):
                self.check(name, " --form=parallel", [100, 101, 103])

    @divided
    def test_chunked(self):
        others = ("growing", "retention", "recalled")  # as decayed, and series
        for name in mine(name for name in SPECS if FULL or name not in others):
            with self.subTest(name):
                self.check(name, " --form=chunked --chunk=64", [1, 37, 128])

    def test_left_out(self):
        """A first piece takes no states: the call begins with zeros, and is differentiable."""
        path = pathlib.Path(self.folder.name) / "series.mlir"
        path.write_text(ARRAYS + SERIES)
        generator = torch.Generator().manual_seed(4)
        q, k, v = (torch.randn(1, heads, 100, width, generator=generator, dtype=torch.float64, requires_grad=True) for heads, width in ((4, 8), (2, 8), (2, 16)))
        for options in ("--states --form=parallel", "--states --form=chunked --chunk=64"):
            with self.subTest(options):
                begun = call(path, [q, k, v], options)
                zeros = [torch.zeros_like(state) for state in begun[1:]]
                given = call(path, [q, k, v, *zeros], options)
                self.assertEqual(len(begun), len(given))
                for left, right in zip(begun, given):
                    self.assertTrue(torch.equal(left, right))
                for left, right in zip(*(torch.autograd.grad(o.square().sum(), (q, k, v)) for o in (begun[0], given[0]))):
                    self.assertTrue(torch.equal(left, right))
                with torch.inference_mode():
                    self.assertTrue(torch.equal(call(path, [q, k, v], options)[0], begun[0]))
        with self.assertRaisesRegex(RuntimeError, r"expected 3 to \d+ inputs \(q, k, v, initial.*but got 2"):
            call(path, [q, k], "--states")

    def test_learned(self):
        """Where learned arrays alone have channels, the states that a call leaves out are not asked for their sizes."""
        path = pathlib.Path(self.folder.name) / "learned.mlir"
        path.write_text(ARRAYS + """
!query = !taylor.array<[h, d]>
!key = !taylor.array<[g, d]>
!value = !taylor.array<[g, e]>
taylor.spec @learned(%a: !row from projection, %c: !column from projection, %x: !query from parameter(ones), %y: !key from parameter(ones), %z: !value from parameter(ones)) {
  %q = taylor.map %a * %x : !row, !query
  %k = taylor.map %c * %y : !column, !key
  %v = taylor.map %c * %z : !column, !value
  %n = taylor.recurrences %q, %k, %v orders(1 to 2) scale(rsqrt(size(d))) causal : !q, !k, !v
  taylor.yield %n : !o
}""")
        generator = torch.Generator().manual_seed(6)
        inputs = [torch.randn(shape, generator=generator) for shape in ((1, 4, 20), (1, 2, 20), (4, 64), (2, 64), (2, 64))]
        whole, begun = call(path, inputs, "--form=parallel"), call(path, inputs, "--states --form=parallel")
        self.assertLess(((begun[0] - whole[0]).norm() / whole[0].norm()).item(), 1e-5)
        again = call(path, [*inputs, *(torch.zeros_like(state) for state in begun[1:])], "--states --form=parallel")
        for left, right in zip(begun, again):
            self.assertTrue(torch.equal(left, right))

    def test_meta(self):
        """Tensors without data may stand for those of a GPU, whose states have more rows: what comes out is as large as what goes in."""
        path = pathlib.Path(self.folder.name) / "series.mlir"
        path.write_text(ARRAYS + SERIES)
        inputs = [torch.empty(shape, device="meta") for shape in ((1, 4, 9, 16), (1, 2, 9, 16), (1, 2, 9, 16), (1, 2, 216, 16), (1, 2, 216), (1,))]
        o, *behind = call(path, inputs, "--states")
        self.assertEqual(o.shape, inputs[0].shape)
        self.assertEqual([state.shape for state in behind], [state.shape for state in inputs[3:]])

    def test_autocast(self):
        """Inputs become bf16; states stay what they are, and are taken again."""
        path = pathlib.Path(self.folder.name) / "series.mlir"
        path.write_text(ARRAYS + SERIES)
        q, k, v = (torch.randn(1, heads, 40, 16) for heads in (4, 2, 2))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            whole = call(path, [q, k, v], "--states --form=parallel")
            states, outputs = [], []
            for begin in (0, 25):
                o, *states = call(path, [*(x[:, :, begin:begin + (25 if begin == 0 else 15)] for x in (q, k, v)), *states], "--states --form=parallel")
                outputs.append(o)
        self.assertEqual(outputs[0].dtype, torch.bfloat16)
        self.assertTrue(all(state.dtype == torch.float32 for state in states))
        whole, pieces = whole[0].double(), torch.cat(outputs, dim=2).double()
        self.assertLess(((pieces - whole).norm() / whole.norm()).item(), 1e-2)

    @divided
    def test_documents(self):
        cases = [("decayed", "chunked --chunk=64"), ("mixed", "parallel")]
        for name, form in mine([*cases, *([("gates", "chunked --chunk=64"), ("series", "parallel"), ("retention", "parallel")] if FULL else [])]):
            with self.subTest(name):
                self.check(name, f" --form={form}", [1, 2, 40, 170], documents=True)

    def test_described(self):
        # Without data, or traced: a GPU's states have features in whole blocks.
        path = pathlib.Path(self.folder.name) / "series.mlir"
        path.write_text(ARRAYS + SPECS["series"])
        for options in ("", " --target=sm_80", " --device=ptx"):
            target = options if "target" in options else " --target=sm_80" if "ptx" in options else ""
            manifest = describe(str(path), "--states", "--head-dim=16", *target.split())
            sizes = {"b": 1, "h": 2, "g": 2, "t": 3, "u": 3, **manifest["sizes"]}
            inputs = [torch.empty([sizes[axis] for axis in array["axes"]], device="meta") for array in manifest["tensors"]["inputs"]]
            expected = [[sizes[axis] for axis in array["axes"]] for array in manifest["tensors"]["outputs"]]
            self.assertEqual([list(o.shape) for o in call(path, inputs, "--states" + options)], expected)

    def test_gpu(self):
        for name, form in (("series", "chunked --chunk=64"), *([("mixed", "parallel"), ("gates", "parallel")] if FULL else [])):
            with self.subTest(name):
                self.check(name, f" --device=ptx --target=sm_80 --form={form}", [40], size=80, dtype=torch.float32, width=16, batch=1, heads=2)


if __name__ == "__main__":
    main()
